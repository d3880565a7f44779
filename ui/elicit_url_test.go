package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"github.com/google/go-cmp/cmp"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

func urlQuestion(address string) *hub.Question {
	q := formQuestion("1")
	q.URLMode, q.Schema, q.URL, q.Message = true, nil, address, "Sign in to go on."
	return q
}

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

func TestURLIsOpenedOnlyByThePersonAndThenWaitedFor(t *testing.T) {
	s := asking(t, urlQuestion("https://mcp.example.com/connect?state=abc"))
	s.ready(t)
	shot(t, s.asker.win, "url")
	for _, want := range []string{"mcp.example.com", "https://mcp.example.com/connect?state=abc", "Sign in to go on."} {
		if !strings.Contains(texts(s.asker.win), want) {
			t.Errorf("%q is not shown", want)
		}
	}
	u := s.asker.asked.body.(*askURL)
	for _, k := range []fyne.KeyName{fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter} {
		u.openB.TypedKey(&fyne.KeyEvent{Name: k})
		u.doneB.TypedKey(&fyne.KeyEvent{Name: k})
	}
	s.asker.asked.shortcut(sendShortcuts()[0])
	s.q.drain()
	if len(s.opened()) != 0 || len(s.hub.given()) != 0 {
		t.Fatal("a key opened the address or answered")
	}
	if u.after.Visible() {
		t.Error("Done is offered before anything was opened")
	}
	test.Tap(u.openB)
	s.q.until(t, "the browser opens", func() bool { return len(s.opened()) == 1 })
	if !u.after.Visible() || u.before.Visible() || !u.state.Visible() {
		t.Error("nothing says that it waits")
	}
	s.asker.win.Resize(s.asker.win.Canvas().Size())
	shot(t, s.asker.win, "url-waiting")
	test.Tap(u.againB)
	s.q.until(t, "it is opened again", func() bool { return len(s.opened()) == 2 })
	test.Tap(u.doneB)
	want := []given{{"1", hub.Answer{Action: hub.Opened}}, {"1", hub.Answer{Action: hub.Opened}}, {"1", hub.Answer{Action: "accept"}}}
	if d := cmp.Diff(want, s.hub.given()); d != "" {
		t.Error(d)
	}
	if got := s.opened()[0]; got != "https://mcp.example.com/connect?state=abc" {
		t.Errorf("opened %s", got)
	}
}

func TestWaitingComesBackWithTheSnapshot(t *testing.T) {
	q := urlQuestion("https://mcp.example.com/")
	q.Opened = true
	s := asking(t, q)
	s.ready(t)
	u := s.asker.asked.body.(*askURL)
	if !u.after.Visible() || u.before.Visible() {
		t.Error("a question that was opened does not wait")
	}
	test.Tap(u.cancelB)
	if d := cmp.Diff([]given{{"1", hub.Answer{Action: "cancel"}}}, s.hub.given()); d != "" {
		t.Error(d)
	}
}

func TestUnsafeURLCanOnlyBeDeclined(t *testing.T) {
	s := asking(t, urlQuestion("javascript:alert(1)"))
	s.ready(t)
	shot(t, s.asker.win, "url-refused")
	u := s.asker.asked.body.(*askURL)
	if u.openB.Visible() {
		t.Error("Open is offered")
	}
	u.openIt()
	if len(s.hub.given()) != 0 {
		t.Error("it was opened")
	}
	test.Tap(u.declineB)
	if d := cmp.Diff([]given{{"1", hub.Answer{Action: "decline"}}}, s.hub.given()); d != "" {
		t.Error(d)
	}
}

func TestLongSuspiciousURLIsShownWhole(t *testing.T) {
	long := "https://user@xn--pple-43d.com/" + strings.Repeat("a", 5000) + "END"
	s := asking(t, urlQuestion(long))
	s.ready(t)
	shot(t, s.asker.win, "url-suspicious")
	if !slices.ContainsFunc(all[*textList](s.asker.win.Content()), func(l *textList) bool { return strings.Join(l.rows, "") == long }) {
		t.Errorf("the address is not shown whole:\n%s", texts(s.asker.win))
	}
	size := s.asker.win.Canvas().Size()
	u := s.asker.asked.body.(*askURL)
	if at := fyne.CurrentApp().Driver().AbsolutePositionForObject(u.openB); at.Y > size.Height || size.Height > 720 {
		t.Errorf("Open is at %v of %v", at, size)
	}
}

func TestBrowserThatDoesNotOpenIsSaid(t *testing.T) {
	s := asking(t, urlQuestion("https://mcp.example.com/"))
	s.openErr = errors.New("no browser")
	s.ready(t)
	u := s.asker.asked.body.(*askURL)
	test.Tap(u.openB)
	s.q.until(t, "the trouble is said", func() bool { return u.trouble.Visible() })
	if !strings.Contains(u.trouble.Text, "Copy the address") {
		t.Error(u.trouble.Text)
	}
}
