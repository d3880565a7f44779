package ui

import "fyne.io/fyne/v2"

// TrayMenu is the menu of the tray icon. Quit is added by the toolkit, with
// itself as the last entry.
func (u *UI) TrayMenu() *fyne.Menu {
	return fyne.NewMenu("Drawbridge", fyne.NewMenuItem("Open Drawbridge", u.Show))
}
