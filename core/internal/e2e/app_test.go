package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
)

// raceSecond is what the race detector adds to an ordinary end of a program.
const raceSecond = time.Second

// awaitWindow waits until the main window is there and something is drawn in it.
func awaitWindow(a *App, d *Display) {
	a.tb.Helper()
	a.Await("the window", func() bool { return slices.Contains(d.Windows(), "Drawbridge") })
	a.Await("a first frame", func() bool { return colours(d.Screenshot("starting")) > 20 })
}

// A newcomer without a servers.json gets the empty state, and quitting is quick.
func TestFirstStart(t *testing.T) {
	d := StartDisplay(t, "1280x800")
	a := Prepare(t, "")
	a.Start(d)
	awaitWindow(a, d)
	a.Await("the status", func() bool { return a.Status() != nil })
	if s := a.Status(); len(s.Servers) != 0 {
		t.Errorf("servers: %v", s.Servers)
	}
	if n := colours(d.Screenshot("first")); n < 50 {
		t.Errorf("the empty state shows %d colours", n)
	}
	if took, code := a.Quit(); code != 0 || took > 3*time.Second+raceSecond {
		t.Errorf("ended with %d after %v", code, took)
	}
}

// fleet is a servers.json of healthy servers and three dead ones: hung, refused,
// bad command. All processes note themselves in the journal.
func fleet(t *testing.T, healthy int, journal string) string {
	t.Helper()
	servers := map[string]any{}
	for i := range healthy {
		era := []string{fakeserver.Legacy, fakeserver.Modern, fakeserver.Dual}[i%3]
		path, args := fakeserver.Command(t, fakeserver.Script{Era: era, Journal: journal})
		servers[fmt.Sprintf("server-%02d", i+1)] = map[string]any{"command": path, "args": args}
	}
	path, args := fakeserver.Command(t, fakeserver.Script{
		Journal: journal, IgnoreEOF: true, Replies: map[string]fakeserver.Reply{"*": {Silent: true}},
	})
	servers["hung"] = map[string]any{"command": path, "args": args}
	servers["refused"] = map[string]any{"url": "http://" + closedPort(t) + "/mcp"}
	servers["nowhere"] = map[string]any{"command": "drawbridge-no-such-command"}
	text, err := json.MarshalIndent(map[string]any{"mcpServers": servers}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// closedPort is an address that refuses connections.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func find(s *hub.Snapshot, name string) *hub.Server {
	for _, v := range s.Servers {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func count(s *hub.Snapshot, state hub.State) (n int) {
	for _, v := range s.Servers {
		if v.State == state {
			n++
		}
	}
	return n
}

// Case 87 of the field reports, top 25 number 22: with 3 dead servers of 20 the
// window comes, 17 are ready, and the dead ones say what is wrong. On quitting,
// every process is gone.
func TestTwentyServersOfWhichThreeAreDead(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal")
	d := StartDisplay(t, "1280x800")
	a := Prepare(t, fleet(t, 17, journal))
	a.Start(d)
	awaitWindow(a, d)
	a.Await("17 ready servers", func() bool {
		s := a.Status()
		return s != nil && count(s, hub.Ready) == 17
	})
	a.Await("words about the dead", func() bool {
		s := a.Status()
		for _, name := range []string{"refused", "nowhere"} {
			if v := find(s, name); v == nil || v.Sentence == "" || v.Action.Kind == hub.NoAction {
				return false
			}
		}
		return true
	})
	s := a.Status()
	if v := find(s, "nowhere"); v.State != hub.Failed || !strings.Contains(v.Sentence+v.Target, "drawbridge-no-such-command") {
		t.Errorf("nowhere: %s: %s (%s)", v.State, v.Sentence, v.Target)
	}
	if v := find(s, "hung"); v.State == hub.Ready {
		t.Errorf("hung: %s", v.State)
	}
	if n := colours(d.Screenshot("twenty")); n < 50 {
		t.Errorf("the list shows %d colours", n)
	}

	took, code := a.Quit()
	if code != 0 || took > 3*time.Second+raceSecond {
		t.Errorf("ended with %d after %v", code, took)
	}
	entries, err := fakeserver.ReadJournal(journal)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Event == fakeserver.Started && alive(e.PID) {
			t.Errorf("process %d outlived the program", e.PID)
		}
	}
	if len(entries) == 0 {
		t.Error("no server was started at all")
	}
}

func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}

// Without a display the same core runs, and there is one instance.
func TestServeWithoutADisplay(t *testing.T) {
	path, args := fakeserver.Command(t, fakeserver.Script{Name: "plain"})
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"plain": map[string]any{"command": path, "args": args}}})
	if err != nil {
		t.Fatal(err)
	}
	a := Prepare(t, string(text))
	a.Start(nil, "serve")
	a.Await("the server", func() bool {
		s := a.Status()
		return s != nil && count(s, hub.Ready) == 1
	})
	if out, err := a.Run("status"); err != nil || !strings.Contains(out, "plain") || !strings.Contains(out, "Ready") {
		t.Errorf("status: %v: %s", err, out)
	}
	if _, err := a.Run("serve"); err == nil {
		t.Error("a second instance started")
	}
	if err := os.WriteFile(a.Spec, []byte(`{"mcpServers": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	a.Await("the edited file", func() bool {
		s := a.Status()
		return s != nil && len(s.Servers) == 0
	})
	if took, code := a.Quit(); code != 0 || took > 3*time.Second+raceSecond {
		t.Errorf("ended with %d after %v", code, took)
	}
}
