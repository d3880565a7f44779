package secrets

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// IndexFile is the name, inside the configuration directory, of the file that
// maps secret names to keyring items. It changes with every stored or removed
// secret, so watching it tells that a missing secret has arrived.
const IndexFile = "secrets.json"

const (
	indexVersion  = 1
	maxIndexBytes = 4 << 20
	lockPatience  = 5 * time.Second
	lockRetry     = 20 * time.Millisecond
)

// An index is the content of the index file. It holds names and ids only.
type index struct {
	Version int              `json:"version"`
	Secrets map[string]entry `json:"secrets"`
	// Leftovers are keyring items that no secret needs: written for a value
	// that was never switched to, or replaced by one that was. They are
	// listed before they come to be, so an interrupted write leaves no
	// value behind in the keyring for good.
	Leftovers []string `json:"leftovers,omitempty"`
}

// An entry says where one secret's value is. The id stays the same as long as
// the secret exists (K2). Each write gets an id of its own besides, so that it
// is whole before anything refers to it.
type entry struct {
	ID    string `json:"id"`
	Write string `json:"write"`
	Parts int    `json:"parts"`
}

func newEntry() entry { return entry{ID: rand.Text()} }

// next returns an entry for the value that will replace e's.
func (e entry) next(parts int) entry {
	return entry{ID: e.ID, Write: rand.Text(), Parts: parts}
}

// accounts returns the keyring accounts that hold e's value, in order.
func (e entry) accounts() []string {
	accounts := make([]string, e.Parts)
	for i := range accounts {
		accounts[i] = fmt.Sprintf("%s.%s.%d", e.ID, e.Write, i)
	}
	return accounts
}

func (e entry) valid() bool {
	return validID(e.ID) && validID(e.Write) && 0 < e.Parts && e.Parts <= maxParts
}

// validID refuses what an account must not be: on macOS it is an argument of a
// command.
func validID(id string) bool { return ValidName(id) && id[0] != '-' }

// An indexFile reads and replaces the index kept in one directory.
type indexFile struct{ dir string }

func (f indexFile) path() string { return filepath.Join(f.dir, IndexFile) }

// load returns the index, which is empty when there is no file.
func (f indexFile) load() (index, error) {
	empty := index{Version: indexVersion, Secrets: map[string]entry{}}
	file, err := os.Open(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return empty, f.broken("cannot be read: "+foreign(err), err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxIndexBytes+1))
	if err != nil {
		return empty, f.broken("cannot be read: "+foreign(err), err)
	}
	if len(data) > maxIndexBytes {
		return empty, f.broken("is too long", nil)
	}
	idx := empty
	if err := json.Unmarshal(data, &idx); err != nil {
		return empty, f.broken("is damaged", err)
	}
	if idx.Version != indexVersion {
		return empty, f.broken("was written by a newer version", nil)
	}
	for name, e := range idx.Secrets {
		if !ValidName(name) || !e.valid() {
			return empty, f.broken("is damaged", nil)
		}
	}
	for _, account := range idx.Leftovers {
		if !validID(account) {
			return empty, f.broken("is damaged", nil)
		}
	}
	if idx.Secrets == nil {
		idx.Secrets = empty.Secrets
	}
	return idx, nil
}

func (f indexFile) broken(what string, cause error) error {
	return &Error{
		Reason: "the list of secret names (" + f.path() + ") " + what,
		Action: "move that file away and store the secrets again",
		cause:  cause,
	}
}

// save replaces the file at once: a reader, and a crash, see the old index or
// the new one. The caller holds the lock.
func (f indexFile) save(idx index) error {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetIndent("", "  ")
	if err := enc.Encode(idx); err != nil {
		return f.unwritable(err)
	}
	// CreateTemp makes the file readable by its owner only.
	tmp, err := os.CreateTemp(f.dir, IndexFile+".*.tmp")
	if err != nil {
		return f.unwritable(err)
	}
	_, err = tmp.Write(data.Bytes())
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), f.path())
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return f.unwritable(err)
	}
	return nil
}

func (f indexFile) unwritable(err error) error {
	return &Error{
		Reason: "the list of secret names cannot be written: " + foreign(err),
		Action: "make " + f.dir + " writable",
		cause:  err,
	}
}

// lock keeps other processes from changing the index until unlock is called.
// Readers need no lock.
func (f indexFile) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, f.unwritable(err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	l := flock.New(f.path()+".lock", flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, lockRetry); err != nil {
		if ctx.Err() != nil {
			return nil, &Error{
				Reason: "another Drawbridge process is storing a secret",
				Action: "try again in a moment",
				cause:  err,
			}
		}
		return nil, f.unwritable(err)
	}
	return func() { _ = l.Close() }, nil
}
