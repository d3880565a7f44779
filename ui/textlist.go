package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
)

// maxMeasured is how many rows of a proportional font are measured.
const maxMeasured = 1000

// textList shows lines of text, of which only those in sight are drawn: a label
// of a megabyte would stop the window for seconds (field case 103). Lines too
// long for the width are broken, so that nothing is hidden at the side.
type textList struct {
	widget.BaseWidget
	lines []string
	style fyne.TextStyle

	rows []string // lines broken to the width
	cols int      // what rows are broken to
	sure int      // columns that fit whatever the letters are
	min  float32
	body *textBody
	view *container.Scroll
	keys func(*fyne.KeyEvent) bool // sees keys first; nil sees none
	ring *canvas.Rectangle
}

// newTextList shows lines that are display-safe already. The list takes the room
// it is given and scrolls, by wheel and by keys.
func newTextList(lines []string, mono bool) fyne.CanvasObject { return newText(lines, mono) }

func newText(lines []string, mono bool) *textList {
	t := &textList{lines: lines, rows: lines, style: fyne.TextStyle{Monospace: mono}, ring: canvas.NewRectangle(nil)}
	t.body = &textBody{list: t}
	t.body.ExtendBaseWidget(t.body)
	t.view = container.NewVScroll(t.body)
	t.view.OnScrolled = func(fyne.Position) { t.body.Refresh() }
	t.ExtendBaseWidget(t)
	return t
}

// atLeast gives the list the height of its lines, up to most of them.
func (t *textList) atLeast(most int) *textList {
	t.min = float32(min(len(t.lines), most)) * t.rowHeight()
	return t
}

func (t *textList) textSize() float32 { return theme.Size(theme.SizeNameText) - 1 }

func (t *textList) rowHeight() float32 {
	return fyne.MeasureText("Mg", t.textSize(), t.style).Height
}

// MinSize implements fyne.Widget.
func (t *textList) MinSize() fyne.Size {
	size := t.view.MinSize()
	return fyne.NewSize(max(size.Width, 120), max(size.Height, t.min))
}

// Resize implements fyne.Widget.
func (t *textList) Resize(size fyne.Size) {
	t.wrap(size.Width - 2*theme.Size(theme.SizeNameInnerPadding))
	t.BaseWidget.Resize(size)
	t.body.Refresh()
}

// wrap breaks the lines to a width.
func (t *textList) wrap(width float32) {
	cols := max(int(width/fyne.MeasureText("n", t.textSize(), t.style).Width), 8)
	if cols == t.cols {
		return
	}
	t.sure = int(width / fyne.MeasureText("W", t.textSize(), t.style).Width)
	t.cols, t.rows = cols, make([]string, 0, len(t.lines))
	for _, line := range t.lines {
		t.rows = append(t.rows, t.broken(line, cols, width)...)
	}
}

// broken breaks one line. In a proportional font a row of wide letters is broken
// again until it fits; of a long text only as many rows as can be measured in time.
func (t *textList) broken(line string, cols int, width float32) []string {
	rows := []string{line}
	if len(line) > cols {
		rows = display.Lines(line, 0, cols)
	}
	if t.style.Monospace || cols <= 8 || len(t.rows) > maxMeasured {
		return rows
	}
	for _, row := range rows {
		if len(row) <= t.sure {
			continue
		}
		if has := fyne.MeasureText(row, t.textSize(), t.style).Width; has > width {
			return t.broken(line, max(min(int(float32(cols)*width/has), cols-1), 8), width)
		}
	}
	return rows
}

// CreateRenderer implements fyne.Widget.
func (t *textList) CreateRenderer() fyne.WidgetRenderer {
	t.ring.StrokeWidth = 1
	t.ring.CornerRadius = theme.InputRadiusSize()
	return widget.NewSimpleRenderer(container.NewStack(t.ring, t.view))
}

// FocusGained implements fyne.Focusable.
func (t *textList) FocusGained() {
	t.ring.StrokeColor = theme.Color(theme.ColorNameFocus)
	t.ring.Refresh()
}

// FocusLost implements fyne.Focusable.
func (t *textList) FocusLost() {
	t.ring.StrokeColor = nil
	t.ring.Refresh()
}

// TypedRune implements fyne.Focusable.
func (t *textList) TypedRune(rune) {}

// TypedKey implements fyne.Focusable.
func (t *textList) TypedKey(k *fyne.KeyEvent) {
	if t.keys != nil && t.keys(k) {
		return
	}
	page := t.view.Size().Height - t.rowHeight()
	at := t.view.Offset
	switch k.Name {
	case fyne.KeyUp:
		at.Y -= t.rowHeight()
	case fyne.KeyDown:
		at.Y += t.rowHeight()
	case fyne.KeyPageUp:
		at.Y -= page
	case fyne.KeyPageDown:
		at.Y += page
	case fyne.KeyHome:
		at.Y = 0
	case fyne.KeyEnd:
		at.Y = t.body.MinSize().Height
	default:
		return
	}
	t.view.ScrollToOffset(at)
	t.body.Refresh()
}

// textBody is the whole height of the rows, of which it draws those in sight.
type textBody struct {
	widget.BaseWidget
	list *textList
}

// CreateRenderer implements fyne.Widget.
func (b *textBody) CreateRenderer() fyne.WidgetRenderer { return &textRenderer{body: b} }

type textRenderer struct {
	body  *textBody
	texts []*canvas.Text
	shown []fyne.CanvasObject
}

func (r *textRenderer) Destroy() {}

func (r *textRenderer) Layout(fyne.Size) { r.place() }

func (r *textRenderer) MinSize() fyne.Size {
	t := r.body.list
	return fyne.NewSize(1, float32(len(t.rows))*t.rowHeight())
}

func (r *textRenderer) Objects() []fyne.CanvasObject { return r.shown }

func (r *textRenderer) Refresh() {
	r.place()
	canvas.Refresh(r.body)
}

// place puts the rows in sight where they belong, using the same text objects
// again and again.
func (r *textRenderer) place() {
	t := r.body.list
	height := t.rowHeight()
	first := max(int(t.view.Offset.Y/height), 0)
	last := min(first+int(t.view.Size().Height/height)+2, len(t.rows))
	n := max(last-first, 0)
	for len(r.texts) < n {
		text := canvas.NewText("", nil)
		text.TextStyle = t.style
		r.texts = append(r.texts, text)
		r.shown = append(r.shown, text)
	}
	r.shown = r.shown[:0]
	for i := range n {
		text := r.texts[i]
		text.Text = t.rows[first+i]
		text.TextSize = t.textSize()
		text.Color = theme.Color(theme.ColorNameForeground)
		text.Move(fyne.NewPos(theme.Size(theme.SizeNameInnerPadding), float32(first+i)*height))
		text.Resize(fyne.NewSize(r.body.Size().Width, height))
		r.shown = append(r.shown, text)
	}
}
