package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

func note(text string) *jsonrpc.Message {
	return jsonrpc.Notify("notifications/message", json.RawMessage(`{"data":"`+text+`"}`))
}

func reply() *jsonrpc.Message { return jsonrpc.Reply(jsonrpc.IntID(1), json.RawMessage(`{}`)) }

// seeds are openings of every kind, good and bad.
func seeds(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hi","arguments":{"x":[1,{"y":null}]},"requestState":"AAAA","inputResponses":{"k":{}}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":5,"method":""}`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`,
		`[]`, `null`, `{}`, "\x00", `{"jsonrpc":"2.0","id":1,"result":null}`,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\n{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
	} {
		f.Add([]byte(s))
	}
}

func fuzzed() *Server {
	r := NewRegistry()
	r.Declare(Tools, Resources, Prompts, Completions, Logging)
	_ = r.AddTool(Tool{Definition: json.RawMessage(`{"name":"hi","inputSchema":{"type":"object","properties":{"x":{"type":"string","x-mcp-header":"X"}}}}`), Handle: say("hi")})
	s, err := New(Options{Info: mcp.Implementation{Name: "fuzz"}, Registry: r})
	if err != nil {
		panic(err)
	}
	return s
}

// Whatever comes in, what goes out is whole lines of JSON-RPC, and the door ends.
func FuzzStdio(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		s := fuzzed()
		defer s.Close()
		var out bytes.Buffer
		if err := ServeStdio(t.Context(), s, bytes.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if _, err := jsonrpc.Decode(bytes.TrimSpace(line)); err != nil && !json.Valid(line) {
				t.Fatalf("wrote %q: %v", line, err)
			}
		}
	})
}

// Whatever the body and the headers, the answer is one of the known statuses, and
// what is JSON is valid.
func FuzzHTTP(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hi"}}`), "2026-07-28", "tools/call", "hi", "=?base64?eA==?=")
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`), "", "", "", "")
	f.Add([]byte(`{}`), "v9", "", "=?base64?!?=", "x")
	f.Fuzz(func(t *testing.T, body []byte, version, method, name, param string) {
		s := fuzzed()
		defer s.Close()
		h, err := NewHTTP(HTTPOptions{Authorization: NoAuthorization, Endpoint: func(_, _ string) (*Server, bool) { return s, true }, MaxBody: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		// A subscription ends with its client only.
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80})), 100*time.Millisecond)
		r := httptest.NewRequestWithContext(ctx, "POST", "/mcp", bytes.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		for n, v := range map[string]string{mcp.HeaderVersion: version, mcp.HeaderMethod: method, mcp.HeaderName: name, "Mcp-Param-X": param} {
			if v != "" {
				r.Header[n] = []string{v}
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		cancel()
		h.sessions.closeAll(t.Context())
		res := w.Result()
		got, _ := io.ReadAll(res.Body)
		switch res.StatusCode {
		case 200, 202, 400, 404, 413:
		default:
			t.Fatalf("status %d", res.StatusCode)
		}
		if res.Header.Get("Content-Type") == "application/json" && !json.Valid(got) {
			t.Fatalf("wrote %q", got)
		}
	})
}

// A cursor or a state of a stranger is never taken, and never a crash.
func FuzzOpaque(f *testing.F) {
	f.Add("dG9vbHM6AQ")
	f.Add("")
	f.Add("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	box := newSealer(1)
	f.Fuzz(func(t *testing.T, text string) {
		if _, _, err := box.open(text, nil); err == nil {
			t.Fatal("a forged state was opened")
		}
		if n, ok := readCursor("tools", text); ok && writeCursor("tools", n) != text {
			t.Fatalf("%q reads as %d", text, n)
		}
		_, _ = decodeHeader(text)
	})
}
