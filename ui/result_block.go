package ui

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// block shows one block of a result. alone says that it has all the room.
func (v *resultView) block(c hub.Content, i int, alone bool) fyne.CanvasObject {
	whole := func() string { return c.Text }
	switch {
	case c.Problem != "":
		return v.titled(display.Line(joined(capital(c.Type), c.Problem), 260), v.json(c.Raw, alone))
	case c.Type == "text":
		return v.text(whole, false, alone)
	case c.Data != nil && svgMIME(c.MIME):
		// A drawing can hold scripts and links: it is text here.
		data := c.Data
		return v.filed(c, i, v.text(func() string { return string(data) }, true, alone))
	case c.Type == "image", c.Data != nil && imageMIME(c.MIME):
		return v.filed(c, i, v.image(c, alone))
	case c.Type == "resource_link":
		return linkCard(c)
	case c.Type == "resource" && c.Data == nil:
		return v.titled("Resource · "+display.Line(joined(c.URI, c.MIME), 200), v.text(whole, false, alone))
	case c.Data != nil:
		return v.filed(c, i, nil)
	}
	return v.titled(display.Line(c.Type, 60), v.json(c.Raw, alone))
}

// filed is the line that says what a binary block is, with Save… where saving is
// possible, above what is shown of it.
func (v *resultView) filed(c hub.Content, i int, shown fyne.CanvasObject) fyne.CanvasObject {
	what := joined(capital(c.Type), c.MIME, byteSize(len(c.Data)), c.URI)
	line := widget.NewLabel(display.Line(what, 160))
	line.Truncation = fyne.TextTruncateEllipsis
	var save fyne.CanvasObject
	if v.u.cfg.Save != nil && len(c.Data) > 0 {
		save = widget.NewButtonWithIcon("Save…", theme.DocumentSaveIcon(), func() {
			v.u.cfg.Save(v.win, fileName(v.name, i, c.MIME), c.Data)
		})
	}
	head := container.NewBorder(nil, nil, nil, save, line)
	if shown == nil {
		return container.NewVBox(head)
	}
	return container.NewBorder(head, nil, nil, nil, shown)
}

// linkCard shows a link to a resource. It is never followed.
func linkCard(c hub.Content) fyne.CanvasObject {
	box := container.New(&column{gap: 2}, caption("Link to a resource", widget.LowImportance))
	if c.Name != "" {
		box.Add(heading(display.Line(c.Name, 120)))
	}
	uri := widget.NewLabelWithStyle(strings.Join(display.Lines(c.URI, 8, 90), "\n"), fyne.TextAlignLeading, fyne.TextStyle{Monospace: true})
	uri.Wrapping = fyne.TextWrapBreak
	box.Add(uri)
	if c.MIME != "" {
		box.Add(caption(display.Line(c.MIME, 120), widget.LowImportance))
	}
	return box
}

// joined joins what is known, leaving out what is not.
func joined(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " · ")
}

// byteSize gives a number of bytes in one unit.
func byteSize(n int) string {
	switch {
	case n < 1<<10:
		return plural(n, "byte")
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

func svgMIME(mime string) bool { return mediaType(mime) == "image/svg+xml" }

func imageMIME(mime string) bool { return strings.HasPrefix(mediaType(mime), "image/") }

// mediaType is a MIME type without its parameters, in lower case.
func mediaType(mime string) string {
	m, _, _ := strings.Cut(strings.ToLower(mime), ";")
	return strings.TrimSpace(m)
}

// endings are the file name endings of the types that tools return most. The
// system's own table would have to be read from disk.
var endings = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/flac": ".flac",
	"video/mp4": ".mp4", "application/pdf": ".pdf", "application/json": ".json", "application/zip": ".zip",
	"application/gzip": ".gz", "text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "text/markdown": ".md",
}

// fileName proposes a name that is one on every system: nothing of it is a path.
func fileName(base string, i int, mime string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, base)
	if len(clean) > 60 {
		clean = clean[:60]
	}
	end := endings[mediaType(mime)]
	if end == "" {
		end = ".bin"
	}
	return fmt.Sprintf("%s-%d%s", clean, i+1, end)
}
