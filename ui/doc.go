// Package ui is every window, dialog and widget of Drawbridge. It draws hub
// snapshots and sends a person's wishes back; it does no I/O, knows no transport
// and never imports fyne.io/fyne/v2/app.
package ui
