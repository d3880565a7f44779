package server

import "sync"

// watched counts who watches each resource, so that [Options.Watch] hears of the
// first and the last.
type watched struct {
	watch func(uri string) (stop func())

	mu    sync.Mutex
	byURI map[string]*watchedURI
}

type watchedURI struct {
	n    int
	stop func()
}

// add counts one more watcher. The watch runs under the lock, so that a stop never
// overtakes the start it belongs to.
func (w *watched) add(uri string) {
	if w.watch == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.byURI[uri]
	if x == nil {
		x = &watchedURI{stop: w.watch(uri)}
		w.byURI[uri] = x
	}
	x.n++
}

func (w *watched) remove(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.byURI[uri]
	if x == nil {
		return
	}
	if x.n--; x.n == 0 {
		delete(w.byURI, uri)
		x.stop()
	}
}

// watch lets the listener hear of a resource; l.mu is held. It is too late once the
// listener has ended.
func (l *listener) watch(uri string, w *watched) {
	if l.ended || l.uris[uri] {
		return
	}
	l.uris[uri] = true
	w.add(uri)
}

// unwatch is the opposite; l.mu is held.
func (l *listener) unwatch(uri string, w *watched) {
	if !l.uris[uri] {
		return
	}
	delete(l.uris, uri)
	delete(l.dueURIs, uri)
	w.remove(uri)
}

// unlisten ends a listener, and what it watched.
func (s *Server) unlisten(l *listener) {
	s.mu.Lock()
	delete(s.listeners, l)
	s.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	for uri := range l.uris {
		l.unwatch(uri, &s.watched)
	}
}
