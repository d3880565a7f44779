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
