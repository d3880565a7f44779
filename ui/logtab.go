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

// logTab shows a server's log: stderr, output that is no protocol, its own log
// messages, and notes of the wire.
type logTab struct {
	u      *UI
	server string
	rev    uint64
	last   uint64
	lines  []hub.LogLine
	shown  []hub.LogLine
	words  []string

	filter *filterEntry
	follow *widget.Check
	list   *widget.List
	none   *widget.Label
	box    fyne.CanvasObject
}

// maxShownLog is how many lines the tab keeps.
const maxShownLog = 2000

func newLogTab(u *UI) *logTab {
	l := &logTab{u: u, none: widget.NewLabel("The server has said nothing yet.")}
	l.filter = newFilterEntry("Search the log", func(string) { l.apply() })
	l.follow = widget.NewCheck("Follow", func(bool) { l.scroll() })
	l.follow.Checked = true
	l.none.Importance = widget.LowImportance
	l.list = widget.NewList(func() int { return len(l.shown) }, newLogRow, func(i widget.ListItemID, o fyne.CanvasObject) {
		if i < len(l.shown) {
			o.(*logRow).set(l.shown[i])
		}
	})
	l.list.HideSeparators = true
	l.list.OnSelected = func(i widget.ListItemID) { l.list.Unselect(i) }
	copyAll := widget.NewButtonWithIcon("Copy", theme.ContentCopyIcon(), l.copy)
	bar := container.NewBorder(nil, nil, nil, container.NewHBox(l.follow, copyAll), l.filter)
	l.box = container.NewBorder(bar, nil, nil, nil, container.NewStack(l.list, container.NewCenter(l.none)))
	return l
}

func (l *logTab) object() fyne.CanvasObject { return l.box }

// pull fetches what is new of a server's log.
func (l *logTab) pull(s *hub.Server) {
	if s.Name != l.server {
		l.server, l.lines, l.last, l.rev = s.Name, nil, 0, 0
	} else if s.LogRev == l.rev {
		return
	}
	l.rev = s.LogRev
	fresh := l.u.cfg.Hub.Log(s.Name, l.last, maxShownLog)
	if len(fresh) > 0 {
		l.last = fresh[len(fresh)-1].Seq
	}
	l.lines = append(l.lines, fresh...)
	if over := len(l.lines) - maxShownLog; over > 0 {
		l.lines = append([]hub.LogLine(nil), l.lines[over:]...)
	}
	l.apply()
}

func (l *logTab) apply() {
	l.words = strings.Fields(strings.ToLower(l.filter.Text))
	l.shown = l.lines
	if len(l.words) > 0 {
		l.shown = nil
		for _, line := range l.lines {
			if l.matches(line) {
				l.shown = append(l.shown, line)
			}
		}
	}
	setVisible(l.none, len(l.lines) == 0)
	l.list.Refresh()
	l.scroll()
}

func (l *logTab) matches(line hub.LogLine) bool {
	text := strings.ToLower(line.From + " " + line.Text)
	for _, w := range l.words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func (l *logTab) scroll() {
	if l.follow.Checked && len(l.shown) > 0 {
		l.list.ScrollToBottom()
	}
}

// copy puts the shown lines on the clipboard; they are masked already (K4).
func (l *logTab) copy() {
	var b strings.Builder
	for _, line := range l.shown {
		b.WriteString(line.At.Format("15:04:05.000 ") + line.From + ": " + line.Text + "\n")
	}
	l.u.cfg.App.Clipboard().SetContent(b.String())
}

// logRow is one line of the log.
type logRow struct {
	widget.BaseWidget
	at, from, text *widget.Label
}

func newLogRow() fyne.CanvasObject {
	r := &logRow{at: widget.NewLabel("00:00:00"), from: widget.NewLabel("drawbridge"), text: widget.NewLabel("")}
	for _, l := range []*widget.Label{r.at, r.from, r.text} {
		l.SizeName = theme.SizeNameCaptionText
		l.TextStyle = fyne.TextStyle{Monospace: true}
	}
	r.at.Importance = widget.LowImportance
	r.text.Truncation = fyne.TextTruncateEllipsis
	r.ExtendBaseWidget(r)
	return r
}

func (r *logRow) set(l hub.LogLine) {
	setText(r.at, l.At.Format("15:04:05"))
	setText(r.from, l.From)
	imp := widget.MediumImportance
	switch l.Level {
	case "warning":
		imp = widget.WarningImportance
	case "error":
		imp = widget.DangerImportance
	case "debug":
		imp = widget.LowImportance
	}
	text := display.Line(l.Text, 400)
	if r.text.Importance != imp || r.text.Text != text {
		r.text.Importance = imp
		r.text.SetText(text)
	}
}

// CreateRenderer implements fyne.Widget.
func (r *logRow) CreateRenderer() fyne.WidgetRenderer {
	left := container.New(&columns{widths: []float32{78, 92}}, r.at, r.from)
	return widget.NewSimpleRenderer(container.New(&tight{trim: 14}, container.NewBorder(nil, nil, left, nil, r.text)))
}

// columns lays objects out in columns of fixed widths.
type columns struct{ widths []float32 }

// MinSize implements fyne.Layout.
func (c *columns) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for i, o := range objects {
		s.Width += c.widths[i]
		s.Height = max(s.Height, o.MinSize().Height)
	}
	return s
}

// Layout implements fyne.Layout.
func (c *columns) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	x := float32(0)
	for i, o := range objects {
		o.Move(fyne.NewPos(x, 0))
		o.Resize(fyne.NewSize(c.widths[i], size.Height))
		x += c.widths[i]
	}
}

// tight takes the air out above and below a row of labels.
type tight struct{ trim float32 }

// MinSize implements fyne.Layout.
func (t *tight) MinSize(objects []fyne.CanvasObject) fyne.Size {
	m := objects[0].MinSize()
	return fyne.NewSize(m.Width, m.Height-t.trim)
}

// Layout implements fyne.Layout.
func (t *tight) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Move(fyne.NewPos(0, -t.trim/2))
	objects[0].Resize(fyne.NewSize(size.Width, size.Height+t.trim))
}
