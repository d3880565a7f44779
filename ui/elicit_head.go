package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// messageLines is how many lines of a message are in sight; more are scrolled to.
const messageLines = 6

// askHead says who asks, what for, and what they say. Everything but the message
// is known to us and not claimed by the server.
type askHead struct {
	place *widget.Label
	box   *fyne.Container
}

func newAskHead(q *hub.Question, keys keyboard) *askHead {
	who := widget.NewLabelWithStyle(display.Line(q.Server, 60)+" asks", fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	who.SizeName = theme.SizeNameSubHeadingText
	who.Truncation = fyne.TextTruncateEllipsis
	origin := widget.NewLabelWithStyle(display.Line(q.Origin, 160), fyne.TextAlignLeading, fyne.TextStyle{Monospace: true})
	origin.SizeName = theme.SizeNameCaptionText
	origin.Wrapping = fyne.TextWrapBreak
	h := &askHead{place: caption("", widget.LowImportance)}
	h.place.Wrapping = fyne.TextWrapOff
	h.box = container.New(&column{gap: 3},
		container.NewBorder(nil, nil, nil, container.NewCenter(h.place), who),
		origin,
		caption(belongs(q), widget.LowImportance),
	)
	if m := display.Lines(q.Message, 200, 200); q.Message != "" {
		text := newText(m, false)
		text.keys = keys.key
		h.box.Add(newRoom(8))
		h.box.Add(container.New(&quoted{}, text))
	}
	if display.Hidden(q.Message) {
		h.box.Add(caption("⚠ The message holds hidden characters; they are shown as ⟨…⟩.", widget.WarningImportance))
	}
	return h
}

// belongs says which tool call the question is part of.
func belongs(q *hub.Question) string {
	call := display.Line(q.Call, 100)
	switch {
	case call == "":
		return "The server did not say which call this belongs to."
	case q.CallUncertain:
		return "It belongs to one of these calls: " + call
	}
	return "It belongs to the call " + call
}

func (h *askHead) count(i, n int) { setText(h.place, position(i, n)) }

func newRoom(height float32) fyne.CanvasObject {
	return container.NewGridWrap(fyne.NewSize(1, height), layout.NewSpacer())
}

// quoted gives a message as many lines as it has at the width there is, up to
// messageLines.
type quoted struct{}

// MinSize implements fyne.Layout.
func (q *quoted) MinSize(objects []fyne.CanvasObject) fyne.Size {
	t := objects[0].(*textList)
	rows := max(min(len(t.rows), messageLines), 1)
	return fyne.NewSize(160, float32(rows)*t.rowHeight()+2)
}

// Layout implements fyne.Layout.
func (q *quoted) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Move(fyne.NewPos(0, 0))
	objects[0].Resize(size)
}
