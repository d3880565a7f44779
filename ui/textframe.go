package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// frame is the ground behind machine text; its colours follow the theme.
type frame struct{ widget.BaseWidget }

func newFrame() *frame {
	f := &frame{}
	f.ExtendBaseWidget(f)
	return f
}

// CreateRenderer implements fyne.Widget.
func (f *frame) CreateRenderer() fyne.WidgetRenderer {
	r := &frameRenderer{rect: canvas.NewRectangle(nil)}
	r.rect.StrokeWidth = 1
	r.paint()
	return r
}

type frameRenderer struct{ rect *canvas.Rectangle }

func (r *frameRenderer) paint() {
	r.rect.FillColor = theme.Color(theme.ColorNameInputBackground)
	r.rect.StrokeColor = theme.Color(theme.ColorNameSeparator)
	r.rect.CornerRadius = theme.InputRadiusSize()
}

func (r *frameRenderer) Destroy()                     {}
func (r *frameRenderer) Layout(size fyne.Size)        { r.rect.Resize(size) }
func (r *frameRenderer) MinSize() fyne.Size           { return fyne.Size{} }
func (r *frameRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.rect} }

func (r *frameRenderer) Refresh() {
	r.paint()
	r.rect.Refresh()
}
