package transport_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// recording is a server that keeps what it got and answers everything with {}.
func recording(t testing.TB) (url string, seen *seenRequests) {
	seen = new(seenRequests)
	return handler(t, func(w http.ResponseWriter, r *http.Request, body string) {
		seen.add(r, body)
		if !strings.Contains(body, `"id"`) {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		writeJSON(w, reply(body, `{}`))
	}), seen
}

func noHeader(t *testing.T, r fakeserver.Request, names ...string) {
	t.Helper()
	for _, n := range names {
		if v, ok := r.Header[http.CanonicalHeaderKey(n)]; ok {
			t.Errorf("%s carries %s: %q", r.Method, n, v)
		}
	}
}

// C3, acceptance 28 and 29, field case 56.
func TestModernHeaders(t *testing.T) {
	url, seen := recording(t)
	w := openWeb(t, transport.HTTPConfig{URL: url, UserAgent: "drawbridge/1"})
	w.call(mcp.MethodDiscover, `{`+modernMeta+`}`)
	w.conn.Adopt(mcp.V20260728)
	w.call(mcp.MethodToolsList, `{}`)
	names := map[string]string{
		"get_weather": "get_weather", "files/read": "files/read", "my tool": "my tool", "A": "A",
		"読取": "=?base64?6Kqt5Y+W?=", "a\tb": "a\tb", " pad ": "=?base64?IHBhZCA=?=",
		"=?base64?x?=": "=?base64?PT9iYXNlNjQ/eD89?=", "a\r\nX: y": "=?base64?YQ0KWDogeQ==?=",
		"file:///tmp/ä b.txt": "=?base64?ZmlsZTovLy90bXAvw6QgYi50eHQ=?=",
	}
	for name := range names {
		w.outcome(w.issue(transport.Request{Method: mcp.MethodToolsCall, Name: name, Params: []byte(`{"name":"x"}`)}))
	}
	reqs := seen.all()
	got := map[string]bool{}
	for _, r := range reqs {
		noHeader(t, r, mcp.HeaderSession, "Idempotency-Key")
		for name, want := range map[string]string{
			"Accept": "application/json, text/event-stream", "Accept-Encoding": "identity", "Content-Type": "application/json",
			"User-Agent": "drawbridge/1", mcp.HeaderVersion: "2026-07-28", mcp.HeaderMethod: r.Method,
		} {
			if v := r.Header.Values(name); !slices.Equal(v, []string{want}) {
				t.Errorf("%s carries %s %q, want %q", r.Method, name, v, want)
			}
		}
		if r.Method == mcp.MethodToolsCall {
			got[r.Header.Get(mcp.HeaderName)] = true
		} else {
			noHeader(t, r, mcp.HeaderName)
		}
	}
	for name, want := range names {
		if !got[want] {
			t.Errorf("the name %q did not come as %q; got %v", name, want, got)
		}
	}
}

// Field case 55, "Value Encoding".
func TestMirroredParameters(t *testing.T) {
	url, seen := recording(t)
	w := openWeb(t, transport.HTTPConfig{URL: url})
	w.conn.Adopt(mcp.V20260728)
	w.outcome(w.issue(transport.Request{Method: mcp.MethodToolsCall, Name: "t", ParamHeaders: []transport.Header{
		{Name: "Mcp-Param-Region", Value: "us-west1"},
		{Name: "Mcp-Param-Text", Value: "Hello, 世界"},
		{Name: "Mcp-Param-Pad", Value: " pad "},
		{Name: "Mcp-Param-Empty", Value: ""},
		{Name: "Mcp-Param-Bad Name", Value: "x"},
		{Name: "Authorization", Value: "stolen"},
	}}))
	h := seen.all()[0].Header
	for name, want := range map[string]string{
		"Mcp-Param-Region": "us-west1", "Mcp-Param-Text": "=?base64?SGVsbG8sIOS4lueVjA==?=", "Mcp-Param-Pad": "=?base64?IHBhZCA=?=", "Mcp-Param-Empty": "",
	} {
		if v := h.Values(name); !slices.Equal(v, []string{want}) {
			t.Errorf("%s is %q, want %q", name, v, want)
		}
	}
	noHeader(t, seen.all()[0], "Authorization", "Mcp-Param-Bad Name")
}

// C3, acceptance 30: a legacy server never sees a modern header on an ordinary
// request, and initialize brings nothing of an older session.
func TestLegacyHeaders(t *testing.T) {
	srv := fakeserver.StartHTTP(t, fakeserver.HTTP{})
	w := openWeb(t, transport.HTTPConfig{URL: srv.URL})
	w.shake()
	w.call(mcp.MethodToolsList, `{}`)
	w.outcome(w.send(mcp.MethodDiscover, `{`+modernMeta+`}`))
	w.shake()
	w.call(mcp.MethodToolsList, `{}`)

	var sessions []string
	for _, r := range srv.Requests() {
		switch r.Method {
		case mcp.MethodInitialize:
			noHeader(t, r, mcp.HeaderVersion, mcp.HeaderSession, mcp.HeaderMethod, mcp.HeaderName)
		case mcp.MethodDiscover:
			noHeader(t, r, mcp.HeaderSession)
			if r.Header.Get(mcp.HeaderVersion) != "2026-07-28" || r.Header.Get(mcp.HeaderMethod) != mcp.MethodDiscover {
				t.Errorf("the probe carries %v", r.Header)
			}
		default:
			noHeader(t, r, mcp.HeaderMethod, mcp.HeaderName)
			if r.Header.Get(mcp.HeaderVersion) != "2025-11-25" {
				t.Errorf("%s carries version %q", r.Method, r.Header.Get(mcp.HeaderVersion))
			}
			sessions = append(sessions, r.Header.Get(mcp.HeaderSession))
		}
	}
	if want := []string{"session-1", "session-1", "session-2", "session-2"}; !slices.Equal(sessions, want) {
		t.Errorf("sessions %q, want %q", sessions, want)
	}
}

// Acceptance 31, reference 3.4: what belongs to the protocol cannot be set by a
// spec; credentials can.
func TestSpecHeaders(t *testing.T) {
	url, seen := recording(t)
	w := openWeb(t, transport.HTTPConfig{URL: url, Headers: []transport.Header{
		{Name: "accept", Value: "text/plain"},
		{Name: "Mcp-Method", Value: "evil"},
		{Name: "mcp-session-id", Value: "evil"},
		{Name: "Host", Value: "evil"},
		{Name: "mcp-param-region", Value: "evil"},
		{Name: "Transfer-Encoding", Value: "chunked"},
		{Name: "authorization", Value: "Bearer secret\n"},
		{Name: "X-Team", Value: "blue"},
		{Name: "x-team", Value: "red"},
	}})
	w.conn.Adopt(mcp.V20260728)
	w.call(mcp.MethodToolsList, "")
	r := seen.all()[0]
	if got := r.Header.Get("Authorization"); got != "Bearer secret" {
		t.Errorf("authorization %q", got)
	}
	if got := r.Header.Values("X-Team"); !slices.Equal(got, []string{"blue", "red"}) {
		t.Errorf("x-team %q", got)
	}
	if r.Header.Get("Accept") != "application/json, text/event-stream" || r.Header.Get(mcp.HeaderMethod) != mcp.MethodToolsList {
		t.Errorf("headers %v", r.Header)
	}
	noHeader(t, r, mcp.HeaderSession, "Mcp-Param-Region")
}

func TestUnsendableHeader(t *testing.T) {
	for _, h := range []transport.Header{{Name: "X", Value: "a\x00secret"}, {Name: "a b", Value: "secret"}, {Name: "X", Value: "a\nsecret"}} {
		_, err := transport.NewHTTP(transport.HTTPConfig{URL: "http://localhost/", Headers: []transport.Header{h}})
		if err == nil || err.Error() != "blocked (header)" {
			t.Errorf("%q: %v", h.Name, err)
		}
	}
}

// Userinfo becomes basic authorization, and is in no request line.
func TestUserinfo(t *testing.T) {
	url, seen := recording(t)
	w := openWeb(t, transport.HTTPConfig{URL: strings.Replace(url, "://", "://me:p%40ss@", 1) + "?key=1#frag"})
	w.conn.Adopt(mcp.V20260728)
	w.call(mcp.MethodToolsList, "")
	r := seen.all()[0]
	if r.Header.Get("Authorization") != "Basic bWU6cEBzcw==" || r.Path != "/mcp?key=1" {
		t.Errorf("authorization %q, path %q", r.Header.Get("Authorization"), r.Path)
	}
}

// The body is the message, its params byte for byte (A4, acceptance 49).
func TestBodies(t *testing.T) {
	url, seen := recording(t)
	w := openWeb(t, transport.HTTPConfig{URL: url})
	w.conn.Adopt(mcp.V20251125)
	w.call(mcp.MethodToolsCall, `{"name":"x", "arguments":{"n":1.0}}`)
	if err := w.conn.Respond(mcp.MethodElicit, jsonrpc.Refuse(jsonrpc.StringID("q"), jsonrpc.Errorf(-32601, "Method not found"))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the response", func() bool { return len(seen.all()) == 2 })
	reqs := seen.all()
	for i, want := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x", "arguments":{"n":1.0}}}`,
		`{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"Method not found"}}`,
	} {
		if reqs[i].Body != want {
			t.Errorf("body %s\nwant %s", reqs[i].Body, want)
		}
	}
	noHeader(t, reqs[1], mcp.HeaderMethod, mcp.HeaderName)
}

// streamable-http 2026-07-28 "Sending Messages": a client must not send responses.
func TestModernServerIsNotAnswered(t *testing.T) {
	url, seen := recording(t)
	w := openWeb(t, transport.HTTPConfig{URL: url})
	w.conn.Adopt(mcp.V20260728)
	if err := w.conn.Respond(mcp.MethodPing, jsonrpc.Reply(jsonrpc.IntID(9), []byte(`{}`))); err != nil {
		t.Fatal(err)
	}
	w.call(mcp.MethodToolsList, "")
	w.conn.Close()
	if reqs := seen.all(); len(reqs) != 1 {
		t.Errorf("the server got %d requests: %v", len(reqs), reqs)
	}
}
