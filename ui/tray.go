package ui

import "fyne.io/fyne/v2"

// TrayMenu is the menu of the tray icon.
func (u *UI) TrayMenu() *fyne.Menu {
	quit := fyne.NewMenuItem("Quit", func() { u.cfg.Quit() })
	quit.IsQuit = true // or the toolkit adds one of its own
	return fyne.NewMenu("Drawbridge", fyne.NewMenuItem("Open Drawbridge", u.Show), fyne.NewMenuItemSeparator(), quit)
}
