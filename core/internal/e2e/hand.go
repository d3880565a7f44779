package e2e

import (
	"strconv"
	"strings"
)

// Click presses the left button at a point of the screen.
func (d *Display) Click(x, y int) {
	d.tb.Helper()
	d.must("xdotool", "mousemove", strconv.Itoa(x), strconv.Itoa(y), "click", "1")
}

// Type types text, slowly enough for a toolkit that draws in between.
func (d *Display) Type(text string) {
	d.tb.Helper()
	d.must("xdotool", "type", "--delay", "30", text)
}

// Key presses keys by their names, such as "Escape" or "ctrl+f".
func (d *Display) Key(names ...string) {
	d.tb.Helper()
	d.must("xdotool", append([]string{"key", "--delay", "30"}, names...)...)
}

// Windows returns the titles of the visible windows, in no order.
func (d *Display) Windows() []string {
	ids, err := d.do("xdotool", "search", "--onlyvisible", "--name", ".")
	if err != nil {
		return nil // xdotool fails when it finds none
	}
	var titles []string
	for id := range strings.FieldsSeq(ids) {
		if title, err := d.do("xdotool", "getwindowname", id); err == nil && title != "" {
			titles = append(titles, title)
		}
	}
	return titles
}
