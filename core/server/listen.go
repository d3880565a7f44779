package server

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// listNotes are the list notifications, in the order of listener.lists.
var listNotes = [3]string{mcp.NotifyToolsChanged, mcp.NotifyPromptsChanged, mcp.NotifyResourcesChanged}

func listIndex(f Feature) int { return map[Feature]int{Tools: 0, Prompts: 1, Resources: 2}[f] }

// listener is one stream of change notifications: a legacy session's, or one
// subscriptions/listen request's. Changes are gathered for a moment and sent once
// each, so a burst costs one message, and a slow client one entry.
type listener struct {
	delay time.Duration
	send  func(method string, params json.RawMessage)
	wake  chan struct{}

	mu      sync.Mutex
	lists   [3]bool
	uris    map[string]bool
	due     [3]bool
	dueURIs map[string]bool
	params  json.RawMessage // what every notification carries, nil for nothing
	ended   bool
	started bool // the legacy session said it is initialized; guarded by Conn.mu
}

func newListener(s *Server, send func(string, json.RawMessage)) *listener {
	return &listener{
		delay: s.limits.Coalesce, send: send, wake: make(chan struct{}, 1),
		uris: map[string]bool{}, dueURIs: map[string]bool{},
	}
}

func (s *Server) listen(l *listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[l] = struct{}{}
}

func (s *Server) listChanged(f Feature) {
	i := listIndex(f)
	s.each(func(l *listener) bool {
		l.due[i] = l.due[i] || l.lists[i]
		return l.lists[i]
	})
}

func (s *Server) updated(uri string) {
	s.each(func(l *listener) bool {
		if l.uris[uri] {
			l.dueURIs[uri] = true
		}
		return l.uris[uri]
	})
}

func (s *Server) each(mark func(*listener) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.listeners {
		l.mu.Lock()
		due := mark(l)
		l.mu.Unlock()
		if due {
			select {
			case l.wake <- struct{}{}:
			default:
			}
		}
	}
}

// run announces changes until ctx ends.
func (l *listener) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(l.delay):
		}
		l.flush()
	}
}

func (l *listener) flush() {
	l.mu.Lock()
	due, uris := l.due, l.dueURIs
	l.due, l.dueURIs = [3]bool{}, map[string]bool{}
	params := l.params
	l.mu.Unlock()
	for i, is := range due {
		if is {
			l.send(listNotes[i], params)
		}
	}
	for uri := range uris {
		if p, err := jsonrpc.With(params, "uri", quote(uri)); err == nil {
			l.send(mcp.NotifyResourceUpdated, p)
		}
	}
}

// subscribe serves the legacy resources/subscribe.
func (c *Call) subscribe() (json.RawMessage, *jsonrpc.Error) {
	return c.watching(func(l *listener, uri string) *jsonrpc.Error {
		if len(l.uris) >= c.conn.server.limits.Watched && !l.uris[uri] {
			return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "too many subscriptions")
		}
		l.watch(uri, &c.conn.server.watched)
		return nil
	})
}

func (c *Call) unsubscribe() (json.RawMessage, *jsonrpc.Error) {
	return c.watching(func(l *listener, uri string) *jsonrpc.Error {
		l.unwatch(uri, &c.conn.server.watched)
		return nil
	})
}

func (c *Call) watching(do func(*listener, string) *jsonrpc.Error) (json.RawMessage, *jsonrpc.Error) {
	uri := c.text("uri")
	if uri == "" {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "%s needs a uri", c.Method)
	}
	c.conn.mu.Lock()
	l := c.conn.watch
	c.conn.mu.Unlock()
	if l == nil {
		return nil, internal(c.Method, ErrGone)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := do(l, uri); err != nil {
		return nil, err
	}
	return json.RawMessage(`{}`), nil
}

// listenFilter is the notifications member of subscriptions/listen.
type listenFilter struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
}

// listen serves subscriptions/listen (basic/patterns/subscriptions): the
// acknowledgment with what will be honoured, then changes until the client cancels
// or we stop. It takes no worker.
func (c *Conn) listen(call *Call) {
	s := c.server
	refuse := func(err *jsonrpc.Error) {
		call.answer(nil, err)
		c.out.Ended(call.id)
	}
	var f listenFilter
	if raw := call.fields["notifications"]; raw == nil || json.Unmarshal(raw, &f) != nil {
		refuse(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "subscriptions/listen needs a notifications filter"))
		return
	}
	if len(f.URIs) > s.limits.Watched {
		refuse(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "too many resource subscriptions"))
		return
	}
	f.Tools = f.Tools && s.registry.Declares(Tools)
	f.Prompts = f.Prompts && s.registry.Declares(Prompts)
	if !s.registry.Declares(Resources) {
		f.Resources, f.URIs = false, nil
	}
	if !s.listens.take(c.peer.Owner) {
		refuse(internal(call.Method, ErrBusy))
		return
	}
	if !c.admit(call) {
		s.listens.release(c.peer.Owner)
		refuse(jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the id is in use by another request"))
		return
	}
	if !c.begin() {
		s.listens.release(c.peer.Owner)
		call.stop(ErrGone)
		return
	}
	l := newListener(s, func(method string, p json.RawMessage) { call.Notify(method, p) })
	l.lists = [3]bool{f.Tools, f.Prompts, f.Resources}
	id, _ := call.id.MarshalJSON()
	meta := json.RawMessage(`{"` + mcp.MetaSubscriptionID + `":` + string(id) + `}`)
	l.params = json.RawMessage(`{"_meta":` + string(meta) + `}`)
	filter, _ := json.Marshal(f) // booleans and strings always marshal
	// Changes count from here on, but nothing is sent before the acknowledgment.
	s.listen(l)
	l.mu.Lock()
	for _, uri := range f.URIs {
		l.watch(uri, &s.watched)
	}
	l.mu.Unlock()
	go func() {
		defer c.work.Done()
		defer s.listens.release(c.peer.Owner)
		defer s.unlisten(l)
		if err := call.mayRead(call.ctx); err != nil {
			call.finish(nil, err)
			return
		}
		ack, _ := jsonrpc.With(l.params, "notifications", filter)
		call.Notify(mcp.NotifySubscriptionAccepted, ack)
		ctx, cancel := context.WithCancel(call.ctx)
		defer cancel()
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			l.run(ctx)
		}()
		select {
		case <-call.ctx.Done():
		case <-c.drain:
		}
		cancel()
		<-stop
		if call.ctx.Err() == nil {
			// basic/patterns/cancellation asks for the notification,
			// basic/patterns/subscriptions for the result; both are sent.
			bye, _ := jsonrpc.With(l.params, "requestId", id)
			call.Notify(mcp.NotifyCancelled, bye)
			call.finish(json.RawMessage(`{"_meta":`+string(meta)+`}`), nil)
		}
	}()
}
