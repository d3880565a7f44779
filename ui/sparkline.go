package ui

import (
	"math"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// sparkline draws the durations of the last requests as bars, on a logarithmic
// scale from 1 ms to 10 s. A failed one hangs below the line, so that it differs
// by place and not by colour alone.
type sparkline struct {
	widget.BaseWidget
	calls []hub.Call
}

const (
	sparkBars   = 50
	sparkHeight = 28
	sparkBase   = 6 // room below the line
)

func newSparkline() *sparkline {
	s := &sparkline{}
	s.ExtendBaseWidget(s)
	s.Hide()
	return s
}

func (s *sparkline) set(calls []hub.Call) {
	s.calls = calls[max(0, len(calls)-sparkBars):]
	setVisible(s, len(calls) > 0)
	s.Refresh()
}

// share maps a duration to 0…1.
func share(d time.Duration) float32 {
	ms := math.Max(1, float64(d)/float64(time.Millisecond))
	return float32(math.Min(1, math.Log10(ms)/4))
}

// CreateRenderer implements fyne.Widget.
func (s *sparkline) CreateRenderer() fyne.WidgetRenderer {
	r := &sparkRenderer{s: s, line: canvas.NewLine(nil)}
	for range sparkBars {
		r.bars = append(r.bars, canvas.NewRectangle(nil))
	}
	r.Refresh()
	return r
}

type sparkRenderer struct {
	s    *sparkline
	line *canvas.Line
	bars []*canvas.Rectangle
}

func (r *sparkRenderer) MinSize() fyne.Size { return fyne.NewSize(sparkBars*5+8, sparkHeight) }

func (r *sparkRenderer) Layout(fyne.Size) {
	const left, width, step = 8, 4, 5
	floor := float32(sparkHeight - sparkBase)
	r.line.Position1, r.line.Position2 = fyne.NewPos(left, floor), fyne.NewPos(left+sparkBars*step, floor)
	for i, b := range r.bars {
		if i >= len(r.s.calls) {
			b.Hide()
			continue
		}
		b.Show()
		h := 2 + share(r.s.calls[i].Duration)*(floor-2)
		y := floor - h
		if !r.s.calls[i].OK {
			h, y = sparkBase-1, floor+1
		}
		b.Move(fyne.NewPos(left+float32(i)*step, y))
		b.Resize(fyne.NewSize(width, h))
	}
}

func (r *sparkRenderer) Refresh() {
	th, v := r.s.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	r.line.StrokeColor = th.Color(theme.ColorNameSeparator, v)
	r.line.StrokeWidth = 1
	for i, b := range r.bars {
		name := theme.ColorNamePrimary
		if i < len(r.s.calls) && !r.s.calls[i].OK {
			name = theme.ColorNameError
		}
		b.FillColor = th.Color(name, v)
		b.Refresh()
	}
	r.Layout(r.s.Size())
	r.line.Refresh()
}

func (r *sparkRenderer) Objects() []fyne.CanvasObject {
	out := []fyne.CanvasObject{r.line}
	for _, b := range r.bars {
		out = append(out, b)
	}
	return out
}

func (r *sparkRenderer) Destroy() {}
