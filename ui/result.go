package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// resultView shows what a call came to: every block of it, or a line that says
// what a block was (field case 57). Nothing in it is fetched or can be clicked.
type resultView struct {
	u    *UI
	win  fyne.Window
	name string // for proposed file names
	ctx  context.Context
	stop context.CancelFunc
	box  *fyne.Container
}

func newResult(u *UI) *resultView {
	v := &resultView{u: u}
	v.ctx, v.stop = context.WithCancel(u.ctx)
	return v
}

// newFailedView shows why a call had no result.
func newFailedView(u *UI, err error) *resultView {
	v := newResult(u)
	sentence, icon, word, importance := "The call failed.", theme.ErrorIcon(), "Failed", widget.DangerImportance
	var words []string
	var ce *hub.CallError
	if errors.As(err, &ce) {
		sentence, words = ce.Sentence, ce.Words
		if ce.Cancelled {
			icon, word, importance = theme.CancelIcon(), "Cancelled", widget.MediumImportance
		}
	}
	body := container.NewVBox(wrapped(display.Line(sentence, 300)))
	var said []string
	for _, w := range words {
		said = append(said, display.Lines(w, 40, 400)...)
	}
	var rest fyne.CanvasObject = container.NewStack()
	if len(said) > 0 {
		body.Add(caption("The server's own words:", widget.LowImportance))
		rest = framed(newTextList(said, true))
	}
	head := container.NewBorder(nil, nil, verdict(icon, word, importance), nil)
	v.box = container.NewBorder(container.NewVBox(head, body), nil, nil, nil, rest)
	return v
}

// newResultView shows a result. Text is laid out and images are decoded off the
// UI goroutine; until then their places say so.
func newResultView(u *UI, win fyne.Window, name string, out *hub.Outcome) *resultView {
	v := newResult(u)
	v.win, v.name = win, name
	icon, word, importance := theme.ConfirmIcon(), "Success", widget.SuccessImportance
	if out.IsError {
		icon, word, importance = theme.ErrorIcon(), "The tool says it failed", widget.DangerImportance
	}
	copyIt := widget.NewButtonWithIcon("Copy result", theme.ContentCopyIcon(), func() {
		u.cfg.App.Clipboard().SetContent(string(out.Raw))
	})
	copyIt.Importance = widget.LowImportance
	head := container.NewBorder(nil, nil, verdict(icon, word, importance), copyIt, caption(lasting(out.Duration), widget.LowImportance))
	v.box = container.NewBorder(head, nil, nil, nil, v.blocks(out))
	return v
}

// verdict is an icon and a word: colour never speaks alone.
func verdict(icon fyne.Resource, word string, i widget.Importance) fyne.CanvasObject {
	l := widget.NewLabelWithStyle(word, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	l.Importance = i
	return container.NewHBox(widget.NewIcon(tinted(icon, i)), l)
}

// maxBlocks bounds how many blocks are shown one by one.
const maxBlocks = 200

// blocks shows all blocks; a single one has all the room, more share a scroll.
func (v *resultView) blocks(out *hub.Outcome) fyne.CanvasObject {
	type part func(alone bool) fyne.CanvasObject
	var parts []part
	for i, c := range out.Content {
		if i == maxBlocks {
			n := len(out.Content) - i
			parts = append(parts, func(bool) fyne.CanvasObject {
				return caption(fmt.Sprintf("… %s more; Copy result has them all.", plural(n, "block")), widget.LowImportance)
			})
			break
		}
		parts = append(parts, func(alone bool) fyne.CanvasObject {
			if c.Role != "" {
				return container.NewBorder(heading(capital(display.Line(c.Role, 40))), nil, nil, nil, v.block(c, i, alone))
			}
			return v.block(c, i, alone)
		})
	}
	if out.Structured != nil {
		parts = append(parts, func(alone bool) fyne.CanvasObject {
			return v.titled("Structured content", v.json(out.Structured, alone))
		})
	}
	switch len(parts) {
	case 0:
		return container.NewVBox(caption("The result is empty.", widget.LowImportance))
	case 1:
		return parts[0](true)
	}
	column := container.NewVBox()
	for _, p := range parts {
		column.Add(p(false))
	}
	return container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 0, 0, 6), column)) // beside the scroll bar
}

func (v *resultView) titled(title string, o fyne.CanvasObject) fyne.CanvasObject {
	return container.NewBorder(caption(title, widget.LowImportance), nil, nil, nil, o)
}

// json shows JSON laid out for reading. Numbers and order stay as they came.
func (v *resultView) json(raw json.RawMessage, alone bool) fyne.CanvasObject {
	return v.text(func() string {
		var b bytes.Buffer
		if len(raw) > maxShown || json.Indent(&b, raw, "", "  ") != nil {
			return string(raw)
		}
		return b.String()
	}, true, alone)
}
