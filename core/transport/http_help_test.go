package transport_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

func newHTTP(t testing.TB, cfg transport.HTTPConfig) *transport.HTTPDialer {
	t.Helper()
	d, err := transport.NewHTTP(cfg)
	if err != nil {
		t.Fatalf("new: %v", err)
	}
	return d
}

// web is a connection to an HTTP server, with the sink it reports to.
type web struct {
	t    testing.TB
	conn transport.Conn
	sink *transporttest.Recorder
	log  *console
	next int64

	origin string
}

// openWeb connects; the connection ends with the test.
func openWeb(t testing.TB, cfg transport.HTTPConfig) *web {
	t.Helper()
	return openDialer(t, cfg, func(*transport.HTTPDialer) {})
}

// openDialer lets tune change the dialer before it is used.
func openDialer(t testing.TB, cfg transport.HTTPConfig, tune func(*transport.HTTPDialer)) *web {
	t.Helper()
	w := &web{t: t, sink: new(transporttest.Recorder), log: new(console)}
	cfg.Log = w.log.log
	d := newHTTP(t, cfg)
	tune(d)
	conn, err := d.Connect(t.Context(), w.sink)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(conn.Close)
	w.conn, w.origin = conn, transport.Origin(d)
	return w
}

// send sends a request and returns its id.
func (w *web) send(method, params string) int64 {
	w.t.Helper()
	return w.issue(transport.Request{Method: method, Params: json.RawMessage(params)})
}

func (w *web) issue(req transport.Request) int64 {
	w.t.Helper()
	w.next++
	if len(req.Params) == 0 {
		req.Params = nil
	}
	if err := w.conn.Send(w.next, req); err != nil {
		w.t.Fatalf("send %s: %v", req.Method, err)
	}
	return w.next
}

func (w *web) outcome(id int64) transporttest.Event {
	w.t.Helper()
	e := w.sink.Outcome(w.t, id)
	if e.Kind == transporttest.Failed {
		var te *transport.Error
		if !errors.As(e.Err, &te) {
			w.t.Errorf("failed with %#v, which is no *transport.Error", e.Err)
		}
	}
	return e
}

// call sends a request and waits for its result.
func (w *web) call(method, params string) string {
	w.t.Helper()
	e := w.outcome(w.send(method, params))
	if e.Kind != transporttest.Message || e.Msg.Result == nil {
		w.t.Fatalf("%s: outcome %v", method, e)
	}
	return string(e.Msg.Result)
}

// fails sends a request and waits for its failure.
func (w *web) fails(method, params string) *transport.Error {
	w.t.Helper()
	return w.failed(w.send(method, params))
}

func (w *web) failed(id int64) *transport.Error {
	w.t.Helper()
	e := w.outcome(id)
	var te *transport.Error
	if e.Kind != transporttest.Failed || !errors.As(e.Err, &te) {
		w.t.Fatalf("outcome %v, want a failure", e)
	}
	return te
}

// shake does the legacy handshake.
func (w *web) shake() {
	w.t.Helper()
	w.call(mcp.MethodInitialize, `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	w.conn.Adopt(mcp.V20251125)
	id := w.issue(transport.Request{Method: mcp.NotifyInitialized, Notification: true})
	if e := w.outcome(id); e.Kind != transporttest.Settled {
		w.t.Fatalf("initialized: outcome %v", e)
	}
}

// handler is a server of one function, which gets the body too.
func handler(t testing.TB, serve func(w http.ResponseWriter, r *http.Request, body string)) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			serve(w, r, string(body))
		}
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL + "/mcp"
}

// answering is a server that gives one answer to everything, $id replaced.
func answering(t testing.TB, a fakeserver.Answer) string {
	return fakeserver.StartHTTP(t, fakeserver.HTTP{Answers: map[string]fakeserver.Answer{"*": a}}).URL
}

// modernMeta is the _meta of a modern request.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`

// seenRequests collects what a handler saw.
type seenRequests struct {
	mu   sync.Mutex
	list []fakeserver.Request
}

func (s *seenRequests) add(r *http.Request, body string) {
	var m struct{ Method string }
	_ = json.Unmarshal([]byte(body), &m)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, fakeserver.Request{
		HTTPMethod: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Method: m.Method, Body: body,
	})
}

func (s *seenRequests) all() []fakeserver.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]fakeserver.Request(nil), s.list...)
}

// reply is a JSON answer to the request in body.
func reply(body, result string) string {
	var m struct{ ID json.RawMessage }
	_ = json.Unmarshal([]byte(body), &m)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func writeJSON(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, text)
}
