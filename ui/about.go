package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// about says what this is, where its file lies, and what the file says about
// itself.
type about struct {
	u     *UI
	path  *widget.Label
	notes *widget.Label
	box   fyne.CanvasObject
}

func newAbout(u *UI) *about {
	a := &about{u: u, path: widget.NewLabel(""), notes: widget.NewLabel("")}
	a.path.TextStyle = fyne.TextStyle{Monospace: true}
	a.path.Wrapping = fyne.TextWrapBreak
	a.notes.Wrapping = fyne.TextWrapWord
	title := widget.NewLabelWithStyle("Drawbridge "+u.cfg.Version, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	title.SizeName = theme.SizeNameHeadingText
	what := widget.NewLabel("The place where you run your MCP servers. It speaks protocol 2026-07-28 and the revisions with a handshake before it.")
	what.Wrapping = fyne.TextWrapWord
	copyPath := widget.NewButtonWithIcon("Copy the path", theme.ContentCopyIcon(), func() { u.cfg.App.Clipboard().SetContent(u.snap.Config.Path) })
	reload := widget.NewButtonWithIcon("Read the file again", theme.ViewRefreshIcon(), func() { u.main.do("", hub.Reload) })
	a.box = container.NewVScroll(container.NewVBox(
		title, what, heading("Spec file"), a.path, container.NewHBox(copyPath, reload), a.notes,
		heading("Secrets"), wrapped("Write ${secret:NAME} in env, headers, args or url, and store the value with “drawbridge secret set NAME”. It goes into the keyring of this computer and nowhere else."),
	))
	return a
}

func (a *about) object() fyne.CanvasObject { return a.box }

func (a *about) update(s *hub.Snapshot) {
	if text := display.Line(s.Config.Path, 500); text != a.path.Text {
		a.path.SetText(text)
	}
	text := ""
	for i, n := range s.Config.Notes {
		if i > 0 {
			text += "\n"
		}
		text += "• " + display.Line(n, 300)
	}
	if text != a.notes.Text {
		a.notes.SetText(text)
	}
}

func heading(text string) *widget.Label {
	l := widget.NewLabelWithStyle(text, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	return l
}

func wrapped(text string) *widget.Label {
	l := widget.NewLabel(text)
	l.Wrapping = fyne.TextWrapWord
	return l
}
