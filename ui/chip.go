package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// chip is a small button that stays pressed: one of a few filters or offers.
type chip struct {
	widget.BaseWidget
	text   string
	on     bool
	framed bool // it has an outline, also when it is not pressed
	tapped func()
}

func newChip() *chip {
	c := &chip{}
	c.ExtendBaseWidget(c)
	return c
}

func (c *chip) set(text string, on bool, tapped func()) {
	c.tapped = tapped
	if c.text != text || c.on != on {
		c.text, c.on = text, on
		c.Refresh()
	}
}

// Tapped implements fyne.Tappable.
func (c *chip) Tapped(*fyne.PointEvent) {
	if c.tapped != nil {
		c.tapped()
	}
}

// Cursor implements desktop.Cursorable.
func (c *chip) Cursor() desktop.Cursor { return desktop.PointerCursor }

// CreateRenderer implements fyne.Widget.
func (c *chip) CreateRenderer() fyne.WidgetRenderer {
	r := &chipRenderer{c: c, box: canvas.NewRectangle(nil), text: canvas.NewText("", nil)}
	r.Refresh()
	return r
}

type chipRenderer struct {
	c    *chip
	box  *canvas.Rectangle
	text *canvas.Text
}

func (r *chipRenderer) MinSize() fyne.Size { return r.text.MinSize().Add(fyne.NewSize(16, 10)) }

func (r *chipRenderer) Layout(size fyne.Size) {
	r.box.Resize(size)
	r.text.Move(fyne.NewPos(8, (size.Height-r.text.MinSize().Height)/2))
	r.text.Resize(r.text.MinSize())
}

func (r *chipRenderer) Refresh() {
	th, v := r.c.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	r.text.Text = r.c.text
	r.text.TextSize = th.Size(theme.SizeNameCaptionText)
	r.text.Color = th.Color(theme.ColorNameForeground, v)
	r.text.TextStyle = fyne.TextStyle{Bold: r.c.on}
	r.box.CornerRadius = 6
	r.box.FillColor, r.box.StrokeWidth = nil, 0
	if r.c.framed {
		r.box.StrokeWidth = 1
		r.box.StrokeColor = th.Color(theme.ColorNameInputBorder, v)
	}
	if r.c.on {
		r.box.FillColor = th.Color(theme.ColorNameButton, v)
	}
	r.box.Refresh()
	r.text.Refresh()
}

func (r *chipRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.box, r.text} }

func (r *chipRenderer) Destroy() {}
