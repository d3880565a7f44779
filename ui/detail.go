package ui

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// detail is everything about one server.
type detail struct {
	u      *UI
	shown  *hub.Server
	name   *widget.Label
	target *widget.Label
	mark   *widget.Icon
	state  *widget.Label
	badge  *badge
	count  *widget.Label

	overview              *overview
	tools                 *toolsTab
	resources             *resourcesTab
	prompts               *promptsTab
	log                   *logTab
	tabs                  *container.AppTabs
	logItem               *container.TabItem
	status, first, second *fyne.Container
	body                  fyne.CanvasObject
	hint                  fyne.CanvasObject
	box                   *fyne.Container
}

func newDetail(u *UI, w *mainWindow) *detail {
	d := &detail{
		u: u, name: widget.NewLabelWithStyle("", fyne.TextAlignLeading, fyne.TextStyle{Bold: true}),
		target: widget.NewLabel(""), mark: widget.NewIcon(markDots), state: widget.NewLabel(""), badge: newBadge(), count: widget.NewLabel(""),
	}
	d.name.SizeName = theme.SizeNameSubHeadingText
	d.name.Truncation = fyne.TextTruncateEllipsis
	d.target.Truncation = fyne.TextTruncateEllipsis
	d.target.TextStyle = fyne.TextStyle{Monospace: true}
	d.target.SizeName = theme.SizeNameCaptionText
	d.overview, d.log = newOverview(u, w), newLogTab(u)
	d.tools, d.resources, d.prompts = newToolsTab(u, w.win), newResourcesTab(u, w.win), newPromptsTab(u, w.win)
	d.logItem = container.NewTabItem("Log", d.log.object())
	d.tabs = container.NewAppTabs(
		container.NewTabItem("Overview", d.overview.object()),
		container.NewTabItem("Tools", d.tools.object()),
		container.NewTabItem("Resources", d.resources.object()),
		container.NewTabItem("Prompts", d.prompts.object()),
		d.logItem,
	)
	d.tabs.OnSelected = func(*container.TabItem) { d.refreshTab() }
	d.status = container.NewHBox(container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(16), d.mark)), d.state)
	d.first = container.NewBorder(nil, nil, nil, container.NewCenter(d.status), d.name)
	d.second = container.NewBorder(nil, nil, nil, container.NewHBox(container.NewCenter(d.badge), d.count), d.target)
	head := container.New(&stacked{overlap: 8}, d.first, d.second)
	d.body = container.NewBorder(head, nil, nil, nil, d.tabs)
	d.hint = container.NewCenter(widget.NewLabel("Choose a server on the left."))
	d.box = container.NewStack(d.body, d.hint)
	d.body.Hide()
	return d
}

func (d *detail) object() fyne.CanvasObject { return container.NewPadded(d.box) }

// update shows a server; nil shows that none is chosen.
func (d *detail) update(s *hub.Server) {
	if s == nil {
		if d.shown != nil {
			d.tools.set(nil)
			d.resources.set(nil)
			d.prompts.set(nil)
		}
		d.shown = nil
		d.body.Hide()
		d.hint.Show()
		return
	}
	d.hint.Hide()
	d.body.Show()
	if s == d.shown {
		return
	}
	d.shown = s
	d.name.SetText(display.Line(s.Name, 80))
	d.target.SetText(display.Line(s.Target, 200))
	d.badge.set(s.Era)
	text := ""
	if s.Tools >= 0 && s.State == hub.Ready {
		text = plural(s.Tools, "tool")
	}
	d.count.SetText(text)
	d.second.Refresh()
	d.tools.set(s)
	d.resources.set(s)
	d.prompts.set(s)
	d.refreshState()
	d.refreshTab()
}

// refreshState redraws what counts seconds.
func (d *detail) refreshState() {
	s := d.shown
	if s == nil {
		return
	}
	l := lookOf(s, d.u.cfg.Now())
	d.mark.SetResource(tinted(l.mark, l.tint))
	word := l.word
	if s.State == hub.Ready && s.Health.Latency > 0 {
		word = fmt.Sprintf("%s · %s", word, lasting(s.Health.Latency))
	}
	d.state.Importance = l.tint
	d.state.SetText(word)
	d.first.Refresh()
}

// refreshTab redraws what can be seen: the overview or the log.
func (d *detail) refreshTab() {
	switch {
	case d.shown == nil:
	case d.tabs.Selected() == d.logItem:
		d.log.pull(d.shown)
	case d.tabs.SelectedIndex() == 0:
		d.overview.set(d.shown)
	}
}

func (d *detail) showLog() { d.tabs.Select(d.logItem) }
