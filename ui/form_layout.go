package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// column stacks a field's parts. Labels bring so much air of their own that they
// are moved together; other widgets are set in to where the labels' text starts.
type column struct{ gap float32 }

// trim is the air above and below a label's text.
func trim(o fyne.CanvasObject) float32 {
	switch x := o.(type) {
	case *widget.Label:
		return theme.Size(theme.SizeNameInnerPadding) - 1
	case *fyne.Container:
		if _, ok := x.Layout.(*sideBySide); ok {
			return theme.Size(theme.SizeNameInnerPadding) - 1
		}
	}
	return 0
}

// inset is how far an object is set in.
func inset(o fyne.CanvasObject) float32 {
	switch o.(type) {
	case *input, *argEntry, *chooser, *container.Scroll:
		return theme.Size(theme.SizeNameInnerPadding)
	}
	return 0
}

// MinSize implements fyne.Layout.
func (c *column) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		size.Width = max(size.Width, m.Width+2*inset(o))
		size.Height += m.Height - 2*trim(o) + c.gap
	}
	return size
}

// Layout implements fyne.Layout.
func (c *column) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	var y float32
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		in, cut := inset(o), trim(o)
		h := o.MinSize().Height
		o.Move(fyne.NewPos(in, y-cut))
		o.Resize(fyne.NewSize(size.Width-2*in, h))
		if m := o.MinSize().Height; m != h { // a wrapped label learns its height from its width
			o.Resize(fyne.NewSize(size.Width-2*in, m))
			h = m
		}
		y += h - 2*cut + c.gap
	}
}

// sideBySide puts a small remark behind a label, on the same line of writing. A
// label that is cut where there is no room leaves the remark its own.
type sideBySide struct{}

const remarkWidth = 80

// MinSize implements fyne.Layout.
func (*sideBySide) MinSize(objects []fyne.CanvasObject) fyne.Size {
	m := objects[0].MinSize()
	return fyne.NewSize(max(m.Width, remarkWidth), m.Height)
}

// natural is the size of a label that is not cut.
func natural(o fyne.CanvasObject) fyne.Size {
	m := o.MinSize()
	if l, ok := o.(*widget.Label); ok && l.Truncation != fyne.TextTruncateOff {
		m.Width = fyne.MeasureText(l.Text, theme.Size(theme.SizeNameText), l.TextStyle).Width + 2*theme.Size(theme.SizeNameInnerPadding)
	}
	return m
}

// Layout implements fyne.Layout.
func (*sideBySide) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	m := natural(objects[0])
	m.Width = max(min(m.Width, size.Width-remarkWidth), objects[0].MinSize().Width)
	objects[0].Resize(m)
	objects[0].Move(fyne.NewPos(0, 0))
	for _, o := range objects[1:] {
		h := o.MinSize().Height
		o.Move(fyne.NewPos(m.Width-2*theme.Size(theme.SizeNameInnerPadding)+6, (m.Height-h)/2+1))
		o.Resize(fyne.NewSize(max(size.Width-m.Width, remarkWidth), h))
	}
}
