package ui

import (
	"fmt"
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/form"
)

// More options than these are shown in a list that scrolls, or in a drop-down.
const (
	maxRings  = 5
	maxTicks  = 10
	maxInMenu = 40
)

// optionLabels are the titles as they are shown, each different from the others.
func optionLabels(options []form.Option) []string {
	out := make([]string, len(options))
	seen := map[string]int{}
	for i, o := range options {
		label := display.Line(o.Title, 80)
		if label == "" {
			label = "(empty)"
		}
		if seen[label]++; seen[label] > 1 {
			label += fmt.Sprintf(" (%d)", seen[label])
		}
		out[i] = label
	}
	return out
}

// picker shows options to tick: any number, or one. Unticking the one leaves the
// field out.
type picker struct {
	labels []string
	one    bool
	keys   keyboard
	picks  []int
	change func([]int)

	ticks []*tick // all of them, while there are few
	list  *widget.List
	box   fyne.CanvasObject
}

func newPicker(labels []string, one bool, keys keyboard, change func([]int)) *picker {
	p := &picker{labels: labels, one: one, keys: keys, change: change}
	if len(labels) <= maxTicks {
		rows := container.New(layout.NewCustomPaddedVBoxLayout(-6))
		if len(labels) == 2 && len(labels[0])+len(labels[1]) < 24 {
			rows = container.NewHBox()
		}
		for i, label := range labels {
			t := newTick(label, keys, func(on bool) { p.toggle(i, on) })
			p.ticks = append(p.ticks, t)
			rows.Add(t)
		}
		p.box = rows
	} else {
		p.list = widget.NewList(func() int { return len(labels) },
			func() fyne.CanvasObject { return newTick("", keys, nil) },
			func(i widget.ListItemID, o fyne.CanvasObject) { p.draw(i, o.(*tick)) })
		p.list.HideSeparators = true
		p.box = container.NewGridWrap(fyne.NewSize(320, 190), p.list)
	}
	if one {
		p.box = container.NewThemeOverride(p.box, rings{})
	}
	return p
}

// draw fills a row of the list.
func (p *picker) draw(i int, t *tick) {
	t.OnChanged = nil
	t.SetText(p.labels[i])
	t.SetChecked(slices.Contains(p.picks, i))
	t.OnChanged = func(on bool) { p.toggle(i, on) }
}

func (p *picker) toggle(i int, on bool) {
	picks := slices.DeleteFunc(slices.Clone(p.picks), func(x int) bool { return x == i || p.one })
	if on {
		picks = append(picks, i)
		slices.Sort(picks)
	}
	p.set(picks)
	p.change(picks)
}

// set shows picks without an event.
func (p *picker) set(picks []int) {
	p.picks = picks
	for i, t := range p.ticks {
		t.put(slices.Contains(picks, i))
	}
	if p.list != nil {
		p.list.Refresh()
	}
}

// rings is the app's theme, whichever that is, with rings in place of boxes to
// tick, for a choice of one.
type rings struct{}

func (rings) theme() fyne.Theme { return fyne.CurrentApp().Settings().Theme() }

// Color implements fyne.Theme.
func (r rings) Color(name fyne.ThemeColorName, v fyne.ThemeVariant) color.Color {
	return r.theme().Color(name, v)
}

// Font implements fyne.Theme.
func (r rings) Font(s fyne.TextStyle) fyne.Resource { return r.theme().Font(s) }

// Size implements fyne.Theme.
func (r rings) Size(name fyne.ThemeSizeName) float32 { return r.theme().Size(name) }

// Icon implements fyne.Theme.
func (r rings) Icon(name fyne.ThemeIconName) fyne.Resource {
	switch name {
	case theme.IconNameCheckButton:
		name = theme.IconNameRadioButton
	case theme.IconNameCheckButtonChecked:
		name = theme.IconNameRadioButtonChecked
	case theme.IconNameCheckButtonFill:
		name = theme.IconNameRadioButtonFill
	}
	return r.theme().Icon(name)
}
