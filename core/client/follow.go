package client

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrNotFollowed says that the server does not tell about changes of a resource:
// it does not offer to, or it refused this one.
var ErrNotFollowed = errors.New("the server does not announce changes of this resource")

// maxFollowed bounds how many resources are followed at a time.
const maxFollowed = 1024

// follows are the resources that somebody wants to hear about. They outlive
// connections: each new one subscribes to them again.
type follows struct {
	mu    sync.Mutex
	byURI map[string]*followed
}

// followed is one resource with everybody who wants to hear about it: several
// followers make one subscription.
type followed struct {
	tell map[int]func(error)
	next int
	// due runs while changes are gathered; nil otherwise.
	due *time.Timer
}

// Follow calls changed when the server says that a resource, or one below it,
// changed, and when changes may have been missed. Changes in quick succession are
// told once. It holds across reconnects until stop is called. changed is called
// once with [ErrNotFollowed], and not again, when the server does not announce
// changes of it; it must return at once and may still be running when stop returns.
func (s *Session) Follow(uri string, changed func(error)) (stop func()) {
	n, ok := s.follows.add(uri, changed)
	if !ok {
		changed(ErrNotFollowed)
		return func() {}
	}
	s.nudge()
	return func() {
		if s.follows.remove(uri, n) {
			s.nudge()
		}
	}
}

// nudge makes the connection, if any, compare what is followed with what is
// wanted.
func (s *Session) nudge() {
	s.mu.Lock()
	o := s.st.conn
	s.mu.Unlock()
	if o != nil {
		o.nudge()
	}
}

func (o *opened) nudge() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (f *follows) add(uri string, changed func(error)) (n int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.byURI[uri]
	if r == nil {
		if len(f.byURI) >= maxFollowed {
			return 0, false
		}
		r = &followed{tell: map[int]func(error){}}
		f.byURI[uri] = r
	}
	r.next++
	r.tell[r.next] = changed
	return r.next, true
}

// remove reports whether nobody follows the resource any more.
func (f *follows) remove(uri string, n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.byURI[uri]
	if r == nil {
		return false
	}
	if delete(r.tell, n); len(r.tell) > 0 {
		return false
	}
	f.drop(uri, r)
	return true
}

// drop takes a resource out. The caller holds f.mu.
func (f *follows) drop(uri string, r *followed) {
	if r.due != nil {
		r.due.Stop()
	}
	delete(f.byURI, uri)
}

// uris returns what is followed, sorted.
func (f *follows) uris() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.byURI))
}

// refuse ends the following of a resource that the server does not announce.
func (f *follows) refuse(uri string) {
	f.mu.Lock()
	r := f.byURI[uri]
	if r != nil {
		f.drop(uri, r)
	}
	f.mu.Unlock()
	if r != nil {
		for _, tell := range r.tell {
			tell(ErrNotFollowed)
		}
	}
}

// changed tells the followers of a resource soon. The server may name a resource
// below the one that is followed (server/resources "Subscriptions").
func (f *follows) changed(uri string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for of, r := range f.byURI {
		if of == uri || strings.HasPrefix(uri, strings.TrimSuffix(of, "/")+"/") {
			f.announce(of, r)
		}
	}
}

// missed tells every follower soon: changes may have passed unheard.
func (f *follows) missed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for uri, r := range f.byURI {
		f.announce(uri, r)
	}
}

// announce gathers changes for a moment. The caller holds f.mu.
func (f *follows) announce(uri string, r *followed) {
	if r.due != nil {
		return
	}
	r.due = time.AfterFunc(debounce, func() {
		f.mu.Lock()
		var tell []func(error)
		if f.byURI[uri] == r {
			r.due = nil
			tell = slices.Collect(maps.Values(r.tell))
		}
		f.mu.Unlock()
		for _, changed := range tell {
			changed(nil)
		}
	})
}

// silence stops what is about to be told, when the session ends.
func (f *follows) silence() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for uri, r := range f.byURI {
		f.drop(uri, r)
	}
}
