package ui

import (
	"slices"

	"fyne.io/fyne/v2"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// resourcesTab lists a server's resources and templates, reads them, and shows
// which of them have changed.
type resourcesTab struct {
	*catalog
	u         *UI
	win       fyne.Window
	server    *hub.Server
	resources []hub.Resource
	follows   map[string]hub.Follow

	page *resourcePage // the open one
}

func newResourcesTab(u *UI, win fyne.Window) *resourcesTab {
	t := &resourcesTab{u: u, win: win, catalog: newCatalog("resources", "Choose a resource to read it.")}
	t.catalog.open = func(i int) { t.open(t.resources[i]) }
	return t
}

// set shows the resources of a server; nil shows nothing and stops what runs.
func (t *resourcesTab) set(s *hub.Server) {
	old := t.server
	t.server = s
	switch {
	case s == nil:
		t.close()
		return
	case old == nil || s.Name != old.Name:
		t.close()
		t.reset()
	case s.ResourcesRev == old.ResourcesRev && s.FollowsRev == old.FollowsRev && s.State == old.State:
		return
	}
	t.resources = t.u.cfg.Hub.Resources(s.Name)
	t.follows = map[string]hub.Follow{}
	for _, f := range t.u.cfg.Hub.Follows(s.Name) {
		t.follows[f.URI] = f
		if f.Problem == "" && !slices.ContainsFunc(t.resources, func(r hub.Resource) bool { return !r.Template && r.URI == f.URI }) {
			t.resources = append(t.resources, hub.Resource{URI: f.URI, Description: "It is followed, and not in the server's list.", Size: -1})
		}
	}
	entries := make([]entry, len(t.resources))
	for i, r := range t.resources {
		entries[i] = t.entry(r)
	}
	t.put(entries, absence("resources", s, s.Resources))
	if t.page != nil {
		t.page.update(s, t.follows)
	}
}

func (t *resourcesTab) entry(r hub.Resource) entry {
	e := entry{
		key: r.URI, name: display.Line(orElse(orElse(r.Title, r.Name), r.URI), 80), about: display.Line(r.URI, 120),
		search: r.URI + " " + r.Name + " " + r.Title + " " + r.Description + " " + r.MIME, odd: r.Oddity != "",
	}
	if r.Template {
		e.key = "template " + r.URI
	}
	if r.Oddity != "" {
		e.about = "Cannot be used: " + r.Oddity
	}
	if f, ok := t.follows[r.URI]; ok && !r.Template {
		e.mark = followMark(f)
	}
	return e
}

// followMark is what a row says about a followed resource.
func followMark(f hub.Follow) string {
	switch {
	case f.Problem != "":
		return ""
	case f.Updated.IsZero():
		return "Followed"
	}
	return "Updated"
}

// close empties the right side and stops what runs there.
func (t *resourcesTab) close() {
	if t.page != nil {
		t.page.stop()
	}
	t.page = nil
	t.blank()
}

// open shows one resource. One that is open already keeps what was typed and what
// was read, unless its definition changed.
func (t *resourcesTab) open(r hub.Resource) {
	if t.page != nil && sameResource(t.page.resource, r) {
		return
	}
	t.close()
	t.page = newResourcePage(t.u, t.win, t.server, r)
	t.show(t.page.object(t.pane.Size().Width))
	t.page.update(t.server, t.follows)
}

func sameResource(a, b hub.Resource) bool {
	return a.URI == b.URI && a.Template == b.Template && a.Name == b.Name && a.Title == b.Title && a.Description == b.Description &&
		a.MIME == b.MIME && a.Size == b.Size && a.Oddity == b.Oddity && slices.Equal(a.Vars, b.Vars)
}
