package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
)

const questionWindow = "Drawbridge: a server asks"

// awaitQuestion waits until the person is asked, in a window of its own that has
// drawn itself and whose guard against keys typed elsewhere is over.
func awaitQuestion(a *App, d *Display) *hub.Question {
	a.tb.Helper()
	var q *hub.Question
	a.Await("a question", func() bool {
		if s := a.Status(); s != nil && len(s.Questions) == 1 {
			q = s.Questions[0]
		}
		return q != nil && slices.Contains(d.Windows(), questionWindow)
	})
	time.Sleep(time.Second) // longer than the guard, as a reading person is
	return q
}

func awaitNoQuestion(a *App, d *Display) {
	a.tb.Helper()
	a.Await("the end of the question", func() bool {
		s := a.Status()
		return s != nil && len(s.Questions) == 0 && !slices.Contains(d.Windows(), questionWindow)
	})
}

// awaitCalls waits until a server has answered that many calls of tools.
func awaitCalls(a *App, server string, n int) {
	a.tb.Helper()
	a.Await("the call's outcome", func() bool {
		s := a.Status()
		if s == nil || find(s, server) == nil {
			return false
		}
		h := find(s, server).Health
		return len(h.Calls) >= n && h.InFlight == 0
	})
}

func awaitReady(a *App, server string) *hub.Server {
	a.tb.Helper()
	var v *hub.Server
	a.Await(server+" to be ready", func() bool {
		if s := a.Status(); s != nil {
			v = find(s, server)
		}
		return v != nil && v.State == hub.Ready && v.Tools > 0
	})
	return v
}

// A newcomer with nothing adds the demo server, looks at it, calls a tool and
// answers its questions, as the README says.
func TestNewcomer(t *testing.T) {
	d := StartDisplay(t, windowSize)
	a := Prepare(t, "")
	a.Start(d)
	awaitWindow(a, d)
	d.Picture("empty")

	d.press(addDemo)
	demo := awaitReady(a, "demo")
	if !demo.Era.Modern {
		t.Errorf("the demo's era is %+v", demo.Era)
	}
	d.Picture("detail")

	before := len(demo.Health.Calls)
	d.press(toolsTab)
	d.choose("weather")
	d.press(firstField)
	d.Type("Lisbon")
	d.press(callButton)
	awaitCalls(a, "demo", before+1)
	d.Picture("try")

	d.choose("ask_form")
	d.press(callButton)
	if q := awaitQuestion(a, d); q.Server != "demo" || q.URLMode {
		t.Errorf("question %+v", q)
	}
	d.Type("Ada")
	d.Picture("elicitation")
	d.Key("ctrl+Return")
	awaitNoQuestion(a, d)

	d.choose("ask_url")
	d.press(callButton)
	if q := awaitQuestion(a, d); !q.URLMode {
		t.Errorf("question %+v", q)
	}
	d.Picture("url")
	d.Key("Escape")
	awaitNoQuestion(a, d)

	child := childOf(t, a.cmd.Process.Pid)
	if child == 0 {
		t.Error("the demo is no process of ours")
	}
	if took, code := a.Quit(); code != 0 || took > 3*time.Second+raceSecond {
		t.Errorf("ended with %d after %v", code, took)
	}
	if alive(child) {
		t.Error("the demo outlived the program")
	}
}

// Top 25 number 19: what the person did is what the server gets, in both eras.
// Escape is cancel, never decline.
func TestAnswersReachTheServer(t *testing.T) {
	for _, era := range []string{fakeserver.Legacy, fakeserver.Modern} {
		t.Run(era, func(t *testing.T) {
			journal := filepath.Join(t.TempDir(), "journal")
			path, args := fakeserver.Command(t, fakeserver.Script{Era: era, Journal: journal})
			text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"asker": map[string]any{"command": path, "args": args}}})
			if err != nil {
				t.Fatal(err)
			}
			d := StartDisplay(t, windowSize)
			a := Prepare(t, string(text))
			a.Start(d)
			awaitWindow(a, d)
			awaitReady(a, "asker")
			d.press(toolsTab)
			d.choose("ask")
			d.press(callButton)
			awaitQuestion(a, d)
			d.Type("Ada")
			d.Key("ctrl+Return")
			awaitNoQuestion(a, d)
			awaitReceived(a, journal, `"action":"accept"`, `{"name":"Ada"}`)

			d.choose("echo") // away from the last result, which moved the button
			d.choose("ask")
			d.press(callButton)
			awaitQuestion(a, d)
			d.Key("Escape")
			awaitNoQuestion(a, d)
			awaitReceived(a, journal, `"action":"cancel"`)
			a.Quit()
		})
	}
}

// awaitReceived waits until the server has received a message with these parts.
func awaitReceived(a *App, journal string, parts ...string) {
	a.tb.Helper()
	a.Await(strings.Join(parts, " "), func() bool {
		entries, err := fakeserver.ReadJournal(journal)
		if err != nil {
			a.tb.Fatal(err)
		}
		return slices.ContainsFunc(entries, func(e fakeserver.Entry) bool {
			return e.Event == fakeserver.Received && !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(e.Text, p) })
		})
	})
}
