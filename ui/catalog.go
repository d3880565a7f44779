package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// entry is one line of a catalog: what it shows is display-safe.
type entry struct {
	key         string // what it is known by
	name, about string
	search      string // what the filter looks in
	odd         bool   // something about it deserves a look
	mark        string // a word at the right
	index       int    // in the owner's list; set by the catalog
}

// catalog is a list with a filter at the left, and what is chosen at the right.
type catalog struct {
	filter *filterEntry
	list   *widget.List
	note   *widget.Label
	all    []entry
	shown  []entry
	chosen string
	// open shows the entry of that index at the right.
	open func(index int)

	hint string
	pane *fyne.Container
	box  fyne.CanvasObject
}

// newCatalog returns an empty catalog of things, such as "tools".
func newCatalog(things, hint string) *catalog {
	c := &catalog{note: wrapped(""), hint: hint, pane: container.NewStack()}
	c.note.Alignment = fyne.TextAlignCenter
	c.filter = newFilterEntry("Filter "+things, func(string) { c.apply() })
	c.list = widget.NewList(func() int { return len(c.shown) }, newEntryRow, func(i widget.ListItemID, o fyne.CanvasObject) {
		if i < len(c.shown) {
			o.(*entryRow).set(c.shown[i])
		}
	})
	c.list.OnSelected = func(i widget.ListItemID) {
		if i < len(c.shown) {
			c.chosen = c.shown[i].key
			c.open(c.shown[i].index)
		}
	}
	left := container.NewBorder(c.filter, nil, nil, nil, container.NewStack(c.list, container.NewVBox(c.note)))
	split := container.NewHSplit(left, container.NewPadded(c.pane))
	split.Offset = 0.36
	c.box = split
	c.blank()
	return c
}

func (c *catalog) object() fyne.CanvasObject { return c.box }

// blank empties the right side.
func (c *catalog) blank() {
	l := widget.NewLabel(c.hint)
	l.Importance = widget.LowImportance
	c.show(container.NewCenter(l))
}

// show puts something at the right side.
func (c *catalog) show(o fyne.CanvasObject) {
	c.pane.Objects = []fyne.CanvasObject{o}
	c.pane.Refresh()
}

// reset forgets what was chosen and filtered.
func (c *catalog) reset() {
	c.chosen = ""
	c.filter.SetText("")
}

// put lists entries, and says in a note why there are none.
func (c *catalog) put(entries []entry, note string) {
	for i := range entries {
		entries[i].index, entries[i].name = i, orElse(entries[i].name, "(no name)")
	}
	c.all = entries
	if len(entries) > 0 {
		note = ""
	}
	setText(c.note, note)
	c.apply()
}

// apply filters, and keeps the chosen entry selected wherever it now stands.
func (c *catalog) apply() {
	words := strings.Fields(strings.ToLower(c.filter.Text))
	c.shown = c.shown[:0:0]
	for _, e := range c.all {
		text, ok := strings.ToLower(e.search), true
		for _, w := range words {
			ok = ok && strings.Contains(text, w)
		}
		if ok {
			c.shown = append(c.shown, e)
		}
	}
	c.list.Refresh()
	for i, e := range c.shown {
		if c.chosen != "" && e.key == c.chosen {
			c.list.Select(i)
			c.open(e.index) // it may be another one of that key
			return
		}
	}
	c.list.UnselectAll()
}

// entryRow draws an entry.
type entryRow struct {
	widget.BaseWidget
	name, about, mark *widget.Label
	icon              *widget.Icon
	top               *fyne.Container
}

func newEntryRow() fyne.CanvasObject {
	r := &entryRow{name: widget.NewLabel(""), about: widget.NewLabel(""), mark: widget.NewLabel(""), icon: widget.NewIcon(theme.NewWarningThemedResource(theme.WarningIcon()))}
	r.name.Truncation, r.about.Truncation = fyne.TextTruncateEllipsis, fyne.TextTruncateEllipsis
	r.about.SizeName, r.mark.SizeName = theme.SizeNameCaptionText, theme.SizeNameCaptionText
	r.about.Importance = widget.LowImportance
	r.mark.Importance = widget.HighImportance
	r.top = container.NewBorder(nil, nil, nil, container.NewHBox(r.mark, r.icon), r.name)
	r.ExtendBaseWidget(r)
	return r
}

func (r *entryRow) set(e entry) {
	setText(r.name, e.name)
	setText(r.about, e.about)
	if r.mark.Text != e.mark || r.icon.Visible() != e.odd {
		r.mark.SetText(e.mark)
		setVisible(r.mark, e.mark != "")
		setVisible(r.icon, e.odd)
		r.top.Refresh()
	}
}

// CreateRenderer implements fyne.Widget.
func (r *entryRow) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.New(&stacked{overlap: 12}, r.top, r.about))
}
