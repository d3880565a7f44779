package ui

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// prompter is a hub with one server that has some prompts, with their tab open.
func prompter(t *testing.T) (*stage, *promptsTab, fyne.Window) {
	t.Helper()
	snap := town(noon)
	snap.Servers[0].Completes, snap.Servers[0].Prompts, snap.Servers[0].PromptsRev = true, 3, 1
	h := newFakeHub(snap)
	h.prompts = map[string][]hub.Prompt{"github": {
		{Name: "plan", Title: "Plan a trip", Description: "Asks for a plan.", Arguments: []hub.Argument{
			{Name: "city", Title: "City", Description: "Where to go", Required: true}, {Name: "days"},
		}},
		{Name: "hello"},
		{Title: "Nameless", Oddity: "The prompt has no name."},
		{Name: "odd\u202e", Oddity: "One of its arguments has no name."},
	}}
	s := newStage(t, h, atNoon)
	s.q.until(t, "a server is chosen", func() bool { return s.main.detail.shown != nil })
	s.main.detail.tabs.SelectIndex(3)
	return s, s.main.detail.prompts, s.main.win
}

// A prompt is completed, got, and its messages are shown with who speaks.
func TestPromptIsFilledInAndGot(t *testing.T) {
	s, tab, w := prompter(t)
	s.hub.complete = func(context.Context, hub.Completing) ([]string, error) { return []string{"Lima", "Lisbon"}, nil }
	s.hub.prompt = func(context.Context, string, json.RawMessage) (*hub.Outcome, error) {
		return &hub.Outcome{Content: []hub.Content{
			{Role: "user", Type: "text", Text: "Plan a trip to Lima."},
			{Role: "assistant", Type: "text", Text: "Gladly."},
			{Role: "user", Type: "image", MIME: "image/png", Data: pngOf(t, 8, 8)},
		}}, nil
	}
	wantTexts(t, tab.object(), "plan", "Plan a trip", "hello", "The prompt has no name.", "odd⟨U+202E⟩")
	tab.list.Select(0)
	wantTexts(t, tab.object(), "Asks for a plan.", "City", "Where to go", "required", "days", "optional")
	test.Tap(tab.panel.callB)
	if len(s.hub.called()) != 0 || !strings.Contains(labels(w.Content()), "This is required") {
		t.Fatalf("an incomplete prompt was asked for, or nothing says what is missing:\n%s", texts(w))
	}
	f := tab.args.fields[0]
	w.Canvas().Focus(f.entry) // offers come before the first letter
	s.q.until(t, "the offers", func() bool { return len(f.offers.values) == 2 })
	if c := s.hub.asked[0]; c.Prompt != "plan" || c.Template != "" || c.Argument != "city" || c.Value != "" {
		t.Errorf("asked %+v", c)
	}
	f.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	f.entry.TypedShortcut(sendShortcuts()[0])
	s.q.until(t, "the messages", func() bool {
		return tab.panel.shown != nil && !strings.Contains(labels(tab.object()), "…\n")
	})
	if got := s.hub.called(); len(got) != 1 || string(got[0]) != `{"city":"Lima"}` {
		t.Errorf("sent %s", got)
	}
	got := texts(w)
	for _, word := range []string{"User\n", "Plan a trip to Lima.", "Assistant\n", "Gladly."} {
		if !strings.Contains(got, word) {
			t.Errorf("%q is missing:\n%s", word, got)
		}
	}
	shot(t, w, "prompt")
}

// A prompt without arguments says so; one without a name cannot be got; what is open
// stays while the list is fetched again unchanged, and goes when it changes.
func TestPromptsThatAreOdd(t *testing.T) {
	s, tab, _ := prompter(t)
	tab.list.Select(1)
	wantTexts(t, tab.object(), "takes no arguments")
	test.Tap(tab.panel.callB)
	s.q.until(t, "it is got", func() bool { return tab.panel.shown != nil })
	if got := s.hub.called(); len(got) != 1 || string(got[0]) != `{}` {
		t.Errorf("sent %s", got)
	}
	before := tab.panel
	s.again(func(v *hub.Server) { v.PromptsRev++ })
	if tab.panel != before {
		t.Error("the open prompt was thrown away")
	}
	s.hub.prompts["github"] = slices.Clone(s.hub.prompts["github"])
	s.hub.prompts["github"][1].Description = "changed"
	s.again(func(v *hub.Server) { v.PromptsRev++ })
	if tab.panel == before {
		t.Error("a changed prompt was kept")
	}
	wantTexts(t, tab.object(), "changed")
	tab.list.Select(2)
	if tab.panel != nil {
		t.Error("a prompt without a name can be got")
	}
	tab.list.Select(3)
	wantTexts(t, tab.object(), "One of its arguments has no name.")
	if tab.panel == nil {
		t.Error("an odd prompt cannot be got")
	}
	test.Type(tab.filter, "trip")
	if len(tab.shown) != 1 || tab.shown[0].key != "plan" {
		t.Errorf("the filter left %+v", tab.shown)
	}
	s.main.list.choose("none")
	wantTexts(t, tab.object(), "This server offers no prompts.")
}
