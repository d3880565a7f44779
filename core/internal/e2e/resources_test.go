package e2e

import (
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// awaitMethod waits until a server has answered a request of that method well.
func awaitMethod(a *App, server, method string) {
	a.tb.Helper()
	a.Await(method, func() bool {
		s := a.Status()
		if s == nil || find(s, server) == nil {
			return false
		}
		for _, c := range find(s, server).Health.Calls {
			if c.Method == method && c.OK {
				return true
			}
		}
		return false
	})
}

// A person fills in a template with what the demo server offers and reads it, and
// gets a prompt the same way, by keys alone once a field has the focus.
func TestResourcesAndPrompts(t *testing.T) {
	d := StartDisplay(t, windowSize)
	a := Prepare(t, "")
	a.Start(d)
	awaitWindow(a, d)
	d.press(addDemo)
	awaitReady(a, "demo")

	d.press(resourcesTab)
	d.choose("{name}")
	d.press(firstVariable)
	awaitMethod(a, "demo", mcp.MethodComplete)
	d.Picture("template") // also the time in which the offers are drawn
	d.Key("Down", "ctrl+Return")
	awaitMethod(a, "demo", mcp.MethodResourcesRead)
	d.Picture("resource")

	d.press(promptsTab)
	d.choose("summarize")
	d.press(firstArgument)
	d.Type("A long text")
	d.Key("ctrl+Return")
	awaitMethod(a, "demo", mcp.MethodPromptsGet)
	d.Picture("prompt")
	a.Quit()
}
