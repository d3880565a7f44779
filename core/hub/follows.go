package hub

import (
	"maps"
	"slices"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
)

// follows are the resources of one server that a person wants to hear about. They
// outlive sessions; the server's mutex guards them.
type follows struct {
	byURI map[string]*followed
	rev   uint64
}

// followed is one of them.
type followed struct {
	session *client.Session // that was asked to follow it; nil for none yet
	stop    func()
	updated time.Time
	problem string
}

// Follow asks a server to tell about changes of a resource, or no longer to. It
// holds until the server is removed or the program ends; what comes of it is in
// Follows. The error is ErrNoServer.
func (h *Hub) Follow(name, uri string, on bool) error {
	v, err := h.find(name)
	if err != nil {
		return err
	}
	if on {
		v.follow(uri)
	} else {
		v.unfollow(uri)
	}
	return nil
}

// Follows returns what is followed of a server, and what could not be, sorted by
// URI.
func (h *Hub) Follows(name string) []Follow {
	v, err := h.find(name)
	if err != nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []Follow
	for _, uri := range slices.Sorted(maps.Keys(v.follows.byURI)) {
		f := v.follows.byURI[uri]
		out = append(out, Follow{URI: uri, Updated: f.updated, Problem: f.problem})
	}
	return out
}

func (v *server) follow(uri string) {
	v.mu.Lock()
	f := v.follows.byURI[uri]
	if f == nil || f.problem != "" {
		f = &followed{}
		if v.follows.byURI == nil {
			v.follows.byURI = map[string]*followed{}
		}
		v.follows.byURI[uri] = f
		v.follows.rev++
	}
	s := v.session
	v.mu.Unlock()
	v.listen(s, uri, f)
	v.dirty()
}

func (v *server) unfollow(uri string) {
	v.mu.Lock()
	f := v.follows.byURI[uri]
	var stop func()
	if f != nil {
		stop = f.stop
		delete(v.follows.byURI, uri)
		v.follows.rev++
	}
	v.mu.Unlock()
	if stop != nil {
		stop()
	}
	v.dirty()
}

// followAll makes a new session follow what is followed. What the last one could
// not follow is asked of the new one: it may be another program.
func (v *server) followAll(s *client.Session) {
	v.mu.Lock()
	all := maps.Clone(v.follows.byURI)
	for _, f := range all {
		f.problem = ""
	}
	v.mu.Unlock()
	for uri, f := range all {
		v.listen(s, uri, f)
	}
}

// listen has a session follow a resource, once.
func (v *server) listen(s *client.Session, uri string, f *followed) {
	v.mu.Lock()
	done := s == nil || f.session == s
	if !done {
		f.session, f.stop = s, nil
	}
	v.mu.Unlock()
	if done {
		return
	}
	stop := s.Follow(uri, func(err error) { v.hear(uri, f, s, err) })
	v.mu.Lock()
	unwanted := v.follows.byURI[uri] != f || f.session != s
	if !unwanted {
		f.stop = stop
	}
	v.mu.Unlock()
	if unwanted {
		stop()
	}
}

// hear takes what a session says about a followed resource.
func (v *server) hear(uri string, f *followed, s *client.Session, err error) {
	v.mu.Lock()
	ours := v.follows.byURI[uri] == f && f.session == s
	if ours {
		v.follows.rev++
		f.updated = time.Now()
		if err != nil {
			f.updated = time.Time{}
			f.problem = "The server does not announce changes of this resource."
		}
	}
	v.mu.Unlock()
	if ours {
		v.dirty()
	}
}

// seen takes back the mark that a resource was updated, since it is about to be
// read. undo puts it back, when the read came to nothing.
func (h *Hub) seen(name, uri string) (undo func()) {
	v, err := h.find(name)
	if err != nil {
		return func() {}
	}
	var was time.Time
	v.mark(uri, func(f *followed) { was, f.updated = f.updated, time.Time{} })
	return func() {
		v.mark(uri, func(f *followed) {
			if f.updated.IsZero() {
				f.updated = was
			}
		})
	}
}

// mark changes what is known of a followed resource.
func (v *server) mark(uri string, change func(*followed)) {
	v.mu.Lock()
	moved := false
	if f := v.follows.byURI[uri]; f != nil {
		was := f.updated
		change(f)
		moved = f.updated != was
	}
	if moved {
		v.follows.rev++
	}
	v.mu.Unlock()
	if moved {
		v.dirty()
	}
}
