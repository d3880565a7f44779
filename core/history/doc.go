// Package history keeps what happened: one row for every call that a client made,
// with who decided about it and how it ended.
//
// # What is kept
//
// Names, times, sizes and a digest of the arguments, for [Keep]. Arguments and
// results themselves are kept only if the person turned that on, and bounded. All
// text is masked before it is written, and again when it is read: a value may have
// become a known secret in between (K4).
//
// # Writing
//
// [Log.Record] never waits. It puts the call into a bounded queue that one
// goroutine writes out; what finds the queue full, or cannot be written, is counted
// by [Log.Dropped] and nothing else. The file is a SQLite database in WAL mode:
// what [Log.Flush] saw written survives the end of the process, however it ends.
//
// # When the file fails
//
// The errors are [ErrFull], [ErrBroken] and [ErrUnavailable]. A broken file is set
// aside under the same name with ".broken" behind it, and a new one begun. Setting a
// file aside makes no room, so a full disk leaves it where it is; writing goes on
// when there is room again. No call ever fails for its history.
//
// # Reading
//
// Rows are numbered by the moment at which the call ended, in microseconds of Unix
// time, made unique. Pages, filters on time and what is deleted are ranges of that
// number, and every index ends in it, so that the cost of a page does not depend on
// how much lies before it.
package history
