package spec

import (
	"fmt"
	"time"
)

// loop is what Serve keeps between events.
type loop struct {
	w *Watcher
	// set is nil where the system does not report changes.
	set     *watchSet
	refused time.Time
	// settle fires when the file is to be read; first is the time of the first
	// event that it was put off for.
	settle *time.Timer
	first  time.Time
	poll   *time.Ticker
	// bad is since when the file is not usable.
	bad  time.Time
	seen stamp
}

// arm starts watching, or falls back to polling.
func (l *loop) arm() {
	n, err := l.w.open()
	if err != nil {
		l.fall(err)
		return
	}
	l.set = newWatchSet(n)
	if err := l.set.follow(l.w.path); err != nil {
		l.fall(err)
		return
	}
	l.poll.Reset(l.w.slow)
	l.w.publish(func(s *State) { s.Notes = nil })
	l.stir()
}

// fall goes on without the system's help (case 98).
func (l *loop) fall(err error) {
	l.drop()
	l.refused = time.Now()
	l.poll.Reset(pollFast)
	note := fmt.Sprintf("changes are noticed by looking every %d seconds, because %s", int(pollFast.Seconds()), limit(err))
	l.w.publish(func(s *State) { s.Notes = []string{note} })
}

func (l *loop) drop() {
	if l.set != nil {
		_ = l.set.Close() // nothing was promised to anybody
		l.set = nil
	}
}

// stir has the file read once nothing happened for a while.
func (l *loop) stir() {
	now := time.Now()
	if l.first.IsZero() {
		l.first = now
	}
	l.settle.Reset(max(0, min(quiet, l.first.Add(patience).Sub(now))))
}

// pollOnce reads the file if it may have changed unnoticed.
func (l *loop) pollOnce() {
	if now := stampOf(l.w.path); now.recent || now != l.seen {
		l.look(true)
	}
}

// look reads the file and publishes what it says. A file that is half-written or
// missing gets some patience, if patient.
func (l *loop) look(patient bool) {
	if l.set != nil {
		if err := l.set.follow(l.w.path); err != nil {
			l.fall(err)
		}
	}
	l.seen = stampOf(l.w.path)
	f, err := l.w.load()
	if err == nil {
		l.bad = time.Time{}
		l.w.publish(func(s *State) {
			s.Problem = nil
			if f.Hash != s.File.Hash || f.Missing != s.File.Missing {
				s.File = f
			}
		})
		return
	}
	if l.bad.IsZero() {
		l.bad = time.Now()
	}
	if patient && time.Since(l.bad) < patience {
		l.settle.Reset(quiet)
		return
	}
	l.w.publish(func(s *State) { s.Problem = err })
}
