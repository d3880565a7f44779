package transport_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// T7, field case 34, acceptance 35.
func TestRedirects(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	for name, c := range map[string]struct {
		status   int
		location string // $self and $other are origins
		followed bool
		origin   string
	}{
		"307 within":             {307, "/mcp/", true, ""},
		"308 within":             {308, "docs/1?x=1", true, ""},
		"308 absolute":           {308, "$self/mcp/", true, ""},
		"307 in another case":    {307, "HTTP://LOCALHOST:$port/mcp/", false, "http://localhost:$port"},
		"307 to another port":    {307, "$other/mcp", false, "$other"},
		"308 to https":           {308, "https://127.0.0.1:$port/mcp", false, "https://127.0.0.1:$port"},
		"301 within":             {301, "/mcp/", false, "$self"},
		"302":                    {302, "$other/login?next=secret", false, "$other"},
		"303":                    {303, "https://user:secret@example.com/", false, "https://example.com:443"},
		"307 without a location": {307, "", false, ""},
		"307 to no URL":          {307, "http://%zz", false, ""},
		"307 to another scheme":  {307, "file:///etc/passwd", false, ""},
		"304":                    {304, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var seen seenRequests
			var self string
			url := handler(t, func(w http.ResponseWriter, r *http.Request, body string) {
				seen.add(r, body)
				if r.URL.Path == "/mcp" {
					if c.location != "" {
						w.Header().Set("Location", expand(c.location, self, other.URL))
					}
					w.WriteHeader(c.status)
					return
				}
				writeJSON(w, reply(body, `{}`))
			})
			self = strings.TrimSuffix(url, "/mcp")
			w := openWeb(t, transport.HTTPConfig{URL: url, Headers: []transport.Header{{Name: "Authorization", Value: "Bearer x"}}})
			w.conn.Adopt(mcp.V20260728)
			if c.followed {
				w.call("m", `{"a":1}`)
				reqs := seen.all()
				if len(reqs) != 2 || reqs[1].HTTPMethod != "POST" || reqs[1].Body != reqs[0].Body || reqs[1].Header.Get("Authorization") != "Bearer x" {
					t.Errorf("requests %v", reqs)
				}
				return
			}
			e := w.fails("m", "")
			if want := expand(c.origin, self, other.URL); e.Code != transport.RedirectRefused || e.Status != c.status || e.Location != want {
				t.Errorf("failed with %v to %q, want %q", e, e.Location, want)
			}
			if len(seen.all()) != 1 {
				t.Errorf("requests %v", seen.all())
			}
		})
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("another origin got %d requests", n)
	}
}

func expand(s, self, other string) string {
	port := self[strings.LastIndexByte(self, ':')+1:]
	return strings.NewReplacer("$self", self, "$other", other, "$port", port).Replace(s)
}

// Hops are bounded.
func TestRedirectLoop(t *testing.T) {
	var n atomic.Int32
	url := handler(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		n.Add(1)
		w.Header().Set("Location", "/mcp")
		w.WriteHeader(307)
	})
	w := openWeb(t, transport.HTTPConfig{URL: url})
	if e := w.fails("m", ""); e.Code != transport.RedirectRefused || e.Status != 307 || n.Load() != 6 {
		t.Errorf("failed with %v after %d requests", e, n.Load())
	}
}
