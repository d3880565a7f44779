package e2e

// windowSize is what the window asks for at first: on a screen of that size it
// fills the screen, and its points are the screen's.
const windowSize = "1100x720"

// point is a place in the main window.
type point struct{ x, y int }

// Where things are at windowSize. A test that clicks beside something waits in
// vain for what the click should have caused, and says so.
var (
	addDemo      = point{854, 514}
	toolsTab     = point{588, 105}
	resourcesTab = point{662, 105}
	promptsTab   = point{747, 105}
	filter       = point{585, 144}
	firstRow     = point{560, 193}
	firstField   = point{894, 335}
	callButton   = point{735, 690}
	// The first field of the demo's template of notes, and of its first prompt.
	firstVariable = point{894, 377}
	firstArgument = point{894, 320}
)

// press clicks at a point.
func (d *Display) press(p point) {
	d.tb.Helper()
	d.Click(p.x, p.y)
}

// choose picks the first entry with these words in the open tab.
func (d *Display) choose(words string) {
	d.tb.Helper()
	d.press(filter)
	d.Key("ctrl+a")
	d.Type(words)
	d.press(firstRow)
}
