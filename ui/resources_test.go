package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// library is a hub with one server that has some resources.
func library() *fakeHub {
	snap := town(noon)
	s := snap.Servers[0]
	s.Subscribes, s.Completes, s.Resources, s.ResourcesRev = true, true, 3, 1
	h := newFakeHub(snap)
	h.resources = map[string][]hub.Resource{"github": {
		{URI: "demo://clock", Name: "clock", Title: "A clock", Description: "The time.", MIME: "text/plain", Size: 20},
		{URI: "demo://odd\u202e", Name: "odd", Size: -1},
		{Name: "none", Oddity: "The resource has no URI.", Size: -1},
		{URI: "demo://notes/{name}{?tag}", Template: true, Vars: []hub.Var{{Name: "name"}, {Name: "tag", Optional: true}}, Name: "notes", Size: -1},
	}}
	return h
}

// inResources opens the tab of a library.
func inResources(t *testing.T, h *fakeHub) (*stage, *resourcesTab, fyne.Window) {
	t.Helper()
	s := newStage(t, h, atNoon)
	s.q.until(t, "a server is chosen", func() bool { return s.main.detail.shown != nil })
	s.main.detail.tabs.SelectIndex(2)
	return s, s.main.detail.resources, s.main.win
}

// again shows the server with what the hub now has.
func (s *stage) again(change func(*hub.Server)) {
	next := *s.main.detail.shown
	change(&next)
	s.main.detail.update(&next)
}

func TestResourcesAreListedFilteredAndRead(t *testing.T) {
	h := library()
	h.read = func(_ context.Context, uri string) (*hub.Outcome, error) {
		return &hub.Outcome{Content: []hub.Content{
			{Type: "resource", URI: uri, MIME: "text/plain", Text: "twelve o'clock"},
			{Type: "resource", URI: uri, MIME: "image/png; q=1", Data: pngOf(t, 8, 8)},
			{Type: "resource", URI: uri, MIME: "application/zip", Data: []byte("PK")},
		}}, nil
	}
	s, tab, w := inResources(t, h)
	wantTexts(t, tab.object(), "A clock", "demo://odd⟨U+202E⟩", "Cannot be used: The resource has no URI.")
	tab.list.Select(0)
	wantTexts(t, tab.object(), "A clock", "The time.", "text/plain · 20 bytes", "demo://clock")
	test.Tap(tab.page.panel.callB)
	s.q.until(t, "the result", func() bool {
		return strings.Contains(labels(tab.object()), "Success") && !strings.Contains(labels(tab.object()), "…\n") && len(all[*canvas.Image](w.Content())) > 0
	})
	if !slices.Equal(h.reads, []string{"demo://clock"}) {
		t.Errorf("read %q", h.reads)
	}
	if got := texts(w); !strings.Contains(got, "twelve o'clock") || !strings.Contains(got, "application/zip · 2 bytes") {
		t.Errorf("the result says:\n%s", got)
	}
	shot(t, w, "resource")
	tab.list.Select(2)
	if tab.page.panel != nil || tab.page.line.box.Visible() && len(all[*tick](tab.pane)) > 0 {
		t.Error("a resource without a URI can be read")
	}
	test.Type(tab.filter, "NOTES")
	if len(tab.shown) != 1 || tab.shown[0].name != "notes" {
		t.Errorf("the filter left %+v", tab.shown)
	}
	s.main.list.choose("none")
	wantTexts(t, tab.object(), "This server offers no resources.")
}

// RFC 6570: a template is filled in, the server completes it (server/utilities/
// completion), and what it becomes is shown before it is read.
func TestTemplateIsFilledInAndCompleted(t *testing.T) {
	h := library()
	h.complete = func(_ context.Context, c hub.Completing) ([]string, error) {
		return slices.DeleteFunc([]string{"bread", "bridge", "br\u202e"}, func(v string) bool { return !strings.HasPrefix(v, c.Value) }), nil
	}
	s, tab, w := inResources(t, h)
	tab.list.Select(3)
	p := tab.page
	test.Tap(p.panel.callB)
	if len(h.reads) > 0 || !strings.Contains(texts(w), "This is required") {
		t.Fatalf("an incomplete template was read, or nothing says what is missing:\n%s", texts(w))
	}
	name, tag := p.args.fields[0], p.args.fields[1]
	test.Type(tag.entry, "a b")
	test.Type(name.entry, "br")
	s.q.until(t, "three offers", func() bool { return len(name.offers.values) == 3 })
	s.hub.mu.Lock()
	last := h.asked[len(h.asked)-1]
	s.hub.mu.Unlock()
	if last.Template != "demo://notes/{name}{?tag}" || last.Argument != "name" || last.Value != "br" || len(last.Others) != 1 || last.Others["tag"] != "a b" {
		t.Errorf("asked %+v", last)
	}
	chips := all[*chip](name.offers.box)
	if len(chips) != 3 || chips[2].text != "br⟨U+202E⟩" { // A7
		t.Fatalf("%d chips, the last %q", len(chips), chips[len(chips)-1].text)
	}
	shot(t, w, "template")
	test.Tap(chips[0])
	if name.entry.Text != "bread" || p.uri.Text != "demo://notes/bread?tag=a%20b" {
		t.Errorf("%q, %q", name.entry.Text, p.uri.Text)
	}
	for _, want := range []string{"bridge", "br\u202e", "bread"} { // by keys, around
		name.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
		if name.entry.Text != want {
			t.Errorf("Down writes %q, not %q", name.entry.Text, want)
		}
	}
	name.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
	name.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
	name.entry.TypedShortcut(sendShortcuts()[0])
	s.q.until(t, "it is read", func() bool { return p.panel.shown != nil })
	if !slices.Equal(h.reads, []string{"demo://notes/bridge?tag=a%20b"}) {
		t.Errorf("read %q", h.reads)
	}
}

// A server that cannot complete, or no longer does, offers nothing.
func TestOffersThatAreNotThere(t *testing.T) {
	h := library()
	h.complete = func(_ context.Context, c hub.Completing) ([]string, error) {
		switch c.Value {
		case "a":
			return []string{"ab", "ac"}, nil
		case "only":
			return []string{"only"}, nil
		}
		return nil, errors.New("no")
	}
	s, tab, _ := inResources(t, h)
	tab.list.Select(3)
	f := tab.page.args.fields[0]
	f.entry.SetText("a")
	s.q.until(t, "two offers", func() bool { return len(f.offers.values) == 2 && f.offers.box.Visible() })
	f.entry.SetText("a!")
	s.q.until(t, "no offers", func() bool { return len(f.offers.values) == 0 && !f.offers.box.Visible() })
	f.entry.SetText("a")
	s.q.until(t, "two offers", func() bool { return len(f.offers.values) == 2 })
	f.entry.SetText("only") // what is written already is no offer
	s.q.until(t, "no offers", func() bool { return len(f.offers.values) == 0 })
	if f.offers.step(1) {
		t.Error("Down took an offer that is not there")
	}
	// Without the capability nothing is asked.
	asked := len(h.asked)
	s.again(func(v *hub.Server) { v.Name, v.Completes = "other", false })
	h.resources["other"] = h.resources["github"]
	s.again(func(v *hub.Server) { v.ResourcesRev++ })
	tab.list.Select(3)
	tab.page.args.fields[0].entry.SetText("a")
	if tab.page.args.fields[0].offers.ask != nil || len(h.asked) != asked {
		t.Error("a server without completions was asked")
	}
}

// A followed resource is marked when it was updated, in the list and beside Read.
func TestFollowedResourceIsMarked(t *testing.T) {
	h := library()
	s, tab, w := inResources(t, h)
	tab.list.Select(0)
	p := tab.page
	test.Tap(p.line.tick)
	s.q.until(t, "the wish", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.Equal(h.wishes, []string{"demo://clock true"})
	})
	h.follows = map[string][]hub.Follow{"github": {{URI: "demo://clock"}, {URI: "demo://notes/x", Updated: noon}}}
	s.again(func(v *hub.Server) { v.FollowsRev++ })
	if tab.page != p || !p.line.tick.Checked || tab.shown[0].mark != "Followed" {
		t.Errorf("checked %v, %+v", p.line.tick.Checked, tab.shown[0])
	}
	// What is followed and not listed can be found.
	if last := tab.shown[len(tab.shown)-1]; last.name != "demo://notes/x" || last.mark != "Updated" {
		t.Errorf("last %+v", last)
	}
	h.follows["github"][0].Updated = noon.Add(time.Second)
	s.again(func(v *hub.Server) { v.FollowsRev++ })
	if !strings.Contains(p.line.says.Text, "Updated at") || tab.shown[0].mark != "Updated" {
		t.Errorf("it says %q, %+v", p.line.says.Text, tab.shown[0])
	}
	shot(t, w, "resource-updated")
	// A filled in template finds the state of what it has become.
	tab.list.Select(3)
	tab.page.line.tick.Refresh()
	if !tab.page.line.tick.Disabled() {
		t.Error("a template that lacks something can be followed")
	}
	test.Type(tab.page.args.fields[0].entry, "x")
	if !tab.page.line.tick.Checked || tab.page.line.tick.Disabled() || !strings.Contains(tab.page.line.says.Text, "Updated") {
		t.Errorf("the template says %q", tab.page.line.says.Text)
	}
	// A refusal is said in words, and the switch is off.
	const refused = "The server does not announce changes of this resource."
	h.follows["github"] = []hub.Follow{{URI: "demo://clock", Problem: refused}, {URI: "demo://notes/x", Problem: refused}}
	s.again(func(v *hub.Server) { v.FollowsRev++ })
	if len(tab.shown) != 4 {
		t.Errorf("what is neither listed nor followed is shown: %+v", tab.shown)
	}
	tab.list.Select(0)
	if l := tab.page.line; l.tick.Checked || !strings.Contains(l.says.Text, "does not announce") {
		t.Errorf("checked %v, %q", l.tick.Checked, l.says.Text)
	}
	s.again(func(v *hub.Server) { v.Subscribes = false; v.FollowsRev++ })
	if tab.page.line.box.Visible() {
		t.Error("a server that announces nothing can be followed")
	}
}
