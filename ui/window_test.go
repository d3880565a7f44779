package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// town is a snapshot with a server in every state.
func town(now time.Time) *hub.Snapshot {
	return &hub.Snapshot{
		Config: hub.FileState{Path: "/home/me/.config/drawbridge/servers.json"},
		Servers: []*hub.Server{
			{Name: "github", Wanted: true, State: hub.Ready, Remote: true, Transport: "HTTP", Target: "https://api.example.com/mcp", Tools: 42, Era: hub.Era{Modern: true, Version: "2026-07-28", Evidence: "server/discover → 200", At: now.Add(-3 * time.Minute), Until: now.Add(12 * time.Minute)}, Health: hub.Health{Latency: 38 * time.Millisecond, Breaker: "closed", Cap: 64, Concurrency: "stateless", UpSince: now.Add(-time.Hour), Calls: []hub.Call{{At: now, Duration: time.Second, OK: true}}}, Instructions: "Be kind.", Secrets: []string{"GITHUB_TOKEN"}},
			{Name: "jira", Wanted: true, State: hub.SignInNeeded, Remote: true, Transport: "HTTP", Tools: -1, Sentence: "It needs sign-in.", Action: hub.Action{Kind: hub.EditSpec, Label: "Show the file"}},
			{Name: "files", Wanted: true, State: hub.Retrying, RetryAt: now.Add(8 * time.Second), Transport: "command", Target: "npx (3 arguments)", Tools: -1, Sentence: "The process ended with code 3.", Words: []string{"API_KEY missing"}, Action: hub.Action{Kind: hub.ShowLog, Label: "Show the log"}, Era: hub.Era{Legacy: true, Version: "2025-11-25"}},
			{Name: "notes", Wanted: true, State: hub.Blocked, Transport: "command", Tools: -1, Sentence: "It comes from a project folder."},
			{Name: "pg", Wanted: true, State: hub.WaitingSecret, Transport: "command", Tools: -1, Sentence: "Secret PG cannot be had.", Action: hub.Action{Kind: hub.SetSecret, Label: "How to set it", Arg: "PG"}},
			{Name: "slow", Wanted: true, State: hub.Starting, Since: now.Add(-12 * time.Second), Transport: "command", Tools: -1},
			{Name: "old", State: hub.Off, Transport: "command", Tools: -1, Action: hub.Action{Kind: hub.TurnOn, Label: "Turn on"}},
			{Name: "none", Wanted: true, State: hub.Ready, Transport: "command", Tools: 0, Era: hub.Era{Legacy: true, Version: "2024-11-05"}},
			{Name: "bad", Wanted: true, State: hub.InvalidSpec, Tools: -1, Sentence: "Line 3:5: there is neither a command nor a url.", Action: hub.Action{Kind: hub.EditSpec, Label: "Show the file"}},
		},
	}
}

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func atNoon(c *Config) { c.Now = func() time.Time { return noon } }

// labels returns what the labels in a tree say.
func labels(o fyne.CanvasObject) string {
	var b strings.Builder
	for _, l := range all[*widget.Label](o) {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

func wantTexts(t *testing.T, o fyne.CanvasObject, want ...string) {
	t.Helper()
	got := labels(o)
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%q is missing in:\n%s", w, got)
		}
	}
}

// 5-ui.md "Server row": the state is a shape and a word, the badge says the era, and
// there is one action at most.
func TestRowsSayStateInShapeAndWord(t *testing.T) {
	test.NewTempApp(t)
	all9 := town(noon)
	shapes := map[string]string{}
	for _, v := range all9.Servers {
		r := newRow(nil, nil)
		r.set(v, noon)
		w := test.NewTempWindow(t, r)
		w.Resize(fyne.NewSize(360, 70))
		shapes[v.Name] = r.mark.Resource.Name()
		if n := len(all[*widget.Button](r)); n > 1 || n == 1 && v.Action.Kind == hub.NoAction {
			t.Errorf("%s: %d buttons", v.Name, n)
		}
	}
	for name, want := range map[string]string{
		"github": "Ready · HTTP · 42 tools", "jira": "Sign-in needed", "files": "Retrying in 8 s", "notes": "Blocked",
		"pg": "Waiting for secret PG", "slow": "Connecting 12 s", "old": "Off", "none": "Ready, 0 tools", "bad": "Invalid",
	} {
		r := newRow(nil, nil)
		r.set(find(all9, name), noon)
		if !strings.HasPrefix(r.state.Text, want) {
			t.Errorf("%s says %q, want %q", name, r.state.Text, want)
		}
	}
	for _, pair := range [][2]string{{"github", "jira"}, {"github", "files"}, {"files", "bad"}, {"old", "slow"}, {"github", "old"}} {
		if shapes[pair[0]] == shapes[pair[1]] {
			t.Errorf("%s and %s differ by colour alone: %s", pair[0], pair[1], shapes[pair[0]])
		}
	}
}

// A row that did not change is not drawn again.
func TestUnchangedRowsAreLeftAlone(t *testing.T) {
	test.NewTempApp(t)
	r := newRow(nil, nil)
	v := town(noon).Servers[0]
	r.set(v, noon)
	r.name.SetText("touched")
	r.set(v, noon)
	if r.name.Text != "touched" {
		t.Error("the row was drawn again")
	}
	logged := *v
	logged.LogRev++
	r.set(&logged, noon)
	if r.name.Text != "touched" || r.shown != &logged {
		t.Error("a log line drew the row again")
	}
	changed := *v
	changed.Tools++
	r.set(&changed, noon)
	if r.name.Text != "github" {
		t.Error("a new number of tools was not drawn")
	}
}

func TestFilterAndCounters(t *testing.T) {
	s := newStage(t, newFakeHub(town(noon)), atNoon)
	s.q.until(t, "all servers", func() bool { return len(s.main.list.shown) == 9 })
	names := func() string {
		var out []string
		for _, v := range s.main.list.shown {
			out = append(out, v.Name)
		}
		return strings.Join(out, " ")
	}
	test.Type(s.main.list.filter, "LEGACY")
	if got := names(); got != "files none" {
		t.Errorf("the filter left %q", got)
	}
	s.main.list.filter.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	for text, want := range map[string]string{"Ready 2": "github none", "Need you 3": "jira notes pg", "Failing 2": "files bad", "Off 1": "old"} {
		for _, c := range all[*chip](s.main.win.Content()) {
			if c.text == text {
				test.Tap(c)
			}
		}
		if got := names(); got != want {
			t.Errorf("%s shows %q, want %q", text, got, want)
		}
	}
	test.Type(s.main.list.filter, "nothing like this")
	wantTexts(t, s.main.win.Content(), "No server matches.")
	// The last one leaves its group: the list goes back to all.
	s.main.list.filter.SetText("")
	s.hub.publish(&hub.Snapshot{Servers: s.snap.Servers[:1]})
	s.q.until(t, "github alone", func() bool { return names() == "github" })
}

// E9: the badge can be opened; the evidence, its age and its end are said.
func TestOverviewAnswersWhy(t *testing.T) {
	s := newStage(t, newFakeHub(town(noon)), atNoon)
	s.q.until(t, "a server is chosen", func() bool { return s.main.detail.shown != nil })
	wantTexts(t, s.main.detail.box, "github", "https://api.example.com/mcp", "42 tools", "Ready · 38 ms", "Why this era?",
		"server/discover → 200, 3 min ago; holds 12 min more", "Connected since 1 h ago.", "Breaker closed.", "In flight 0 of 64 · queued 0 · stateless", "Be kind.", "GITHUB_TOKEN")
	s.main.list.choose("files")
	wantTexts(t, s.main.detail.box, "The process ended with code 3.", "API_KEY missing", "Not connected.")
}

func TestSwitchAndActions(t *testing.T) {
	s := newStage(t, newFakeHub(town(noon)), atNoon)
	s.q.until(t, "all servers", func() bool { return len(s.main.list.shown) == 9 })
	var row0 *row
	for _, r := range all[*row](s.main.win.Content()) {
		if r.shown.Name == "github" {
			row0 = r
		}
	}
	test.Tap(row0.wanted)
	s.q.until(t, "the wish arrives", func() bool {
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		on, ok := s.hub.wanted["github"]
		return ok && !on
	})
	s.main.press(find(s.snap, "old"))
	s.q.until(t, "the action arrives", func() bool {
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		return len(s.hub.actions) == 1 && s.hub.actions[0] == hub.TurnOn
	})
	s.main.press(find(s.snap, "files"))
	if s.main.detail.tabs.Selected() != s.main.detail.logItem || s.main.detail.shown.Name != "files" {
		t.Error("the log was not shown")
	}
	s.main.press(find(s.snap, "pg"))
	wantTexts(t, s.main.win.Canvas().Overlays().Top(), "Run this in a terminal")
	entries := all[*widget.Entry](s.main.win.Canvas().Overlays().Top())
	if len(entries) != 1 || entries[0].Text != "drawbridge secret set PG" {
		t.Errorf("offered %v", entries)
	}
}

// A failure of the core is said in the window, and nothing else happens.
func TestFailuresAreSaid(t *testing.T) {
	h := newFakeHub(town(noon))
	h.doErr = errors.New("the file is read-only")
	s := newStage(t, h, atNoon)
	s.main.do("github", hub.Reconnect)
	s.q.until(t, "a dialog", func() bool { return s.main.win.Canvas().Overlays().Top() != nil })
	wantTexts(t, s.main.win.Canvas().Overlays().Top(), "That did not work: the file is read-only")
}

// P2, K3: the bands say that the file is not in force and that there is no keyring.
func TestBands(t *testing.T) {
	s := newStage(t, newFakeHub(nil), atNoon)
	snap := town(noon)
	snap.Config.Problem = "Line 3, column 7: a comma is missing."
	snap.Keyring = hub.Keyring{Problem: "there is no D-Bus session", Hint: "log in to a desktop"}
	s.hub.publish(snap)
	s.q.until(t, "the bands", func() bool { return s.main.config.box.Visible() && s.main.keys.box.Visible() })
	wantTexts(t, s.main.win.Content(), "Line 3, column 7: a comma is missing. The spec file as it stands is not in force", "There is no D-Bus session. Log in to a desktop.")
	waiting := *snap
	waiting.Keyring = hub.Keyring{Waiting: true}
	s.hub.publish(&waiting)
	s.q.until(t, "the keyring waits", func() bool { return strings.HasPrefix(s.main.keys.text.Text, "Your keyring asks to be unlocked.") })
	test.Tap(s.main.config.button)
	s.q.until(t, "the file is read again", func() bool {
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		return len(s.hub.actions) == 1 && s.hub.actions[0] == hub.Reload
	})
	s.hub.publish(town(noon))
	s.q.until(t, "no band", func() bool { return !s.main.config.box.Visible() && !s.main.keys.box.Visible() })
}

// 5-ui.md "Empty state": three cards, each of which does something.
func TestEmptyState(t *testing.T) {
	s := newStage(t, newFakeHub(&hub.Snapshot{Config: hub.FileState{Path: "/x/servers.json"}}), atNoon)
	s.q.until(t, "the empty state", func() bool { return strings.Contains(labels(s.main.win.Content()), "/x/servers.json") })
	for _, b := range all[*widget.Button](s.main.empty.object()) {
		test.Tap(b)
		if b != s.main.empty.demo && s.app.Clipboard().Content() == "" {
			t.Errorf("%q did nothing", b.Text)
		}
		s.app.Clipboard().SetContent("")
	}
	s.q.until(t, "the demo is added", func() bool {
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		return s.hub.demos == 1
	})
	s.hub.publish(town(noon))
	s.q.until(t, "the list", func() bool { return s.main.body.Visible() && !s.main.empty.object().Visible() })
}

func TestToolsTab(t *testing.T) {
	h := newFakeHub(town(noon))
	h.toolList = map[string][]hub.Tool{"github": {
		{Name: "search", Title: "Search", Description: "Finds things.", Hints: []string{"claims: read-only"}},
		{Name: "odd\u202Ename", Oddity: "The tool has no input schema."},
		{Name: "broken", Oddity: "The tool has no name.", Invalid: true},
	}}
	s := newStage(t, h, atNoon)
	s.q.until(t, "a server is chosen", func() bool { return s.main.detail.shown != nil })
	s.main.detail.tabs.SelectIndex(1)
	tab := s.main.detail.tools
	tab.list.Select(0)
	wantTexts(t, tab.object(), "search", "Search", "claims: read-only", "Finds things.")
	if tab.try == nil {
		t.Error("there is no Try")
	}
	tab.list.Select(1)
	wantTexts(t, tab.object(), "odd⟨U+202E⟩name", "The tool has no input schema.") // A7, case 104
	tab.list.Select(2)
	if tab.try != nil {
		t.Error("an invalid tool can be tried")
	}
	test.Type(tab.filter, "finds")
	if len(tab.shown) != 1 || tab.shown[0].name != "search" {
		t.Errorf("the filter left %v", tab.shown)
	}
	// An open tool keeps what was typed when the list is fetched again unchanged.
	tab.list.Select(0)
	before := tab.try
	again := *s.main.detail.shown
	again.ToolsRev++
	s.main.detail.update(&again)
	if tab.try != before {
		t.Error("the open tool was thrown away")
	}
	s.main.list.choose("none")
	wantTexts(t, tab.object(), "This server offers no tools.")
}

func TestLogFollowsAndSearches(t *testing.T) {
	h := newFakeHub(town(noon))
	for i := range 3000 {
		h.lines = map[string][]hub.LogLine{"github": append(h.lines["github"], hub.LogLine{Seq: uint64(i + 1), At: noon, From: "stderr", Level: "info", Text: fmt.Sprintf("line %d\x1b[2K", i)})}
	}
	s := newStage(t, h, atNoon)
	s.q.until(t, "a server is chosen", func() bool { return s.main.detail.shown != nil })
	if len(s.main.detail.log.lines) != 0 {
		t.Error("a log that nobody sees was fetched")
	}
	s.main.detail.showLog()
	l := s.main.detail.log
	if len(l.lines) != maxShownLog || l.lines[len(l.lines)-1].Text != "line 2999\x1b[2K" {
		t.Errorf("%d lines", len(l.lines))
	}
	wantTexts(t, l.object(), "line 2999⟨U+001B⟩[2K") // it follows, and is display-safe
	test.Type(l.filter, "2999")
	if len(l.shown) != 1 {
		t.Errorf("%d lines found", len(l.shown))
	}
	l.copy()
	if !strings.Contains(s.app.Clipboard().Content(), "stderr: line 2999") {
		t.Errorf("copied %q", s.app.Clipboard().Content())
	}
}

// 5-ui.md: usable at 900×560, at scale 2 on 1280×720 (640×360 would be less than any
// window promises, so the content must not ask for more than 900×560), whatever is
// shown.
func TestFitsSmallWindows(t *testing.T) {
	h := newFakeHub(town(noon))
	h.toolList = map[string][]hub.Tool{"github": {{Name: strings.Repeat("long", 60), Title: strings.Repeat("title ", 60), Description: strings.Repeat("word ", 400), Hints: []string{"claims: read-only", "claims: destructive"}}}}
	long := strings.Repeat("long", 60)
	var args []hub.Argument
	var vars []hub.Var
	for i := range 8 {
		args = append(args, hub.Argument{Name: long + fmt.Sprint(i), Description: strings.Repeat("word ", 80), Required: true})
		vars = append(vars, hub.Var{Name: long + fmt.Sprint(i)})
	}
	h.prompts = map[string][]hub.Prompt{"github": {{Name: long, Title: long, Description: strings.Repeat("word ", 400), Arguments: args}}}
	h.resources = map[string][]hub.Resource{"github": {{Template: true, URI: "a://" + long, Vars: vars, Name: long, Title: long, Description: strings.Repeat("word ", 400), MIME: long}}}
	h.complete = func(context.Context, hub.Completing) ([]string, error) {
		return []string{long, long + "1", long + "2"}, nil
	}
	h.snap.Servers[0].Completes, h.snap.Servers[0].Subscribes = true, true
	s := newStage(t, h, atNoon)
	s.q.until(t, "a server is chosen", func() bool { return s.main.detail.shown != nil })
	s.main.win.Resize(fyne.NewSize(900, 560))
	check := func(what string) {
		t.Helper()
		if m := s.main.win.Content().MinSize(); m.Width > 900 || m.Height > 560 {
			t.Errorf("%s needs %v", what, m)
		}
		for _, b := range unscrolledButtons(s.main.win.Content()) {
			at := fyne.CurrentApp().Driver().AbsolutePositionForObject(b)
			if at.X < 0 || at.X+b.Size().Width > 900 || at.Y+b.Size().Height > 560 {
				t.Errorf("%s: %q is cut: %v %v", what, b.Text, at, b.Size())
			}
		}
	}
	for i, tab := range []string{"overview", "tools", "resources", "prompts", "log"} {
		s.main.detail.tabs.SelectIndex(i)
		check(tab)
	}
	s.main.detail.tabs.SelectIndex(1)
	s.main.detail.tools.list.Select(0)
	check("a long tool")
	s.main.detail.tabs.SelectIndex(2)
	s.main.detail.resources.list.Select(0)
	check("a long template")
	s.main.detail.tabs.SelectIndex(3)
	s.main.detail.prompts.list.Select(0)
	f := s.main.detail.prompts.args.fields[0]
	test.Type(f.entry, "l")
	s.q.until(t, "long offers", func() bool { return f.offers.box.Visible() })
	shot(t, s.main.win, "small-prompt")
	check("a long prompt")
	for _, v := range s.snap.Servers {
		s.main.list.choose(v.Name)
		check(v.Name)
	}
	s.main.show(pageAbout)
	check("about")
	s.hub.publish(&hub.Snapshot{})
	s.q.until(t, "the empty state", func() bool { return s.main.empty.object().Visible() || s.main.about.object().Visible() })
	s.main.show(pageServers)
	check("the empty state")
}

// unscrolledButtons returns the buttons that can be seen and lie in nothing that
// scrolls.
func unscrolledButtons(o fyne.CanvasObject) []*widget.Button {
	if !o.Visible() {
		return nil
	}
	var children []fyne.CanvasObject
	switch x := o.(type) {
	case *widget.Button:
		return []*widget.Button{x}
	case *container.Scroll, *widget.List:
		return nil
	case *fyne.Container:
		children = x.Objects
	case fyne.Widget:
		children = test.WidgetRenderer(x).Objects()
	}
	var out []*widget.Button
	for _, c := range children {
		out = append(out, unscrolledButtons(c)...)
	}
	return out
}

// 500 servers: only what is seen has widgets.
func TestManyServers(t *testing.T) {
	snap := &hub.Snapshot{}
	for i := range 500 {
		snap.Servers = append(snap.Servers, &hub.Server{Name: fmt.Sprintf("s%03d", i), Wanted: true, State: hub.Ready, Tools: 3, Transport: "command"})
	}
	s := newStage(t, newFakeHub(snap), atNoon)
	s.q.until(t, "all servers", func() bool { return len(s.main.list.shown) == 500 })
	if n := len(all[*row](s.main.win.Content())); n == 0 || n > 30 {
		t.Errorf("%d rows are drawn", n)
	}
	s.main.list.list.ScrollToBottom()
	test.Type(s.main.list.filter, "s499")
	if len(s.main.list.shown) != 1 {
		t.Errorf("%d found", len(s.main.list.shown))
	}
}

// With a tray the window hides when it is closed, and comes back.
func TestTrayHidesTheWindow(t *testing.T) {
	var quits int
	s := newStage(t, newFakeHub(town(noon)), atNoon, func(c *Config) {
		c.Tray = true
		c.Quit = func() { quits++ }
	})
	menu := s.TrayMenu()
	if len(menu.Items) == 0 || menu.Items[0].Label != "Open Drawbridge" {
		t.Errorf("menu %v", menu.Items)
	}
	menu.Items[0].Action()
	if last := menu.Items[len(menu.Items)-1]; !last.IsQuit {
		t.Errorf("the last entry is %q", last.Label)
	} else {
		last.Action()
	}
	if quits != 1 {
		t.Errorf("quit %d times", quits)
	}
}

// Text on the accent colour and on surfaces stays readable in both themes.
func TestContrast(t *testing.T) {
	l := newTheme()
	for _, v := range []fyne.ThemeVariant{theme.VariantLight, theme.VariantDark} {
		for _, pair := range [][2]fyne.ThemeColorName{
			{theme.ColorNameForeground, theme.ColorNameBackground},
			{theme.ColorNamePlaceHolder, theme.ColorNameBackground},
			{theme.ColorNameDisabled, theme.ColorNameBackground},
			{theme.ColorNameForegroundOnPrimary, theme.ColorNamePrimary},
			{theme.ColorNameSuccess, theme.ColorNameBackground},
			{theme.ColorNameWarning, theme.ColorNameBackground},
			{theme.ColorNameError, theme.ColorNameBackground},
			{theme.ColorNamePrimary, theme.ColorNameBackground},
		} {
			a, b := luminance(l, pair[0], v), luminance(l, pair[1], v)
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
				t.Errorf("variant %d: %s on %s has a contrast of %.1f", v, pair[0], pair[1], ratio)
			}
		}
	}
}
