package e2e

// windowSize is what the window asks for at first: on a screen of that size it
// fills the screen, and its points are the screen's.
const windowSize = "1100x720"

// point is a place in the main window.
type point struct{ x, y int }

// Where things are at windowSize. A test that clicks beside something waits in
// vain for what the click should have caused, and says so.
var (
	addDemo    = point{854, 514}
	toolsTab   = point{588, 105}
	toolFilter = point{585, 144}
	firstTool  = point{560, 193}
	firstField = point{894, 335}
	callButton = point{735, 690}
)

// press clicks at a point.
func (d *Display) press(p point) {
	d.tb.Helper()
	d.Click(p.x, p.y)
}

// chooseTool picks the tool of that name in the open Tools tab.
func (d *Display) chooseTool(name string) {
	d.tb.Helper()
	d.press(toolFilter)
	d.Key("ctrl+a")
	d.Type(name)
	d.press(firstTool)
}
