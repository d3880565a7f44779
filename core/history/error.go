package history

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The errors of a history; all else is of the caller's context.
var (
	// ErrFull says that there is no room on the disk. What could not be written is
	// lost to the history, and counted.
	ErrFull = errors.New("no room on the disk for the history")
	// ErrBroken says that the file could not be understood. It was set aside, and a
	// new one begun.
	ErrBroken = errors.New("the history file is broken and was set aside")
	// ErrUnavailable says that the file can be neither read nor written now. Opening
	// it is tried again from time to time.
	ErrUnavailable = errors.New("the history file is not available")
	// ErrClosed says that the history was closed.
	ErrClosed = errors.New("the history is closed")
)

// classify gives a database's error one of the errors of this package. The words of
// SQLite stay with it: they name neither rows nor values.
func classify(doing string, err error) error {
	if err == nil {
		return nil
	}
	kind := ErrUnavailable
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_FULL:
			kind = ErrFull
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			kind = ErrBroken
		}
	} else if errors.Is(err, errForeign) {
		kind = ErrBroken
	}
	return fmt.Errorf("%w (%s: %w)", kind, doing, err)
}
