package conformance

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// What the shim adds is the token; a foreign name reaches the server as it was sent.
func TestBearerAddsATokenAndHidesNothing(t *testing.T) {
	var got *http.Request
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	shim := httptest.NewServer(Bearer(target, "s3cret"))
	defer shim.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(shim.URL, "http://"), ":")
	for _, tc := range []struct{ host, origin, wantHost, wantOrigin string }{
		{"localhost:" + port, "", target.Host, ""},
		{"127.0.0.1:" + port, "http://localhost:" + port, target.Host, "http://" + target.Host},
		{"evil.example", "", "evil.example", ""},
		{"evil.example:" + port, "http://evil.example:" + port, "evil.example:" + port, "http://evil.example:" + port},
		{"localhost:1", "null", "localhost:1", "null"},
	} {
		const sent = `{ "jsonrpc":"2.0" ,"id":1}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, shim.URL+"/a/b?c=d", strings.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = tc.host
		req.Header.Set("Mcp-Method", "ping")
		if tc.origin != "" {
			req.Header.Set("Origin", tc.origin)
		}
		resp, err := shim.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got.Host != tc.wantHost || got.Header.Get("Origin") != tc.wantOrigin {
			t.Errorf("%+v: Host %q, Origin %q", tc, got.Host, got.Header.Get("Origin"))
		}
		if resp.StatusCode != http.StatusTeapot || body != sent || got.URL.String() != "/a/b?c=d" || got.Method != http.MethodPost ||
			got.Header.Get("Authorization") != "Bearer s3cret" || got.Header.Get("Mcp-Method") != "ping" || got.Header.Get("X-Forwarded-For") != "" {
			t.Errorf("%+v: %d, %s %s %q, %v", tc, resp.StatusCode, got.Method, got.URL, body, got.Header)
		}
	}
}
