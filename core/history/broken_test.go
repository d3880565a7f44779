package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// damage overwrites the file from a place on.
func damage(t *testing.T, path string, from int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("\xff", int(info.Size()-from))), from); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// newAfter checks that the log is a new one which works, and that the old file is
// there under its other name.
func newAfter(t *testing.T, l *Log, path string, entries int) {
	t.Helper()
	if got := all(t, l, Filter{}); len(got) != entries {
		t.Errorf("%d entries", len(got))
	}
	record(t, l, call(9))
	if got := all(t, l, Filter{}); len(got) != entries+1 || l.Dropped() != 0 {
		t.Errorf("%d entries after one more", len(got))
	}
	if _, err := os.Stat(path + ".broken"); err != nil {
		t.Error(err)
	}
}

func TestBrokenFileIsSetAside(t *testing.T) {
	path := place(t)
	l := open(t, path, Options{})
	record(t, l, call(0))
	l.Close()
	damage(t, path, 0)
	l, err := Open(path, Options{})
	if !errors.Is(err, ErrBroken) {
		t.Fatal(err)
	}
	defer l.Close()
	newAfter(t, l, path, 0)
}

// A file of something else, or of a later Drawbridge, is not written to.
func TestForeignFileIsSetAside(t *testing.T) {
	path := place(t)
	l := open(t, path, Options{})
	if _, err := l.file.write.Exec(`PRAGMA user_version = 99`); err != nil {
		t.Fatal(err)
	}
	l.Close()
	l, err := Open(path, Options{})
	if !errors.Is(err, ErrBroken) {
		t.Fatal(err)
	}
	defer l.Close()
	newAfter(t, l, path, 0)
}

// What finds the file broken while it is written goes into the new one.
func TestFileBreaksWhileItIsWritten(t *testing.T) {
	path := place(t)
	l := open(t, path, Options{})
	record(t, l, call(0))
	l.Close()
	var told []error
	hold := make(chan struct{})
	l = open(t, path, Options{hold: hold, OnError: func(err error) { told = append(told, err) }})
	l.Record(call(1))
	damage(t, path, 4096) // the schema stays
	close(hold)
	flush(t, l)
	newAfter(t, l, path, 1)
	l.Close()
	if len(told) == 0 || !errors.Is(told[0], ErrBroken) {
		t.Errorf("told %v", told)
	}
}

// What finds it broken while it is read has it replaced, too.
func TestFileBreaksWhileItIsRead(t *testing.T) {
	path := place(t)
	l := open(t, path, Options{})
	record(t, l, call(0))
	l.Close()
	told := make(chan error, 8)
	hold := make(chan struct{})
	l = open(t, path, Options{hold: hold, OnError: func(err error) { told <- err }})
	damage(t, path, 4096)
	if _, err := l.Page(context.Background(), Filter{}, 0, 1); !errors.Is(err, ErrBroken) {
		t.Fatal(err)
	}
	close(hold)
	if err := <-told; !errors.Is(err, ErrBroken) {
		t.Error(err)
	}
	newAfter(t, l, path, 0)
}

// A full disk is said once, costs the entries that find it full and nothing else,
// and the file stays.
func TestFullDisk(t *testing.T) {
	path := place(t)
	var told []error
	l := open(t, path, Options{maxPages: 60, OnError: func(err error) { told = append(told, err) }})
	l.KeepTexts(true)
	large := func(c *Call) { c.Result = []byte(strings.Repeat("0123456789", MaxText/10)) }
	kept := 0
	for n := 0; l.Dropped() < 3; n++ {
		record(t, l, call(n, large))
		kept = n - 2
	}
	if got := len(all(t, l, Filter{})); got != kept || kept == 0 {
		t.Errorf("%d of %d entries", got, kept)
	}
	if len(told) != 1 || !errors.Is(told[0], ErrFull) {
		t.Errorf("told %v", told)
	}
	if _, err := l.file.write.Exec(`PRAGMA max_page_count = 100000`); err != nil {
		t.Fatal(err)
	}
	record(t, l, call(0, large))
	if got := len(all(t, l, Filter{})); got != kept+1 || len(told) != 2 || told[1] != nil {
		t.Errorf("%d entries after there was room, told %v", got, told)
	}
	if _, err := os.Stat(path + ".broken"); err == nil {
		t.Error("the file was set aside")
	}
}

// A file that cannot be opened costs the history only.
func TestUnavailableFile(t *testing.T) {
	folder := t.TempDir()
	blocked := filepath.Join(folder, "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(filepath.Join(blocked, "history.db"), Options{})
	if !errors.Is(err, ErrUnavailable) {
		t.Fatal(err)
	}
	defer l.Close()
	record(t, l, call(0))
	if l.Dropped() != 1 {
		t.Errorf("dropped %d", l.Dropped())
	}
	if _, err := l.Page(context.Background(), Filter{}, 0, 1); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
}
