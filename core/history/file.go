package history

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	_ "modernc.org/sqlite" // registers the driver
)

// format is the version of the schema, as the file's user_version.
const format = 1

// errForeign says that the file is a database of something else, or of a later
// Drawbridge.
var errForeign = errors.New("its format is not known")

// schema is of the one table, and of the index for texts in it. Every index ends in
// the row's id.
const schema = `
CREATE TABLE calls (
	id INTEGER PRIMARY KEY,
	at INTEGER NOT NULL, -- microseconds of Unix time
	client TEXT NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL,
	decision TEXT NOT NULL, decider TEXT NOT NULL,
	duration INTEGER NOT NULL, -- microseconds
	outcome TEXT NOT NULL,
	argument_bytes INTEGER NOT NULL, result_bytes INTEGER NOT NULL,
	digest BLOB NOT NULL,
	arguments TEXT NOT NULL, result TEXT NOT NULL
);
CREATE INDEX calls_client ON calls (client);
CREATE INDEX calls_server_tool ON calls (server, tool);
CREATE INDEX calls_server ON calls (server);
CREATE INDEX calls_tool ON calls (tool);
CREATE INDEX calls_outcome ON calls (outcome);
CREATE VIRTUAL TABLE texts USING fts5 (
	client, server, tool, decider, arguments, result,
	content = 'calls', content_rowid = 'id', tokenize = 'trigram'
);
CREATE TRIGGER calls_added AFTER INSERT ON calls BEGIN
	INSERT INTO texts (rowid, client, server, tool, decider, arguments, result)
	VALUES (new.id, new.client, new.server, new.tool, new.decider, new.arguments, new.result);
END;
CREATE TRIGGER calls_removed AFTER DELETE ON calls BEGIN
	INSERT INTO texts (texts, rowid, client, server, tool, decider, arguments, result)
	VALUES ('delete', old.id, old.client, old.server, old.tool, old.decider, old.arguments, old.result);
END;
CREATE TABLE digest_key (key BLOB NOT NULL);
`

// file is an open database: one connection to write, some to read.
type file struct {
	write, read *sql.DB
	key         []byte // of digests
}

// openFile opens or makes the file, readable by the person alone. maxPages bounds
// its size, 0 for no bound.
func openFile(path string, maxPages int) (*file, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	created, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := created.Close(); err != nil {
		return nil, err
	}
	pragmas := []string{"busy_timeout(5000)", "auto_vacuum(incremental)", "journal_mode(wal)", "synchronous(normal)"}
	if maxPages > 0 {
		pragmas = append(pragmas, "max_page_count("+strconv.Itoa(maxPages)+")")
	}
	f := new(file)
	f.write, err = connect(path, 1, pragmas...)
	if err == nil {
		err = f.prepare()
	}
	if err == nil {
		f.read, err = connect(path, 4, "busy_timeout(5000)", "query_only(on)")
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func connect(path string, connections int, pragmas ...string) (*sql.DB, error) {
	slashed, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if slashed = filepath.ToSlash(slashed); !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter
	}
	name := url.URL{Scheme: "file", Path: slashed, RawQuery: url.Values{"_pragma": pragmas}.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// prepare makes the schema of a new file and reads the key.
func (f *file) prepare() error {
	var version, tables int
	if err := f.write.QueryRow(`PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	if err := f.write.QueryRow(`SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil {
		return err
	}
	switch {
	case version == 0 && tables == 0:
		if err := f.create(); err != nil {
			return err
		}
	case version != format:
		return errForeign
	}
	err := f.write.QueryRow(`SELECT key FROM digest_key`).Scan(&f.key)
	if errors.Is(err, sql.ErrNoRows) {
		return errForeign
	}
	return err
}

func (f *file) create() error {
	tx, err := f.write.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if _, err := tx.Exec(schema); err != nil {
		return err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: the program ends instead
	if _, err := tx.Exec(`INSERT INTO digest_key VALUES (?)`, key); err != nil {
		return err
	}
	if _, err := tx.Exec(fmt.Sprintf(`PRAGMA user_version = %d`, format)); err != nil {
		return err
	}
	return tx.Commit()
}

// close lets go of the file; an error of it would say nothing about what was
// committed.
func (f *file) close() {
	if f == nil {
		return
	}
	for _, db := range []*sql.DB{f.read, f.write} {
		if db != nil {
			_ = db.Close()
		}
	}
}

// setAside renames the file, and drops what SQLite keeps beside it: that belongs to
// no other file.
func setAside(path string) error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(path, path+".broken")
}
