package ui

import (
	"context"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
)

// What is shown of one text: the rest is counted, and Copy has it all (field
// case 103).
const (
	maxShown      = 1 << 20 // bytes
	maxShownLines = 20_000
	maxShownWidth = 2000 // columns; the list breaks lines to its width
	sharedRows    = 12   // rows in sight of a text among others
)

// text shows a text, which is made and laid out off the UI goroutine.
func (v *resultView) text(make func() string, mono, alone bool) fyne.CanvasObject {
	place := container.NewStack(caption("…", widget.LowImportance))
	v.u.background(func(context.Context) {
		if v.ctx.Err() != nil {
			return
		}
		s := make()
		lines := shownLines(s)
		hidden := display.Hidden(clip(s))
		v.u.cfg.Do(func() {
			if v.ctx.Err() != nil {
				return
			}
			list := newText(lines, mono)
			if !alone {
				list.atLeast(sharedRows)
			}
			var o fyne.CanvasObject = framed(list)
			if hidden {
				o = container.NewBorder(caption("⚠ This text holds hidden characters; they are shown as ⟨…⟩.", widget.WarningImportance), nil, nil, nil, o)
			}
			place.Objects = []fyne.CanvasObject{o}
			place.Refresh()
			v.box.Refresh()
		})
	})
	return place
}

// shownLines are the lines of a text as far as they are shown, with a last one
// that counts the rest.
func shownLines(s string) []string {
	shown := clip(s)
	lines := display.Lines(shown, maxShownLines, maxShownWidth)
	if rest := len(s) - len(shown); rest > 0 {
		lines = append(lines, "… "+display.Count(rest)+" more bytes; Copy result has them all")
	}
	return lines
}

// clip cuts a text to maxShown at the end of a character.
func clip(s string) string {
	if len(s) <= maxShown {
		return s
	}
	s = s[:maxShown]
	for i := 0; i < utf8.UTFMax && s != ""; i++ {
		if r, _ := utf8.DecodeLastRuneInString(s); r != utf8.RuneError {
			break
		}
		s = s[:len(s)-1]
	}
	return strings.Clone(s)
}
