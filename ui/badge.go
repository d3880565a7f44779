package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// badge is the era's pill: filled for modern, outlined for legacy, "?" while
// nothing is known.
type badge struct {
	widget.BaseWidget
	text   string
	filled bool
}

func newBadge() *badge {
	b := &badge{text: "?"}
	b.ExtendBaseWidget(b)
	return b
}

// set shows an era.
func (b *badge) set(e hub.Era) {
	text := e.Badge()
	if text == b.text && e.Modern == b.filled {
		return
	}
	b.text, b.filled = text, e.Modern
	b.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (b *badge) CreateRenderer() fyne.WidgetRenderer {
	r := &badgeRenderer{b: b, box: canvas.NewRectangle(nil), text: canvas.NewText("", nil)}
	r.Refresh()
	return r
}

type badgeRenderer struct {
	b    *badge
	box  *canvas.Rectangle
	text *canvas.Text
}

func (r *badgeRenderer) MinSize() fyne.Size {
	return r.text.MinSize().Add(fyne.NewSize(14, 4))
}

func (r *badgeRenderer) Layout(size fyne.Size) {
	// A pill keeps its height, whatever the row gives it.
	h := r.MinSize().Height
	r.box.Move(fyne.NewPos(0, (size.Height-h)/2))
	r.box.Resize(fyne.NewSize(size.Width, h))
	r.text.Move(fyne.NewPos(7, (size.Height-r.text.MinSize().Height)/2))
	r.text.Resize(fyne.NewSize(size.Width-14, r.text.MinSize().Height))
}

func (r *badgeRenderer) Refresh() {
	th := r.b.Theme()
	v := fyne.CurrentApp().Settings().ThemeVariant()
	r.text.Text = r.b.text
	r.text.TextSize = th.Size(theme.SizeNameCaptionText)
	r.box.CornerRadius = 9
	r.box.StrokeWidth = 1
	if r.b.filled {
		r.box.FillColor = th.Color(theme.ColorNamePrimary, v)
		r.box.StrokeColor = r.box.FillColor
		r.text.Color = th.Color(theme.ColorNameForegroundOnPrimary, v)
	} else {
		r.box.FillColor = nil
		r.box.StrokeColor = th.Color(theme.ColorNamePlaceHolder, v)
		r.text.Color = th.Color(theme.ColorNameForeground, v)
	}
	r.box.Refresh()
	r.text.Refresh()
}

func (r *badgeRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.box, r.text} }

func (r *badgeRenderer) Destroy() {}
