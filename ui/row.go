package ui

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// row is one server in the list: what is wanted (the check), what is true (mark
// and word), who it is, and at most one suggested action.
type row struct {
	widget.BaseWidget
	wanted *widget.Check
	mark   *widget.Icon
	name   *widget.Label
	badge  *badge
	state  *widget.Label
	action *widget.Button

	first, second *fyne.Container
	shown         *hub.Server
	face          face
	// wish is told about the check, press about the button.
	wish  func(s *hub.Server, on bool)
	press func(s *hub.Server)
}

func newRow(wish func(*hub.Server, bool), press func(*hub.Server)) *row {
	r := &row{
		wanted: widget.NewCheck("", nil), mark: widget.NewIcon(markDots),
		name: widget.NewLabelWithStyle("", fyne.TextAlignLeading, fyne.TextStyle{Bold: true}), badge: newBadge(),
		state: widget.NewLabel(""), action: widget.NewButton("", nil),
		wish: wish, press: press,
	}
	r.name.Truncation = fyne.TextTruncateEllipsis
	r.state.Truncation = fyne.TextTruncateEllipsis
	r.state.SizeName = theme.SizeNameCaptionText
	r.action.Importance = widget.LowImportance
	r.action.OnTapped = func() { r.press(r.shown) }
	mark := container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(14), r.mark))
	r.first = container.NewBorder(nil, nil, nil, container.NewCenter(r.badge), r.name)
	r.second = container.NewBorder(nil, nil, mark, r.action, r.state)
	r.ExtendBaseWidget(r)
	return r
}

// face is what of a server can be seen in its row.
type face struct {
	name, badge, state, action string
	modern, wanted             bool
	mark                       fyne.Resource
	tint, text                 widget.Importance
}

func faceOf(s *hub.Server, now time.Time) face {
	l := lookOf(s, now)
	f := face{
		name: display.Line(s.Name, 80), badge: s.Era.Badge(), state: l.word, action: s.Action.Label,
		modern: s.Era.Modern, wanted: s.Wanted, mark: l.mark, tint: l.tint, text: l.tint,
	}
	if s.State == hub.Ready {
		f.state += " · " + facts(s)
		if s.Sentence == "" && s.Tools != 0 {
			f.text = widget.MediumImportance
		}
	}
	return f
}

// set shows a server. What looks as before is not drawn again: servers that log
// change ten times a second.
func (r *row) set(s *hub.Server, now time.Time) {
	r.shown = s
	f := faceOf(s, now)
	if f == r.face {
		return
	}
	r.face = f
	r.wanted.OnChanged = nil
	r.wanted.SetChecked(f.wanted)
	r.wanted.OnChanged = func(on bool) { r.wish(r.shown, on) }
	r.mark.SetResource(tinted(f.mark, f.tint))
	r.name.SetText(f.name)
	r.badge.set(s.Era)
	r.state.Importance = f.text
	r.state.SetText(f.state)
	r.action.SetText(f.action)
	setVisible(r.action, f.action != "")
	// The widths of badge, word and button have changed.
	r.first.Refresh()
	r.second.Refresh()
}

// facts is how we talk to a ready server, and what there is.
func facts(s *hub.Server) string {
	text := s.Transport
	if s.Tools > 0 {
		text += " · " + plural(s.Tools, "tool")
		if s.Incomplete {
			text += " (incomplete)"
		}
	}
	return text
}

// CreateRenderer implements fyne.Widget.
func (r *row) CreateRenderer() fyne.WidgetRenderer {
	lines := container.New(&stacked{overlap: 10}, r.first, r.second)
	edge := container.New(&columns{widths: []float32{6}}, widget.NewLabel(""))
	return widget.NewSimpleRenderer(container.NewBorder(nil, nil, container.NewCenter(r.wanted), edge, lines))
}

// stacked puts objects under each other with less air than a label's own padding
// would leave.
type stacked struct{ overlap float32 }

// MinSize implements fyne.Layout.
func (l *stacked) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		size.Width = max(size.Width, m.Width)
		if size.Height > 0 {
			size.Height -= l.overlap
		}
		size.Height += m.Height
	}
	return size
}

// Layout implements fyne.Layout.
func (l *stacked) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	y := float32(0)
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		h := o.MinSize().Height
		o.Move(fyne.NewPos(0, y))
		o.Resize(fyne.NewSize(size.Width, h))
		y += h - l.overlap
	}
}
