package ui

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// serverList is the filter, the counters and the rows.
type serverList struct {
	u        *UI
	filter   *filterEntry
	counters *fyne.Container
	list     *widget.List
	none     *widget.Label

	all    []*hub.Server
	shown  []*hub.Server
	group  group
	chosen string
	// picked is told which server the person chose.
	picked func(name string)
	// press carries out a row's action.
	press func(s *hub.Server)
}

func newServerList(u *UI, picked func(string), press func(*hub.Server)) *serverList {
	l := &serverList{u: u, counters: container.NewHBox(), none: widget.NewLabel("No server matches."), picked: picked, press: press}
	l.filter = newFilterEntry("Filter servers", func(string) { l.apply() })
	l.list = widget.NewList(
		func() int { return len(l.shown) },
		func() fyne.CanvasObject { return newRow(l.wish, l.press) },
		func(i widget.ListItemID, o fyne.CanvasObject) {
			if i < len(l.shown) {
				o.(*row).set(l.shown[i], u.cfg.Now())
			}
		},
	)
	l.list.OnSelected = func(i widget.ListItemID) {
		if i < len(l.shown) && l.shown[i].Name != l.chosen {
			l.chosen = l.shown[i].Name
			l.picked(l.chosen)
		}
	}
	l.none.Hide()
	l.none.Alignment = fyne.TextAlignCenter
	return l
}

func (l *serverList) object() fyne.CanvasObject {
	head := container.NewVBox(l.filter, l.counters)
	return container.NewBorder(head, nil, nil, nil, container.NewStack(l.list, container.NewCenter(l.none)))
}

// wish turns a server on or off in the spec file.
func (l *serverList) wish(s *hub.Server, on bool) {
	l.u.attempt("The switch of "+s.Name+" could not be changed", func() error {
		return l.u.cfg.Hub.SetWanted(l.u.ctx, s.Name, on)
	})
}

// update draws a snapshot's servers.
func (l *serverList) update(servers []*hub.Server) {
	l.all = servers
	l.apply()
}

// apply filters, counts and redraws.
func (l *serverList) apply() {
	words := strings.Fields(strings.ToLower(l.filter.Text))
	counts := map[group]int{}
	l.shown = l.shown[:0:0]
	for _, s := range l.all {
		g := groupOf(s)
		counts[g]++
		if (l.group == everything || g == l.group) && matches(s, words) {
			l.shown = append(l.shown, s)
		}
	}
	if l.group != everything && counts[l.group] == 0 {
		// The last one left its group: an empty list would look like a loss.
		l.group = everything
		l.apply()
		return
	}
	l.count(counts)
	if len(l.shown) == 0 && len(l.all) > 0 {
		l.none.Show()
	} else {
		l.none.Hide()
	}
	l.list.Refresh()
	l.mark()
}

// mark keeps the chosen server selected wherever it now stands.
func (l *serverList) mark() {
	for i, s := range l.shown {
		if s.Name == l.chosen {
			l.list.Select(i)
			return
		}
	}
	l.list.UnselectAll()
}

// choose selects a server by name.
func (l *serverList) choose(name string) {
	l.chosen = name
	l.mark()
	l.picked(name)
}

func matches(s *hub.Server, words []string) bool {
	text := strings.ToLower(s.Name + " " + s.Target + " " + s.Era.Badge() + " " + s.StateWord() + " " + s.Transport)
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// count shows how many servers are in each group; a counter filters when tapped.
func (l *serverList) count(counts map[group]int) {
	type counter struct {
		g    group
		text string
	}
	list := []counter{{everything, fmt.Sprintf("All %d", len(l.all))}}
	for _, c := range []counter{{isReady, "Ready"}, {needsPerson, "Need you"}, {isFailing, "Failing"}, {isOff, "Off"}} {
		if n := counts[c.g]; n > 0 {
			c.text = fmt.Sprintf("%s %d", c.text, n)
			list = append(list, c)
		}
	}
	for len(l.counters.Objects) < len(list) {
		l.counters.Add(newChip())
	}
	for i, o := range l.counters.Objects {
		c := o.(*chip)
		if i >= len(list) {
			c.Hide()
			continue
		}
		g := list[i].g
		c.set(list[i].text, list[i].g == l.group, func() { l.group = g; l.apply() })
		c.Show()
	}
	l.counters.Refresh()
}
