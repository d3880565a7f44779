package ui

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

func call(id string) *hub.Ask {
	return &hub.Ask{
		ID: id, Client: "editor", Server: "files", Tool: "delete_file", Title: "Delete a file",
		Hints: []string{"claims: destructive"}, Arguments: json.RawMessage(`{"path":"/tmp/\u202egnp.exe","deep":{"n":9007199254740993}}`),
		Why: "You have not decided about this tool yet.", Until: time.Date(2026, 1, 1, 12, 5, 0, 0, time.UTC),
	}
}

func waiting(t *testing.T, asks ...*hub.Ask) *stage {
	s := newStage(t, newFakeHub(&hub.Snapshot{Asks: asks}))
	s.q.until(t, "a call is in sight", func() bool { return s.approver.shown != nil })
	return s
}

// decidable opens the guard, as if its time had passed.
func (s *stage) decidable(t *testing.T) {
	t.Helper()
	openGuard(t, s.approver.shown.guard)
}

// A person sees who calls what with which bytes, and each button gives its decision (S7,
// A2, A7).
func TestApprovalShowsTheCallAndDecides(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*approvalView)
		want string
	}{
		"deny":   {func(v *approvalView) { test.Tap(v.denyButton) }, "1 deny window"},
		"once":   {func(v *approvalView) { test.Tap(v.once) }, "1 once window"},
		"always": {func(v *approvalView) { v.allow(hub.AllowAlways) }, "1 always window"},
		"escape": {func(v *approvalView) { v.key(&fyne.KeyEvent{Name: fyne.KeyEscape}) }, "1 deny window"},
	} {
		t.Run(name, func(t *testing.T) {
			s := waiting(t, call("1"), call("2"))
			s.decidable(t)
			shot(t, s.approver.win, "approval")
			for _, want := range []string{"editor", "files", "delete_file", "Delete a file", "claims: destructive", "not decided", "1 of 2", "9007199254740993"} {
				if !strings.Contains(texts(s.approver.win), want) {
					t.Errorf("the window does not say %q:\n%s", want, texts(s.approver.win))
				}
			}
			v := s.approver.shown
			c.do(v)
			c.do(v) // a second press counts for nothing
			s.q.until(t, "it is decided", func() bool { return len(s.hub.decided()) > 0 })
			if got := s.hub.decided(); !slices.Equal(got, []string{c.want}) {
				t.Errorf("got %q", got)
			}
			if s.approver.shown == nil || s.approver.shown.ask.ID != "2" {
				t.Error("the next call is not shown")
			}
		})
	}
}

// A8, field case 101: no key and no press decides before the guard is open, and no key
// ever allows by itself.
func TestNoKeyAllowsACall(t *testing.T) {
	s := waiting(t, call("1"))
	v := s.approver.shown
	test.Tap(v.once)
	v.key(&fyne.KeyEvent{Name: fyne.KeyEscape})
	for _, sc := range sendShortcuts() {
		v.shortcut(sc)
	}
	s.decidable(t)
	for _, k := range []fyne.KeyName{fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter, fyne.KeyY} {
		v.key(&fyne.KeyEvent{Name: k})
		v.once.TypedKey(&fyne.KeyEvent{Name: k})
		v.more.TypedKey(&fyne.KeyEvent{Name: k})
	}
	if got := s.hub.decided(); len(got) != 0 {
		t.Errorf("decided %q", got)
	}
}

// Field case 109: a call that is gone takes its window along.
func TestACallThatIsGoneVanishes(t *testing.T) {
	s := waiting(t, call("1"))
	s.hub.publish(&hub.Snapshot{})
	s.q.until(t, "the window is gone", func() bool { return s.approver.win == nil })
}
