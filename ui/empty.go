package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// exampleFile is what a newcomer copies into the spec file.
const exampleFile = `{
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/notes"]
    },
    "example": {
      "url": "https://mcp.example.com/mcp",
      "headers": {"Authorization": "Bearer ${secret:EXAMPLE_TOKEN}"}
    }
  }
}
`

// emptyState is what a newcomer sees: three cards, each of which does something.
type emptyState struct {
	u    *UI
	path *widget.Label
	box  fyne.CanvasObject
	demo *widget.Button
}

func newEmptyState(u *UI) *emptyState {
	e := &emptyState{u: u, path: widget.NewLabel("")}
	e.path.Truncation = fyne.TextTruncateEllipsis
	e.path.TextStyle = fyne.TextStyle{Monospace: true}
	e.path.SizeName = theme.SizeNameCaptionText
	title := widget.NewLabelWithStyle("No servers yet", fyne.TextAlignCenter, fyne.TextStyle{Bold: true})
	title.SizeName = theme.SizeNameHeadingText
	lead := widget.NewLabelWithStyle("Drawbridge runs your MCP servers, shows how they are, and asks you when they have a question.", fyne.TextAlignCenter, fyne.TextStyle{})
	lead.Wrapping = fyne.TextWrapWord

	copyExample := widget.NewButtonWithIcon("Copy an example", theme.ContentCopyIcon(), func() {
		u.cfg.App.Clipboard().SetContent(exampleFile)
	})
	copyPath := widget.NewButtonWithIcon("Copy the file's path", theme.ContentCopyIcon(), func() {
		u.cfg.App.Clipboard().SetContent(u.snap.Config.Path)
	})
	e.demo = widget.NewButtonWithIcon("Add the demo server", theme.ContentAddIcon(), e.addDemo)
	e.demo.Importance = widget.HighImportance

	cards := container.NewGridWithColumns(3,
		card("Bring what you have", "The file has the shape that other programs use: copy the “mcpServers” part of theirs into it, and it works as it is.", e.path, copyPath),
		card("Add a server", "A command to start, or a URL to reach. Tokens stay in the keyring: write ${secret:NAME}, then run “drawbridge secret set NAME”.", nil, copyExample),
		card("Try the demo", "A server inside Drawbridge with one of everything: tools, questions, progress, images. No account, no network.", nil, e.demo),
	)
	e.box = container.NewCenter(container.New(&narrow{width: 860}, container.NewVBox(title, lead, widget.NewLabel(""), cards)))
	return e
}

func card(title, text string, extra, button fyne.CanvasObject) fyne.CanvasObject {
	l := widget.NewLabel(text)
	l.Wrapping = fyne.TextWrapWord
	body := container.NewVBox(l)
	if extra != nil {
		body.Add(extra)
	}
	head := heading(title)
	head.SizeName = theme.SizeNameSubHeadingText
	return widget.NewCard("", "", container.NewPadded(container.NewBorder(head, button, nil, nil, body)))
}

func (e *emptyState) object() fyne.CanvasObject { return e.box }

func (e *emptyState) update(s *hub.Snapshot) {
	if text := display.Line(s.Config.Path, 300); text != e.path.Text {
		e.path.SetText(text)
	}
}

func (e *emptyState) addDemo() {
	e.u.attempt("The demo server could not be added", func() error { return e.u.cfg.Hub.AddDemo(e.u.ctx) })
}

// narrow gives its one object a bounded width, so that text stays readable on
// wide windows.
type narrow struct{ width float32 }

// MinSize implements fyne.Layout.
func (n *narrow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	m := objects[0].MinSize()
	return fyne.NewSize(min(max(m.Width, n.width*0.85), n.width), m.Height)
}

// Layout implements fyne.Layout.
func (n *narrow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	w := min(size.Width, n.width)
	objects[0].Move(fyne.NewPos((size.Width-w)/2, 0))
	objects[0].Resize(fyne.NewSize(w, size.Height))
}
