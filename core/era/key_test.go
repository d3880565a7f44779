package era

import (
	"errors"
	"strings"
	"testing"
)

// E4, acceptance 10 to 12: origin with an explicit port, and the path or "/".
func TestURLKeyIsOriginAndPath(t *testing.T) {
	for raw, want := range map[string]Key{
		"https://example.com/mcp":                                 {origin: "https://example.com:443", path: "/mcp"},
		"https://user:hunter2@EXAMPLE.com/mcp?token=hunter2#frag": {origin: "https://example.com:443", path: "/mcp"},
		"HTTPS://example.com:443/mcp":                             {origin: "https://example.com:443", path: "/mcp"},
		"https://example.com":                                     {origin: "https://example.com:443", path: "/"},
		"https://example.com?x":                                   {origin: "https://example.com:443", path: "/"},
		"https://example.com:8443/":                               {origin: "https://example.com:8443", path: "/"},
		"https://example.com:08443/":                              {origin: "https://example.com:8443", path: "/"},
		"http://localhost/a%2Fb":                                  {origin: "http://localhost:80", path: "/a%2Fb"},
		"http://localhost/a/b/":                                   {origin: "http://localhost:80", path: "/a/b/"},
		"http://[::1]:9000/mcp":                                   {origin: "http://[::1]:9000", path: "/mcp"},
		"http://[0:0:0:0:0:0:0:1]:9000/mcp":                       {origin: "http://[::1]:9000", path: "/mcp"},
		"http://[fe80::1%25eth0]/":                                {origin: "http://[fe80::1%eth0]:80", path: "/"},
		"https://m\u00fcnchen.example/":                           {origin: "https://xn--mnchen-3ya.example:443", path: "/"},
		"https://xn--mnchen-3ya.example/":                         {origin: "https://xn--mnchen-3ya.example:443", path: "/"},
		"https://example.com/\u00e9":                              {origin: "https://example.com:443", path: "/%C3%A9"},
		"https://example.com/mcp?a=/../%3F#%23":                   {origin: "https://example.com:443", path: "/mcp"},
		"https://my_host.internal/":                               {origin: "https://my_host.internal:443", path: "/"},
		"https://example.com:/mcp":                                {origin: "https://example.com:443", path: "/mcp"},
		"http://127.0.0.1:1/":                                     {origin: "http://127.0.0.1:1", path: "/"},
		"https://example.com/.well-known/a@b;c":                   {origin: "https://example.com:443", path: "/.well-known/a@b;c"},
	} {
		got, err := URLKey(raw)
		if err != nil || got != want {
			t.Errorf("URLKey(%q) = %+v, %v", raw, got, err)
		}
		origin, err := OriginOf(raw)
		if err != nil || origin != want.origin {
			t.Errorf("OriginOf(%q) = %q, %v", raw, origin, err)
		}
	}
}

// T6: the error for a bad URL holds nothing of it.
func TestBadURLIsRefusedWithoutItsText(t *testing.T) {
	for _, raw := range []string{
		"", "/hunter2", "hunter2", "ftp://hunter2/", "https://", "https:hunter2", "https:///hunter2", "https://:443/hunter2",
		"https://hunter2:0/", "https://hunter2:65536/", "https://hunter2:x/", "https://[hunter2]/", "https://hunter2\n/", "https://hun ter2/",
		"https://hunter2%zz/", "http://[::1%25hunter2%40x]/", "http://[::1%25hunter2%0a]/", "https://hunter2%E2%80%AE\"/", "://hunter2", "https://hunter2<>/",
	} {
		_, err := URLKey(raw)
		_, errOrigin := OriginOf(raw)
		if !errors.Is(err, ErrURL) || !errors.Is(errOrigin, ErrURL) {
			t.Errorf("%q: %v, %v", raw, err, errOrigin)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error repeats it: %v", raw, err)
		}
	}
}

// Acceptance 10: neither secret appears in what is shown; a path may be an account's.
func TestKeyIsSafeToShow(t *testing.T) {
	k, err := URLKey("https://user:hunter2@example.com/s/hunter2/mcp?token=hunter2#hunter2")
	if err != nil || k.String() != "https://example.com:443/…" {
		t.Errorf("%q, %v", k, err)
	}
	k, err = URLKey("https://example.com?token=hunter2")
	if err != nil || k.String() != "https://example.com:443/" {
		t.Errorf("%q, %v", k, err)
	}
	if s := SpecKey("sha256-abc").String(); s != "sha256-abc" {
		t.Errorf("%q", s)
	}
}

func FuzzURLKey(f *testing.F) {
	for _, s := range []string{
		"https://user:pw@Example.com:8443/mcp?token=x#f", "http://[fe80::1%25eth0]:80/", "https://example.com", "http://h/%2f%3f%23@",
		"https://\u212a.example/", "http://0x7f.1/", "https://xn--a/", "http://h:00080//", "http://[::ffff:1.2.3.4]/", "https://\u00df.de/\u202e",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		k, err := URLKey(raw)
		origin, errOrigin := OriginOf(raw)
		if err != nil {
			if err != ErrURL || errOrigin != ErrURL || k != (Key{}) || origin != "" {
				t.Fatalf("%v, %v, %+v, %q", err, errOrigin, k, origin)
			}
			return
		}
		if errOrigin != nil || origin != k.origin {
			t.Fatalf("origin %q, %v, but key %+v", origin, errOrigin, k)
		}
		scheme, host, _ := strings.Cut(k.origin, "://")
		if scheme != "http" && scheme != "https" || strings.ContainsAny(host, "@/?# \t\r\n") || !strings.Contains(host, ":") {
			t.Errorf("origin %q", k.origin)
		}
		if k.path[0] != '/' || strings.ContainsAny(k.path, "?# \t\r\n") {
			t.Errorf("path %q", k.path)
		}
		again, err := URLKey(strings.Replace(k.origin, "%", "%25", 1) + k.path)
		if err != nil || again != k {
			t.Errorf("%+v became %+v, %v", k, again, err)
		}
	})
}
