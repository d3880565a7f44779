package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// editing lets one edit of this process run at a time.
var editing sync.Mutex

// Edit changes the file at path, which may be missing. base is the Hash of the
// content that the change was decided on; the zero Hash takes the file as it is.
// Mode and symlinks stay; a new file gets mode 0600 and a new directory 0700. The
// file is replaced as a whole or not at all. If the change makes no difference,
// nothing is written.
//
// The errors ErrChanged, ErrBroken, ErrReadOnly and those of the change itself
// say that nothing was written.
func Edit(path string, base Hash, change Change) error {
	editing.Lock()
	defer editing.Unlock()
	_, target := trail(path)
	before, mode, err := current(target)
	if err != nil {
		return err
	}
	if base != (Hash{}) && base != hashOf(before) {
		return ErrChanged
	}
	after, err := change(before)
	if err != nil {
		return err
	}
	if string(after) == string(before) {
		return nil
	}
	return replace(target, before, after, mode)
}

// current returns the content and mode of a file that may be missing.
func current(path string) ([]byte, fs.FileMode, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0o600, nil
	case err != nil:
		return nil, 0, fmt.Errorf("look at the spec file: %w", err)
	case info.Mode().Perm()&0o200 == 0:
		return nil, 0, ErrReadOnly
	}
	text, err := read(path)
	return text, info.Mode().Perm(), err
}

// replace writes the file beside itself and renames it into place, unless it is
// not what it was.
func replace(path string, before, after []byte, mode fs.FileMode) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the configuration directory: %w", err)
	}
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("write the spec file: %w", err)
	}
	defer func() {
		if err != nil {
			temp.Close()
			os.Remove(temp.Name())
		}
	}()
	if err := fill(temp, after, mode); err != nil {
		return fmt.Errorf("write the spec file: %w", err)
	}
	now, _, err := current(path)
	if err != nil {
		return err
	}
	if string(now) != string(before) {
		return ErrChanged
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return fmt.Errorf("write the spec file: %w", err)
	}
	// The new name must survive a power cut too, where directories can be synced.
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
	return nil
}

func fill(f *os.File, text []byte, mode fs.FileMode) error {
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}
