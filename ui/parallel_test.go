package ui

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// T5: the row and the overview offer parallel calls where calls have waited; the
// person is told what it means and has three answers.
func TestParallelCallsAreOffered(t *testing.T) {
	press := func(o fyne.CanvasObject, label string) {
		t.Helper()
		for _, b := range all[*widget.Button](o) {
			if b.Text == label {
				test.Tap(b)
				return
			}
		}
		t.Fatalf("no button %q in:\n%s", label, labels(o))
	}
	for _, c := range []struct {
		answer string
		want   []hub.ActionKind
	}{
		{"Allow parallel calls", []hub.ActionKind{hub.AllowParallel}},
		{"Keep one at a time", []hub.ActionKind{hub.KeepSerial}},
		{"Decide later", nil},
	} {
		snap := town(noon)
		v := snap.Servers[0]
		v.Health.Concurrency, v.Health.Cap, v.Health.Queued = "serialized", 1, 3
		h := newFakeHub(snap)
		s := newStage(t, h, atNoon)
		s.q.until(t, "a server is chosen", func() bool { return s.main.detail.shown != nil })
		if s.main.detail.overview.parallel.Visible() {
			t.Error("it is offered where nobody waited")
		}
		offered := *v
		offered.Action = hub.Action{Kind: hub.AllowParallel, Label: "Allow parallel calls"}
		next := *snap
		next.Servers = append([]*hub.Server{&offered}, snap.Servers[1:]...)
		h.publish(&next)
		s.q.until(t, "the offer", func() bool { return s.main.detail.overview.parallel.Visible() })
		shot(t, s.main.win, "parallel-offer")
		if c.want == nil {
			press(s.main.list.object(), "Allow parallel calls")
		} else {
			test.Tap(s.main.detail.overview.parallel)
		}
		over := s.main.win.Canvas().Overlays().Top()
		if over == nil {
			t.Fatal("nothing is asked")
		}
		wantTexts(t, over, "The server reconnects")
		shot(t, s.main.win, "parallel-dialog")
		press(over, c.answer)
		if s.main.win.Canvas().Overlays().Top() != nil {
			t.Error("the question stays")
		}
		s.UI.Close() // waits for what runs
		if !slices.Equal(h.actions, c.want) {
			t.Errorf("%s: did %v", c.answer, h.actions)
		}
	}
}
