package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// toolsTab lists a server's tools and lets the person try one.
type toolsTab struct {
	*catalog
	u      *UI
	win    fyne.Window
	server string
	rev    uint64
	state  hub.State
	tools  []hub.Tool

	try  *try
	tool *hub.Tool // the open one
}

// maxAbout is how high what a server says about something may stand above what
// can be done with it.
const maxAbout = 150

func newToolsTab(u *UI, win fyne.Window) *toolsTab {
	t := &toolsTab{u: u, win: win, catalog: newCatalog("tools", "Choose a tool to see it and try it.")}
	t.catalog.open = func(i int) { t.open(t.tools[i]) }
	return t
}

// set shows the tools of a server; nil shows nothing and stops what runs.
func (t *toolsTab) set(s *hub.Server) {
	if s == nil {
		t.server = ""
		t.close()
		return
	}
	if s.Name == t.server && s.ToolsRev == t.rev && s.State == t.state {
		return
	}
	if s.Name != t.server {
		t.close()
		t.reset()
	}
	t.server, t.rev, t.state = s.Name, s.ToolsRev, s.State
	t.tools = t.u.cfg.Hub.Tools(s.Name)
	entries := make([]entry, len(t.tools))
	for i, tool := range t.tools {
		entries[i] = toolEntry(tool)
	}
	t.put(entries, absence("tools", s, s.Tools))
}

// absence says why a list of a server is empty. count is -1 when it was never
// fetched.
func absence(things string, s *hub.Server, count int) string {
	switch {
	case s.State != hub.Ready:
		return "The " + things + " appear when the server is ready."
	case count < 0:
		return "The " + things + " have not been listed."
	}
	return "This server offers no " + things + "."
}

func toolEntry(t hub.Tool) entry {
	about := t.Title
	switch {
	case t.Invalid:
		about = "Cannot be used: " + t.Oddity
	case about == "":
		about = t.Description
	}
	return entry{
		key: t.Name, name: display.Line(t.Name, 80), about: display.Line(about, 120),
		search: t.Name + " " + t.Title + " " + t.Description, odd: t.Oddity != "" || t.Destructive,
	}
}

// close empties the right side and stops what runs there.
func (t *toolsTab) close() {
	if t.try != nil {
		t.try.stop()
	}
	t.try, t.tool = nil, nil
	t.blank()
}

// open shows one tool. A tool that is already open keeps what was typed and what
// runs, unless its definition changed.
func (t *toolsTab) open(tool hub.Tool) {
	if t.tool != nil && t.tool.Name == tool.Name && t.tool.Description == tool.Description && string(t.tool.InputSchema) == string(tool.InputSchema) {
		return
	}
	t.close()
	t.tool = &tool
	head := aboutHead(tool.Name, tool.Title)
	if len(tool.Hints) > 0 {
		hints := widget.NewLabel(display.Line(strings.Join(tool.Hints, " · "), 160))
		hints.SizeName = theme.SizeNameCaptionText
		hints.Wrapping = fyne.TextWrapWord
		head.Add(hints)
	}
	if tool.Oddity != "" {
		head.Add(warning(display.Line(tool.Oddity, 300)))
	}
	addDescription(head, tool.Description)
	if tool.Invalid {
		t.show(container.NewVScroll(head))
		return
	}
	t.try = newTry(t.u, t.server, tool, t.win)
	t.show(above(head, t.try.object(), t.pane.Size().Width))
}

// aboutHead begins what is said about something: its name, and its title if that
// says something else.
func aboutHead(name, title string) *fyne.Container {
	l := widget.NewLabelWithStyle(display.Line(name, 80), fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	l.Truncation = fyne.TextTruncateEllipsis
	head := container.New(&stacked{overlap: 12}, l)
	if title != "" && title != name {
		sub := widget.NewLabel(display.Line(title, 120))
		sub.Truncation = fyne.TextTruncateEllipsis
		head.Add(sub)
	}
	return head
}

func addDescription(head *fyne.Container, text string) {
	if text != "" {
		head.Add(wrapped(strings.Join(display.Lines(text, 12, 400), "\n")))
	}
}

// above puts what is said about something above what can be done with it, which
// keeps its room: a long description scrolls. width is what there will be.
func above(head *fyne.Container, rest fyne.CanvasObject, width float32) fyne.CanvasObject {
	about := container.NewVScroll(head)
	head.Resize(fyne.NewSize(width, 0))
	about.SetMinSize(fyne.NewSize(0, min(head.MinSize().Height, maxAbout)))
	return container.NewBorder(about, nil, nil, nil, rest)
}
