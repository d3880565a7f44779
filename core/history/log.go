package history

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Keep is how long an entry is kept.
const Keep = 90 * 24 * time.Hour

// MaxText is how much of the arguments and of the result is kept, in bytes each.
const MaxText = 64 << 10

const (
	// maxName bounds a name, which may be a foreign one; in bytes.
	maxName = 512
	// queueLength is how many calls may wait to be written.
	queueLength = 512
	// reopenAfter is how long a file that could not be opened is left alone.
	reopenAfter = time.Minute
)

// Options say what is kept and who is told. The zero value keeps no texts and masks
// nothing.
type Options struct {
	// Mask replaces secret values in a text (K4).
	Mask func(string) string
	// OnError is told when writing begins to fail, or to fail in another way; nil
	// says that it works again. It is called by the writing goroutine and must not
	// call the log.
	OnError func(error)

	maxPages int           // of the file, for tests
	hold     chan struct{} // what writing waits for, for tests
}

// Log is a history. Make it with [Open]; it is safe for concurrent use.
type Log struct {
	path    string
	options Options
	keep    atomic.Bool // texts
	dropped atomic.Int64
	work    chan job
	broken  chan *file // found so by a reader
	done    chan struct{}

	closing sync.RWMutex // held for reading to send on work
	closed  bool

	mu   sync.RWMutex // held for reading while the file is read
	file *file        // nil when it is not available
	// key is the file's, so that Record need not wait for readers of the file.
	key atomic.Pointer[[]byte]
}

// job is a call to write, or somebody who waits until all before is written.
type job struct {
	entry   Entry
	digest  []byte
	flushed chan<- struct{}
}

// Open returns the history kept in the file at path, which may be missing. The log
// can be used whatever the error: after [ErrBroken] it is a new one in the same
// place; after any other nothing is kept until the file can be opened, which is
// tried again about once a minute.
func Open(path string, options Options) (*Log, error) {
	if options.Mask == nil {
		options.Mask = func(s string) string { return s }
	}
	if options.OnError == nil {
		options.OnError = func(error) {}
	}
	l := &Log{path: path, options: options, work: make(chan job, queueLength), broken: make(chan *file, 1), done: make(chan struct{})}
	err := l.open()
	go newWriter(l, err).run()
	return l, err
}

// open opens the file, or a new one in the place of a broken one; that is told as
// ErrBroken all the same.
func (l *Log) open() error {
	f, err := openFile(l.path, l.options.maxPages)
	err = classify("opening it", err)
	if errors.Is(err, ErrBroken) {
		f, err = l.startAnew(err)
	}
	l.use(f)
	return err
}

// use changes the file, once nobody reads the one before any more.
func (l *Log) use(f *file) {
	l.mu.Lock()
	old := l.file
	l.file = f
	l.mu.Unlock()
	if f != nil {
		l.key.Store(&f.key)
	}
	old.close()
}

// startAnew sets the file at the path aside. The error is why, if there is a new
// file now, or what kept it from being made.
func (l *Log) startAnew(why error) (*file, error) {
	if err := setAside(l.path); err != nil {
		return nil, classify("setting the broken file aside", err)
	}
	f, err := openFile(l.path, l.options.maxPages)
	if err != nil {
		return nil, classify("beginning a new file", err)
	}
	return f, why
}

// KeepTexts turns on or off that arguments and results are kept of the calls that
// are recorded from now on.
func (l *Log) KeepTexts(on bool) { l.keep.Store(on) }

// Dropped is how many calls were not kept since the log was opened: the queue was
// full, or the file could not be written.
func (l *Log) Dropped() int64 { return l.dropped.Load() }

// Record keeps the call. It never waits for the file.
func (l *Log) Record(c Call) {
	l.closing.RLock()
	defer l.closing.RUnlock()
	if l.closed {
		l.dropped.Add(1)
		return
	}
	select {
	case l.work <- l.job(c):
	default:
		l.dropped.Add(1)
	}
}

// Flush waits until what was recorded before is written, or dropped. The error is
// [ErrClosed] or of the context.
func (l *Log) Flush(ctx context.Context) error {
	flushed := make(chan struct{})
	if err := l.send(ctx, job{flushed: flushed}); err != nil {
		return err
	}
	select {
	case <-flushed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Log) send(ctx context.Context, j job) error {
	l.closing.RLock()
	defer l.closing.RUnlock()
	if l.closed {
		return ErrClosed
	}
	select {
	case l.work <- j:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close writes what was recorded and lets go of the file.
func (l *Log) Close() {
	l.closing.Lock()
	if !l.closed {
		l.closed = true
		close(l.work)
	}
	l.closing.Unlock()
	<-l.done
}
