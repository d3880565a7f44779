package fakeserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// HTTP is a server behind Streamable HTTP. The zero HTTP is a stateful legacy
// server that answers by event streams, as the TypeScript SDK does.
type HTTP struct {
	// Script is the server behind. Its era decides what the door checks: a
	// modern one requires the mirrored headers and gives statuses to errors.
	Script Script
	// Stateless gives a legacy server no session ids and no GET stream.
	Stateless bool
	// JSON answers with application/json in place of a stream, with this content
	// type if it is longer than "json" (for example "application/json; charset=utf-8").
	JSON string
	// Stream is the dialect of event streams.
	Stream Stream
	// Lost answers requests of an unknown session; 404 if zero (cases 31 and 32).
	Lost Answer
	// Answers replaces the answer to a JSON-RPC method ("server/discover", or
	// "tools/call NAME" for one tool) or to an HTTP one ("GET", "DELETE"); "*" is
	// every request.
	Answers map[string]Answer
}

// Request is one HTTP request as the server saw it.
type Request struct {
	HTTPMethod string
	Path       string // with the query
	Header     http.Header
	Method     string // of the JSON-RPC message, if it is one
	Body       string
}

// HTTPServer is a running server on a loopback port.
type HTTPServer struct {
	URL string // of the MCP endpoint

	config   HTTP
	server   *httptest.Server
	ctx      context.Context // ends with the server
	mu       sync.Mutex
	requests []Request
	sessions map[string]*peer
	getters  map[*peer]map[*eventStream]bool
	used     map[string]int
	serial   int
}

// StartHTTP starts a server, which stops with the test.
func StartHTTP(tb testing.TB, h HTTP) *HTTPServer {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &HTTPServer{
		config:   h,
		ctx:      ctx,
		sessions: map[string]*peer{},
		getters:  map[*peer]map[*eventStream]bool{},
		used:     map[string]int{},
	}
	s.server = httptest.NewServer(s)
	s.URL = s.server.URL + "/mcp"
	tb.Cleanup(func() {
		cancel() // ends streams and hung answers
		s.server.CloseClientConnections()
		s.server.Close()
	})
	return s
}

// Requests lists what has come so far.
func (s *HTTPServer) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Count tells how many requests of a JSON-RPC or HTTP method have come.
func (s *HTTPServer) Count(method string) int {
	n := 0
	for _, r := range s.Requests() {
		if r.Method == method || r.HTTPMethod == method {
			n++
		}
	}
	return n
}

// DropSessions forgets all sessions, as a restarted server does.
func (s *HTTPServer) DropSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.sessions)
}

// Notify sends a notification that belongs to no request to every client that
// listens, by GET or by a subscription. Params may be nil.
func (s *HTTPServer) Notify(method string, params map[string]any) {
	s.mu.Lock()
	peers := make(map[*peer]bool)
	for _, p := range s.sessions {
		peers[p] = true
	}
	for p := range s.getters {
		peers[p] = true
	}
	s.mu.Unlock()
	for p := range peers {
		p.announce(method, params)
	}
}

// DropConnections closes every connection in the middle of whatever it does.
func (s *HTTPServer) DropConnections() { s.server.CloseClientConnections() }

func (s *HTTPServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()

	var m message
	var ps params
	if json.Unmarshal(body, &m) == nil {
		json.Unmarshal(m.Params, &ps)
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{
		HTTPMethod: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Method: m.Method, Body: string(body),
	})
	s.mu.Unlock()

	if a, ok := s.replacement(r.Method, m.Method, ps.Name); ok {
		a.write(ctx, w, m.ID)
		return
	}
	switch r.Method {
	case http.MethodPost:
		s.post(ctx, w, r, m, ps, body)
	case http.MethodGet:
		s.get(ctx, w, r)
	case http.MethodDelete:
		s.delete(w, r)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (s *HTTPServer) replacement(httpMethod, method, name string) (Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range []string{method + " " + name, method, httpMethod, "*"} {
		a, ok := s.config.Answers[key]
		if !ok {
			continue
		}
		s.used[key]++
		return a, a.Times == 0 || s.used[key] <= a.Times
	}
	return Answer{}, false
}

// post takes one message and answers it.
func (s *HTTPServer) post(ctx context.Context, w http.ResponseWriter, r *http.Request, m message, ps params, body []byte) {
	p, refused := s.peerFor(w, r, m, ps)
	if refused != nil {
		refused.write(ctx, w, m.ID)
		return
	}
	if m.ID == nil || m.Method == "" {
		p.handle(ctx, body, discard{})
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if s.config.JSON != "" {
		out := &jsonAnswer{w: w, contentType: s.config.JSON, statuses: s.modernDoor(ps)}
		<-p.handle(ctx, body, out)
		return
	}
	if s.modernDoor(ps) {
		if rpcErr := p.admit(m.Method, ps, true); rpcErr != nil || !known(m.Method) {
			out := &jsonAnswer{w: w, contentType: "application/json", statuses: true}
			<-p.handle(ctx, body, out)
			return
		}
	}
	out := openStream(w, s.config.Stream)
	<-p.handle(ctx, body, out)
	out.finish(ctx)
}

// known tells whether the server has the method at all.
func known(method string) bool {
	switch method {
	case "initialize", "server/discover", "ping", "logging/setLevel", "tools/list", "tools/call", "subscriptions/listen":
		return true
	}
	return false
}

// modernDoor tells whether the rules of 2026-07-28 hold for this request.
func (s *HTTPServer) modernDoor(ps params) bool {
	return s.config.Script.Era == Modern || s.config.Script.Era == Dual && ps.Meta.ProtocolVersion != ""
}

// peerFor finds the server behind a request: one for each session, one for all
// requests that have none.
func (s *HTTPServer) peerFor(w http.ResponseWriter, r *http.Request, m message, ps params) (*peer, *Answer) {
	if s.modernDoor(ps) {
		if reason := mirrored(r.Header, m, ps); reason != "" {
			return nil, &Answer{Status: 400, ContentType: "application/json", Body: fmt.Sprintf(
				`{"jsonrpc":"2.0","id":$id,"error":{"code":-32020,"message":%q}}`, "Header mismatch: "+reason)}
		}
		return s.shared("modern"), nil
	}
	if s.config.Stateless {
		return s.shared("stateless"), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.Header.Get("Mcp-Session-Id")
	if p := s.sessions[id]; p != nil && id != "" {
		return p, nil
	}
	if id != "" {
		lost := s.config.Lost
		if lost.Status == 0 {
			lost = Answer{Status: 404, ContentType: "application/json", Body: `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`}
		}
		return nil, &lost
	}
	if m.Method != "initialize" {
		return nil, new(ServerNotInitialized())
	}
	s.serial++
	id = fmt.Sprintf("session-%d", s.serial)
	p := s.newPeerLocked()
	s.sessions[id] = p
	w.Header().Set("Mcp-Session-Id", id)
	return p, nil
}

// shared returns the one peer behind all requests without a session.
func (s *HTTPServer) shared(key string) *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[key] == nil {
		s.sessions[key] = s.newPeerLocked()
	}
	return s.sessions[key]
}

func (s *HTTPServer) newPeerLocked() *peer {
	// A server behind HTTP does not exit; a script that wants it to cuts the
	// connections, which is what a client sees of a crash.
	p := newPeer(&s.config.Script, func(Exit) { go s.server.CloseClientConnections() })
	p.broadcast = func(m any) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for stream := range s.getters[p] {
			stream.send(m)
		}
	}
	return p
}

// mirrored checks the headers of 2026-07-28 against the body.
func mirrored(h http.Header, m message, ps params) string {
	switch {
	case h.Get("Mcp-Protocol-Version") == "":
		return "Mcp-Protocol-Version is missing"
	case h.Get("Mcp-Method") != m.Method:
		return "Mcp-Method differs from the body"
	case ps.Meta.ProtocolVersion != h.Get("Mcp-Protocol-Version"):
		return "Mcp-Protocol-Version differs from the body"
	case m.Method == "tools/call" && !strings.HasPrefix(h.Get("Mcp-Name"), "=?base64?") && h.Get("Mcp-Name") != ps.Name:
		return "Mcp-Name differs from the body"
	}
	return ""
}

// get serves the standalone stream of a legacy session until either side ends it.
func (s *HTTPServer) get(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	p := s.sessions[r.Header.Get("Mcp-Session-Id")]
	s.mu.Unlock()
	if s.config.Script.Era == Modern || s.config.Stateless || r.Header.Get("Mcp-Session-Id") == "" {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if p == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	// Under the lock, so that a client that has the headers misses nothing.
	s.mu.Lock()
	stream := openStream(w, s.config.Stream)
	if s.getters[p] == nil {
		s.getters[p] = map[*eventStream]bool{}
	}
	s.getters[p][stream] = true
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock()
	delete(s.getters[p], stream)
	s.mu.Unlock()
	stream.close()
}

func (s *HTTPServer) delete(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	s.mu.Lock()
	_, ok := s.sessions[id]
	delete(s.sessions, id)
	s.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
