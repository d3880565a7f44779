package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"
)

// page is what the rail switches between.
type page int

const (
	pageServers page = iota
	pageAbout
)

// rail is the column of pages at the left.
type rail struct {
	page    page
	buttons map[page]*widget.Button
	box     *fyne.Container
}

func newRail(show func(page)) *rail {
	r := &rail{buttons: map[page]*widget.Button{}}
	add := func(p page, icon fyne.Resource, label string) *widget.Button {
		b := widget.NewButtonWithIcon(label, tinted(icon, widget.MediumImportance), func() { show(p) })
		b.Alignment = widget.ButtonAlignLeading
		r.buttons[p] = b
		return b
	}
	servers := add(pageServers, iconServers, "Servers")
	about := add(pageAbout, iconAbout, "About")
	r.box = container.NewBorder(nil, nil, nil, widget.NewSeparator(), container.NewPadded(container.NewVBox(servers, layout.NewSpacer(), about)))
	return r
}

func (r *rail) object() fyne.CanvasObject { return r.box }

// set marks the page that is shown.
func (r *rail) set(p page) {
	r.page = p
	for q, b := range r.buttons {
		want := widget.LowImportance
		if q == p {
			want = widget.MediumImportance
		}
		if b.Importance != want {
			b.Importance = want
			b.Refresh()
		}
	}
}
