package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// The marks of a state differ in shape, so that colour never speaks alone
// (5-ui.md).
var (
	markFull  = svg("full", `<circle cx="12" cy="12" r="8"/>`)
	markHalf  = svg("half", `<path d="M12 4a8 8 0 1 0 0 16z"/><path d="M12 4a8 8 0 0 1 0 16v-2a6 6 0 0 0 0-12z"/>`)
	markRing  = svg("ring", `<path d="M12 4C7.58 4 4 7.58 4 12C4 16.42 7.58 20 12 20C16.42 20 20 16.42 20 12C20 7.58 16.42 4 12 4ZM12 6C15.31 6 18 8.69 18 12C18 15.31 15.31 18 12 18C8.69 18 6 15.31 6 12C6 8.69 8.69 6 12 6Z"/>`)
	markUp    = svg("up", `<path d="M12 3.5 21 20H3z"/>`)
	markBlock = svg("block", `<path d="M5 5h14v14H5z"/>`)
	markDots  = svg("dots", `<circle cx="5" cy="12" r="2.6"/><circle cx="12" cy="12" r="2.6"/><circle cx="19" cy="12" r="2.6"/>`)

	iconServers = svg("servers", `<path d="M4 4h16v6H4zm2 2v2h2V6zm-2 8h16v6H4zm2 2v2h2v-2z"/>`)
	iconAbout   = svg("about", `<path fill-rule="evenodd" d="M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm-1 5h2v2h-2zm0 4h2v6h-2z"/>`)
)

func svg(name, body string) fyne.Resource {
	return fyne.NewStaticResource(name+".svg", []byte(
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="24" height="24"><g fill="#000000">`+body+`</g></svg>`))
}

// tinted colours a resource by importance; the colour follows the theme.
func tinted(r fyne.Resource, i widget.Importance) fyne.Resource {
	switch i {
	case widget.SuccessImportance:
		return theme.NewSuccessThemedResource(r)
	case widget.WarningImportance:
		return theme.NewWarningThemedResource(r)
	case widget.DangerImportance:
		return theme.NewErrorThemedResource(r)
	case widget.HighImportance:
		return theme.NewPrimaryThemedResource(r)
	case widget.LowImportance:
		return theme.NewDisabledResource(r)
	}
	return theme.NewThemedResource(r)
}
