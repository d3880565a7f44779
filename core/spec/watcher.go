package spec

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long nothing must change before the file is read.
	quiet = 100 * time.Millisecond
	// patience is how long a file may stay half-written or missing before that is
	// reported, and how long events without end can put off a reading.
	patience = time.Second
	// pollFast is the interval of looking where the system reports no changes, and
	// pollSlow where it should: network file systems stay silent.
	pollFast = 2 * time.Second
	pollSlow = 15 * time.Second
	// rearm is how often a system that refused to report changes is asked again.
	rearm = time.Minute
)

// State is what a [Watcher] knows.
type State struct {
	// File is the last good one; it is never nil.
	File *File
	// Problem says why the file as it stands is not in force (P2); nil when it is.
	// It is a [*SyntaxError], ErrGone, ErrBlank, or what the system said.
	Problem error
	// Notes are remarks on the watching itself, such as that it is done by polling.
	Notes []string
}

// The problems of a file that is not in force although nothing is wrong with its
// syntax: nobody empties a file of servers to stop them all, but editors and
// installers do for a moment, and crash in it (case 94).
var (
	ErrGone  = errors.New("the file is gone; its servers run on until Drawbridge is restarted")
	ErrBlank = errors.New(`the file is empty; its servers run on until it says {"mcpServers": {}}`)
)

// Watcher keeps the last good content of the user's spec file. It survives
// whatever editors do to files (case 94) and systems that report no changes
// (case 98).
type Watcher struct {
	path    string
	changed func(State)
	open    func() (notifier, error)
	slow    time.Duration // pollSlow
	reload  chan struct{}

	mu    sync.Mutex
	state State
}

// NewWatcher reads the file at path, once. changed is called from Serve's
// goroutine with every State that differs from the one before, never for a file
// that was merely touched (case 13).
func NewWatcher(path string, changed func(State)) *Watcher {
	w := &Watcher{path: path, changed: changed, open: newOSNotifier, slow: pollSlow, reload: make(chan struct{}, 1)}
	w.state.File = new(File)
	if f, err := Load(path, User); err != nil {
		w.state.Problem = err
	} else {
		w.state.File = f
	}
	return w
}

// State returns the state of this moment.
func (w *Watcher) State() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// Path returns the watched path.
func (w *Watcher) Path() string { return w.path }

// Reload makes Serve read the file now, and report a broken one at once.
func (w *Watcher) Reload() {
	select {
	case w.reload <- struct{}{}:
	default:
	}
}

// String names the watcher in logs.
func (w *Watcher) String() string { return "spec file watcher" }

// Serve watches until ctx ends, and returns its error.
func (w *Watcher) Serve(ctx context.Context) error {
	l := &loop{w: w, settle: time.NewTimer(0), poll: time.NewTicker(w.slow)}
	defer l.settle.Stop()
	defer l.poll.Stop()
	defer l.drop()
	// What changed between NewWatcher and the first watch is read by the timer.
	l.arm()
	for {
		var events <-chan fsnotify.Event
		var errs <-chan error
		if l.set != nil {
			events, errs = l.set.Events(), l.set.Errors()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-events:
			switch {
			case !ok:
				l.fall(nil)
			case l.set.concerns(e):
				l.stir()
			}
		case err, ok := <-errs:
			// Lost events are as good as one about everything.
			if !ok || !errors.Is(err, fsnotify.ErrEventOverflow) {
				l.fall(err)
			}
			l.stir()
		case <-w.reload:
			l.look(false)
			if l.set == nil {
				l.arm()
			}
		case <-l.settle.C:
			l.first = time.Time{}
			l.look(true)
		case <-l.poll.C:
			if l.set == nil && time.Since(l.refused) >= rearm {
				l.arm()
			}
			l.pollOnce()
		}
	}
}

// load reads the file, and refuses one that would silently take all servers away.
func (w *Watcher) load() (*File, error) {
	f, err := Load(w.path, User)
	if err != nil || len(w.State().File.Entries) == 0 {
		return f, err
	}
	switch {
	case f.Missing:
		return nil, ErrGone
	case f.Blank:
		return nil, ErrBlank
	}
	return f, nil
}

// publish changes the state, and tells if that made a difference.
func (w *Watcher) publish(change func(*State)) {
	w.mu.Lock()
	before := w.state
	change(&w.state)
	after := w.state
	w.mu.Unlock()
	if before.File != after.File || said(before.Problem) != said(after.Problem) || !slices.Equal(before.Notes, after.Notes) {
		w.changed(after)
	}
}

func said(err error) string {
	var pathErr *fs.PathError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &pathErr):
		return pathErr.Err.Error()
	}
	return err.Error()
}
