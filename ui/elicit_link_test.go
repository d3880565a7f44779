package ui

import (
	"strings"
	"testing"
)

// Field case 65; elicitation, safe URL handling.
func TestLinksAreJudged(t *testing.T) {
	for _, c := range []struct {
		url, host string
		warnings  []string // a part of each
		refusal   string
	}{
		{"https://mcp.example.com/ui/set_api_key?x=1", "mcp.example.com", nil, ""},
		{"https://MCP.Example.com:8443/", "mcp.example.com:8443", nil, ""},
		{"http://127.0.0.1:8080/cb", "127.0.0.1:8080", nil, ""},
		{"http://[::1]:8080/cb", "[::1]:8080", nil, ""},
		{"http://localhost/cb", "localhost", nil, ""},
		{"http://localhost.evil.example/", "localhost.evil.example", nil, "plain http"},
		{"http://example.com/", "example.com", nil, "plain http"},
		{"file:///etc/passwd", "", nil, "not a web address"},
		{"javascript:alert(1)", "", nil, "not a web address"},
		{"https:example.com", "", nil, "names no host"},
		{"https:///path", "", nil, "names no host"},
		{"https://Xn--/", "xn--", []string{"foreign letters"}, ""},
		{"https://:443/", "", nil, "names no host"},
		{"//example.com/", "example.com", nil, "not a web address"},
		{"", "", nil, "not a web address"},
		{"https://user@evil.example:443@good.example/", "good.example", []string{"before the @"}, ""},
		{"https://good.example@evil.example/", "evil.example", []string{"before the @"}, ""},
		{"https://good.example\\@evil.example/", "", nil, "not a valid address"},
		{"https://xn--pple-43d.com/", "xn--pple-43d.com", []string{"xn--pple-43d.com, which reads аpple.com"}, ""},
		{"https://аpple.com/", "xn--pple-43d.com", []string{"foreign letters"}, ""},
		{"  https://ok.example", "ok.example", []string{"spaces around"}, ""},
		{"https://ok.example/\u202egnp.exe", "ok.example", []string{"hidden characters"}, ""},
		{"https://ok.example/a\x00b", "", []string{"hidden characters"}, "not a valid address"},
		{"https://ok.example/" + strings.Repeat("a", 20<<10), "ok.example", []string{"unusually long: 20,499 bytes"}, ""},
		{"https://ok.example/" + strings.Repeat("a", 40<<10), "ok.example", []string{"unusually long"}, "too long"},
		{"https://my_host.example/", "my_host.example", nil, ""},
	} {
		l := readLink(c.url)
		name := c.url[:min(len(c.url), 60)]
		if l.host != c.host {
			t.Errorf("%q: host %q, want %q", name, l.host, c.host)
		}
		if (l.refusal == "") != (c.refusal == "") || !strings.Contains(l.refusal, c.refusal) || (l.target == nil) != (l.refusal != "") {
			t.Errorf("%q: refused with %q, want %q", name, l.refusal, c.refusal)
		}
		if len(l.warnings) != len(c.warnings) {
			t.Errorf("%q: warnings %q", name, l.warnings)
			continue
		}
		for i, w := range c.warnings {
			if !strings.Contains(l.warnings[i], w) {
				t.Errorf("%q: warning %q, want %q", name, l.warnings[i], w)
			}
		}
	}
}

func FuzzReadLink(f *testing.F) {
	for _, s := range []string{"https://a.example/", "http://127.0.0.1", "https://user@evil.example:443@good.example/", "https://xn--pple-43d.com", "javascript:alert(1)", "https://[::1%25eth0]/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		l := readLink(raw)
		if (l.target == nil) == (l.refusal == "") {
			t.Fatalf("neither opened nor refused: %+v", l)
		}
		if l.target != nil && (l.target.Host == "" || l.host == "" || l.target.Scheme != "https" && !loopback(l.target.Hostname())) {
			t.Fatalf("%q may be opened: %+v", raw, l)
		}
	})
}
