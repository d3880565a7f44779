package ui

import (
	"context"
	"encoding/json"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// promptsTab lists a server's prompts and shows the messages that they make.
type promptsTab struct {
	*catalog
	u       *UI
	win     fyne.Window
	server  *hub.Server
	prompts []hub.Prompt

	prompt *hub.Prompt // the open one
	args   *argForm
	panel  *panel // nil when it cannot be got
}

func newPromptsTab(u *UI, win fyne.Window) *promptsTab {
	t := &promptsTab{u: u, win: win, catalog: newCatalog("prompts", "Choose a prompt to see its messages.")}
	t.catalog.open = func(i int) { t.open(t.prompts[i]) }
	return t
}

// set shows the prompts of a server; nil shows nothing and stops what runs.
func (t *promptsTab) set(s *hub.Server) {
	old := t.server
	t.server = s
	switch {
	case s == nil:
		t.close()
		return
	case old == nil || s.Name != old.Name:
		t.close()
		t.reset()
	case s.PromptsRev == old.PromptsRev && s.State == old.State:
		return
	}
	t.prompts = t.u.cfg.Hub.Prompts(s.Name)
	entries := make([]entry, len(t.prompts))
	for i, p := range t.prompts {
		entries[i] = promptEntry(p)
	}
	t.put(entries, absence("prompts", s, s.Prompts))
}

func promptEntry(p hub.Prompt) entry {
	about := orElse(p.Title, p.Description)
	if p.Oddity != "" {
		about = p.Oddity
	}
	return entry{
		key: p.Name, name: display.Line(p.Name, 80), about: display.Line(about, 120),
		search: p.Name + " " + p.Title + " " + p.Description, odd: p.Oddity != "",
	}
}

// close empties the right side and stops what runs there.
func (t *promptsTab) close() {
	if t.panel != nil {
		t.panel.stop()
	}
	t.prompt, t.args, t.panel = nil, nil, nil
	t.blank()
}

// open shows one prompt. One that is open already keeps what was typed and what
// came of it, unless its definition changed.
func (t *promptsTab) open(p hub.Prompt) {
	if t.prompt != nil && samePrompt(*t.prompt, p) {
		return
	}
	t.close()
	t.prompt = &p
	head := aboutHead(p.Name, p.Title)
	if p.Oddity != "" {
		head.Add(warning(display.Line(p.Oddity, 300)))
	}
	addDescription(head, p.Description)
	if p.Name == "" {
		t.show(container.NewVScroll(head))
		return
	}
	t.build(p)
	t.show(above(head, t.panel.object(), t.pane.Size().Width))
}

// build makes the panel that gets a prompt.
func (t *promptsTab) build(p hub.Prompt) {
	u, server := t.u, t.server.Name
	t.panel = newPanel(u, t.win, task{
		verb: "Get", busy: "Getting…", file: server + "-" + p.Name,
		run: func(ctx context.Context, args json.RawMessage, progress func(hub.Progress)) (*hub.Outcome, error) {
			return u.cfg.Hub.GetPrompt(ctx, server, p.Name, args, progress)
		},
	})
	var args []argument
	for _, a := range p.Arguments {
		args = append(args, argument{name: a.Name, title: a.Title, description: a.Description, required: a.Required})
	}
	var complete completer
	if t.server.Completes {
		complete = func(ctx context.Context, argument, value string, others map[string]string) ([]string, error) {
			return u.cfg.Hub.Complete(ctx, server, hub.Completing{Prompt: p.Name, Argument: argument, Value: value, Others: others})
		}
	}
	t.args = newArgForm(u, args, "This prompt takes no arguments.", complete, t.panel, t.panel.changed)
	t.panel.use(t.args)
}

func samePrompt(a, b hub.Prompt) bool {
	return a.Name == b.Name && a.Title == b.Title && a.Description == b.Description && a.Oddity == b.Oddity && slices.Equal(a.Arguments, b.Arguments)
}
