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
	u      *UI
	win    fyne.Window
	server string
	rev    uint64
	state  hub.State

	filter *filterEntry
	list   *widget.List
	note   *widget.Label
	all    []hub.Tool
	shown  []hub.Tool
	chosen string

	pane *fyne.Container
	try  *try
	tool *hub.Tool
	box  fyne.CanvasObject
}

// maxAbout is how high what a tool says about itself may stand above Try.
const maxAbout = 150

func newToolsTab(u *UI, win fyne.Window) *toolsTab {
	t := &toolsTab{u: u, win: win, note: wrapped(""), pane: container.NewStack()}
	t.note.Alignment = fyne.TextAlignCenter
	t.filter = newFilterEntry("Filter tools", func(string) { t.apply() })
	t.list = widget.NewList(func() int { return len(t.shown) }, newToolRow, func(i widget.ListItemID, o fyne.CanvasObject) {
		if i < len(t.shown) {
			o.(*toolRow).set(t.shown[i])
		}
	})
	t.list.OnSelected = func(i widget.ListItemID) {
		if i < len(t.shown) {
			t.open(t.shown[i])
		}
	}
	left := container.NewBorder(t.filter, nil, nil, nil, container.NewStack(t.list, container.NewVBox(t.note)))
	split := container.NewHSplit(left, t.pane)
	split.Offset = 0.36
	t.box = split
	t.blank()
	return t
}

func (t *toolsTab) object() fyne.CanvasObject { return t.box }

// set shows the tools of a server; nil shows nothing and stops what runs.
func (t *toolsTab) set(s *hub.Server) {
	if s == nil {
		t.server = ""
		t.blank()
		return
	}
	if s.Name == t.server && s.ToolsRev == t.rev && s.State == t.state {
		return
	}
	if s.Name != t.server {
		t.chosen = ""
		t.blank()
		t.filter.SetText("")
	}
	t.server, t.rev, t.state = s.Name, s.ToolsRev, s.State
	t.all = t.u.cfg.Hub.Tools(s.Name)
	switch {
	case len(t.all) > 0:
		t.note.SetText("")
	case s.State != hub.Ready:
		t.note.SetText("The tools appear when the server is ready.")
	case s.Tools < 0:
		t.note.SetText("The tools have not been listed.")
	default:
		t.note.SetText("This server offers no tools.")
	}
	t.apply()
}

// blank empties the right side.
func (t *toolsTab) blank() {
	if t.try != nil {
		t.try.stop()
	}
	t.try, t.tool = nil, nil
	t.pane.Objects = []fyne.CanvasObject{container.NewCenter(wrappedHint("Choose a tool to see it and try it."))}
	t.pane.Refresh()
}

func wrappedHint(text string) fyne.CanvasObject {
	l := widget.NewLabel(text)
	l.Importance = widget.LowImportance
	return l
}

func (t *toolsTab) apply() {
	words := strings.Fields(strings.ToLower(t.filter.Text))
	t.shown = t.shown[:0:0]
	for _, tool := range t.all {
		text := strings.ToLower(tool.Name + " " + tool.Title + " " + tool.Description)
		ok := true
		for _, w := range words {
			ok = ok && strings.Contains(text, w)
		}
		if ok {
			t.shown = append(t.shown, tool)
		}
	}
	t.list.Refresh()
	for i, tool := range t.shown {
		if tool.Name == t.chosen {
			t.list.Select(i)
			return
		}
	}
	t.list.UnselectAll()
}

// open shows one tool. A tool that is already open keeps what was typed and what
// runs, unless its definition changed.
func (t *toolsTab) open(tool hub.Tool) {
	if t.tool != nil && t.chosen == tool.Name && t.tool.Description == tool.Description && string(t.tool.InputSchema) == string(tool.InputSchema) {
		return
	}
	t.blank()
	t.chosen, t.tool = tool.Name, &tool
	title := widget.NewLabelWithStyle(display.Line(tool.Name, 80), fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	title.Truncation = fyne.TextTruncateEllipsis
	head := container.New(&stacked{overlap: 12}, title)
	if tool.Title != "" && tool.Title != tool.Name {
		sub := widget.NewLabel(display.Line(tool.Title, 120))
		sub.Truncation = fyne.TextTruncateEllipsis
		head.Add(sub)
	}
	if len(tool.Hints) > 0 {
		hints := widget.NewLabel(display.Line(strings.Join(tool.Hints, " · "), 160))
		hints.SizeName = theme.SizeNameCaptionText
		hints.Wrapping = fyne.TextWrapWord
		head.Add(hints)
	}
	if tool.Oddity != "" {
		odd := wrapped("⚠ " + display.Line(tool.Oddity, 300))
		odd.Importance = widget.WarningImportance
		head.Add(odd)
	}
	if tool.Description != "" {
		head.Add(wrapped(strings.Join(display.Lines(tool.Description, 12, 400), "\n")))
	}
	about := container.NewVScroll(head)
	body := fyne.CanvasObject(about)
	if !tool.Invalid {
		t.try = newTry(t.u, t.server, tool, t.win)
		// A long description scrolls, so that Try keeps its room.
		head.Resize(fyne.NewSize(t.pane.Size().Width, 0))
		about.SetMinSize(fyne.NewSize(0, min(head.MinSize().Height, maxAbout)))
		body = container.NewBorder(about, nil, nil, nil, t.try.object())
	}
	t.pane.Objects = []fyne.CanvasObject{body}
	t.pane.Refresh()
}

// toolRow is one tool in the list.
type toolRow struct {
	widget.BaseWidget
	name, about *widget.Label
	icon        *widget.Icon
}

func newToolRow() fyne.CanvasObject {
	r := &toolRow{name: widget.NewLabel(""), about: widget.NewLabel(""), icon: widget.NewIcon(theme.NewWarningThemedResource(theme.WarningIcon()))}
	r.name.Truncation, r.about.Truncation = fyne.TextTruncateEllipsis, fyne.TextTruncateEllipsis
	r.about.SizeName = theme.SizeNameCaptionText
	r.about.Importance = widget.LowImportance
	r.ExtendBaseWidget(r)
	return r
}

func (r *toolRow) set(t hub.Tool) {
	setText(r.name, display.Line(t.Name, 80))
	about := t.Title
	switch {
	case t.Invalid:
		about = "Cannot be used: " + t.Oddity
	case about == "":
		about = t.Description
	}
	setText(r.about, display.Line(about, 120))
	setVisible(r.icon, t.Oddity != "" || t.Destructive)
}

// CreateRenderer implements fyne.Widget.
func (r *toolRow) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.New(&stacked{overlap: 12}, container.NewBorder(nil, nil, nil, r.icon, r.name), r.about))
}
