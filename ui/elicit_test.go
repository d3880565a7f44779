package ui

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
	"github.com/google/go-cmp/cmp"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

const contact = `{"type":"object","properties":{
	"name":{"type":"string","title":"Your name","description":"As it stands in your passport","minLength":2},
	"email":{"type":"string","format":"email"},
	"age":{"type":"integer","minimum":18},
	"lang":{"type":"string","title":"Language","enum":["en","de"],"enumNames":["English","Deutsch"],"default":"de"},
	"tags":{"type":"array","title":"Colours","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"#F00","title":"Red"},{"const":"#0F0","title":"Green"},{"const":"#00F","title":"Blue"}]}},
	"news":{"type":"boolean","title":"Newsletter"}},
	"required":["name","email"]}`

func formQuestion(id string) *hub.Question {
	return &hub.Question{
		ID: id, Server: "github", Origin: "https://api.example.com/mcp", Call: "create_issue",
		Message: "Please tell us about yourself, so that the issue can be filed.", Schema: json.RawMessage(contact), Asked: time.Now(),
	}
}

func questions(qs ...*hub.Question) *hub.Snapshot { return &hub.Snapshot{Questions: qs} }

// asking starts a UI in which questions wait.
func asking(t *testing.T, qs ...*hub.Question) *stage {
	t.Helper()
	s := newStage(t, newFakeHub(questions(qs...)))
	s.q.until(t, "a question is in sight", func() bool { return s.asker.asked != nil })
	return s
}

// ready opens the guard, as if its time had passed.
func (s *stage) ready(t *testing.T) {
	t.Helper()
	openGuard(t, s.asker.asked.guard)
}

func openGuard(t *testing.T, g *keyGuard) {
	t.Helper()
	g.since = time.Time{}
	g.try(t.Context())
	if !g.open {
		t.Fatal("the guard is not open")
	}
}

func (s *stage) form() *askForm { return s.asker.asked.body.(*askForm) }

func (s *stage) inputs() []*input { return all[*input](s.asker.win.Content()) }

func texts(w fyne.Window) string {
	var b strings.Builder
	for _, l := range all[*widget.Label](w.Content()) {
		b.WriteString(l.Text + "\n")
	}
	for _, l := range all[*textList](w.Content()) {
		b.WriteString(strings.Join(l.rows, "\n") + "\n")
	}
	return b.String()
}

func TestFormSaysWhoAsksAndSendsWhatWasTyped(t *testing.T) {
	s := asking(t, formQuestion("1"))
	shot(t, s.asker.win, "form-guarded")
	s.ready(t)
	for _, want := range []string{"github asks", "https://api.example.com/mcp", "It belongs to the call create_issue", "Please tell us", "Your name", "required", "passport", "Email address"} {
		if !strings.Contains(texts(s.asker.win), want) {
			t.Errorf("the window does not say %q:\n%s", want, texts(s.asker.win))
		}
	}
	f := s.form()
	if !f.sendB.Disabled() {
		t.Error("an incomplete form can be sent")
	}
	in := s.inputs()
	test.Type(in[0], "O")
	test.Type(in[1], "octo")
	shot(t, s.asker.win, "form-problems")
	if got := texts(s.asker.win); !strings.Contains(got, "At least 2 characters") || !strings.Contains(got, "Enter an email address") {
		t.Errorf("problems are not said beside the fields:\n%s", got)
	}
	test.Type(in[0], "cto")
	test.Type(in[1], "@example.com")
	test.Type(in[2], "9007199254740993")
	if f.sendB.Disabled() {
		t.Fatal("a complete form cannot be sent")
	}
	shot(t, s.asker.win, "form-valid")
	test.Tap(f.sendB)
	want := []given{{"1", hub.Answer{Action: "accept", Content: json.RawMessage(`{"name":"Octo","email":"octo@example.com","age":9007199254740993,"lang":"de"}`)}}}
	if d := cmp.Diff(want, s.hub.given()); d != "" {
		t.Error(d)
	}
	if s.asker.win != nil {
		t.Error("the window stays")
	}
}

// Field case 63: Decline is decline, closing is cancel, and there is one answer.
func TestEachWayOutGivesItsOwnAnswerOnce(t *testing.T) {
	esc := &fyne.KeyEvent{Name: fyne.KeyEscape}
	for name, c := range map[string]struct {
		do   func(*stage)
		want string
	}{
		"decline": {func(s *stage) { test.Tap(s.form().declineB) }, "decline"},
		"close":   {func(s *stage) { s.asker.dismiss() }, "cancel"},
		"escape with nothing focused": {func(s *stage) {
			s.asker.win.Canvas().Unfocus()
			s.asker.win.Canvas().OnTypedKey()(esc)
		}, "cancel"},
		"escape in an entry":      {func(s *stage) { s.inputs()[0].TypedKey(esc) }, "cancel"},
		"escape on a tick":        {func(s *stage) { all[*tick](s.asker.win.Content())[0].TypedKey(esc) }, "cancel"},
		"escape on a button":      {func(s *stage) { s.form().sendB.TypedKey(esc) }, "cancel"},
		"escape on the message":   {func(s *stage) { all[*textList](s.asker.win.Content())[0].TypedKey(esc) }, "cancel"},
		"decline by the keyboard": {func(s *stage) { s.form().declineB.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace}) }, "decline"},
	} {
		t.Run(name, func(t *testing.T) {
			s := asking(t, formQuestion("1"))
			s.ready(t)
			x := s.asker.asked
			c.do(s)
			x.cancel()
			x.decline()
			s.asker.dismiss()
			s.asker.update([]*hub.Question{formQuestion("1")}) // a snapshot from before the answer
			if d := cmp.Diff([]given{{"1", hub.Answer{Action: c.want}}}, s.hub.given()); d != "" {
				t.Error(d)
			}
			if s.asker.win != nil {
				t.Error("the answered question came back")
			}
		})
	}
}

// Rule A8, field case 101: keys meant for something else answer nothing.
func TestNoKeyAnswersByAccident(t *testing.T) {
	schema := `{"type":"object","properties":{"a":{"type":"string","default":"x"}}}`
	q := formQuestion("1")
	q.Schema = json.RawMessage(schema)
	s := asking(t, q)
	c := s.asker.win.Canvas()
	if c.Focused() != nil {
		t.Fatal("something has the focus from the start")
	}
	for _, k := range []fyne.KeyName{fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter, fyne.KeyEscape, fyne.KeyY} {
		c.OnTypedKey()(&fyne.KeyEvent{Name: k})
	}
	for _, sc := range sendShortcuts() {
		s.asker.asked.shortcut(sc)
	}
	test.Tap(s.form().sendB)
	test.Tap(s.form().declineB)
	if got := s.hub.given(); len(got) != 0 {
		t.Fatalf("answered within the guard: %v", got)
	}
	s.ready(t)
	f := s.form()
	for _, k := range []fyne.KeyName{fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter} {
		f.sendB.TypedKey(&fyne.KeyEvent{Name: k})
		s.inputs()[0].TypedKey(&fyne.KeyEvent{Name: k})
	}
	f.sendB.TypedRune(' ')
	if got := s.hub.given(); len(got) != 0 {
		t.Fatalf("Space or Enter answered: %v", got)
	}
	s.inputs()[0].TypedShortcut(sendShortcuts()[0])
	if got := s.hub.given(); len(got) != 1 || got[0].Action != "accept" {
		t.Errorf("Ctrl+Enter after the guard gave %v", got)
	}
}

// A key that is held down repeats; the guard opens only once it is let go.
func TestGuardWaitsForTheKeyToBeLetGo(t *testing.T) {
	s := asking(t, formQuestion("1"))
	g := s.asker.asked.guard
	end := time.Now().Add(900 * time.Millisecond)
	for time.Now().Before(end) {
		s.asker.win.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape})
		s.q.drain()
		time.Sleep(20 * time.Millisecond)
	}
	if g.open || len(s.hub.given()) != 0 {
		t.Error("a key that is held down got through")
	}
	s.q.until(t, "the guard opens", func() bool { return g.open })
	if waited := time.Since(end); waited < guardTime-100*time.Millisecond {
		t.Errorf("the guard opened after %v", waited)
	}
}

// Field case 109: one at a time, oldest first; what is gone vanishes at once.
func TestQuestionsWaitInLine(t *testing.T) {
	one, two, three := formQuestion("1"), formQuestion("2"), formQuestion("3")
	two.Server, three.Server = "jira", "files"
	s := asking(t, one, two, three)
	s.ready(t)
	if got := texts(s.asker.win); !strings.Contains(got, "github asks") || !strings.Contains(got, "1 of 3") {
		t.Errorf("got:\n%s", got)
	}
	win := s.asker.win
	s.asker.update([]*hub.Question{two, three})
	if got := texts(s.asker.win); !strings.Contains(got, "jira asks") || !strings.Contains(got, "1 of 2") {
		t.Errorf("got:\n%s", got)
	}
	if s.asker.win != win {
		t.Error("a second window was opened")
	}
	if s.asker.asked.guard.open || !s.form().declineB.Disabled() {
		t.Error("the next question came without a guard")
	}
	// A second press on the window's X is not meant for the next question.
	s.asker.dismiss()
	if len(s.hub.given()) != 0 {
		t.Error("a press meant for the last question ended the next one")
	}
	s.ready(t)
	s.asker.update([]*hub.Question{two})
	if got := texts(s.asker.win); strings.Contains(got, " of ") {
		t.Errorf("a single question is counted:\n%s", got)
	}
	s.asker.update(nil)
	if s.asker.win != nil || s.asker.asked != nil {
		t.Error("the window stays when its question is gone")
	}
	if len(s.hub.given()) != 0 {
		t.Errorf("questions that vanished were answered: %v", s.hub.given())
	}
}

// What was typed survives the snapshots that keep coming.
func TestTypingSurvivesSnapshots(t *testing.T) {
	s := asking(t, formQuestion("1"))
	s.ready(t)
	test.Type(s.inputs()[0], "東京都")
	s.hub.publish(questions(formQuestion("1"), formQuestion("2")))
	s.q.until(t, "the count changes", func() bool { return strings.Contains(texts(s.asker.win), "1 of 2") })
	if got := s.inputs()[0].Text; got != "東京都" {
		t.Errorf("the entry holds %q", got)
	}
}

// Rule A7, field case 104.
func TestForeignWordsAreShownAsTheyAre(t *testing.T) {
	q := formQuestion("1")
	q.Server, q.Message, q.Call, q.CallUncertain = "File\u202esystem\n\nApproved", "ok\u200b "+strings.Repeat(" ", 4000)+"\x1b[2Kend", "a, b", true
	q.Schema = json.RawMessage(`{"type":"object","properties":{"x\u0000y":{"type":"string","title":"Na\u2066me","description":"d\u200bd"}}}`)
	s := asking(t, q)
	got := texts(s.asker.win)
	for _, want := range []string{"File⟨U+202E⟩system⟨U+000A⟩⟨U+000A⟩Approved asks", "ok⟨U+200B⟩", "4,001 spaces", "⟨U+001B⟩", "Na⟨U+2066⟩me", "d⟨U+200B⟩d", "hidden characters", "one of these calls: a, b"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not shown:\n%s", want, got)
		}
	}
	s.ready(t)
	test.Type(s.inputs()[0], "v")
	test.Tap(s.form().sendB)
	if got := string(s.hub.given()[0].Content); got != `{"x\u0000y":"v"}` {
		t.Errorf("the name that is sent was changed: %s", got)
	}
}

func TestSecretsAreWarnedOf(t *testing.T) {
	q := formQuestion("1")
	q.Schema = json.RawMessage(`{"type":"object","properties":{"api_key":{"type":"string"}},"required":["api_key"]}`)
	s := asking(t, q)
	s.ready(t)
	if !strings.Contains(texts(s.asker.win), "Forms are not for secrets") {
		t.Error("no warning")
	}
	if !s.inputs()[0].Password {
		t.Error("the secret is typed in the open")
	}
	shot(t, s.asker.win, "form-secret")
}

// Field case 52, for questions: a schema that is not understood is answered in JSON.
func TestSchemaNotUnderstoodIsAnsweredInJSON(t *testing.T) {
	q := formQuestion("1")
	q.Schema = json.RawMessage(`{"anyOf":[{"type":"object"}]}`)
	s := asking(t, q)
	s.ready(t)
	e := s.inputs()[0]
	e.SetText(`{"a": `)
	if !s.form().sendB.Disabled() {
		t.Error("broken JSON can be sent")
	}
	shot(t, s.asker.win, "form-raw")
	e.SetText("{\"a\":\n 1.0}")
	test.Tap(s.form().sendB)
	if d := cmp.Diff([]given{{"1", hub.Answer{Action: "accept", Content: json.RawMessage(`{"a":1.0}`)}}}, s.hub.given()); d != "" {
		t.Error(d)
	}
}

// The buttons stay in sight whatever the server asks for.
func TestButtonsStayInSight(t *testing.T) {
	q := formQuestion("1")
	q.Message = strings.Repeat("A long message. ", 400)
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i := range 40 {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`"field` + string(rune('a'+i%26)) + strings.Repeat("x", i) + `":{"type":"string","description":"` + strings.Repeat("words ", 60) + `"}`)
	}
	b.WriteString(`}}`)
	q.Schema = json.RawMessage(b.String())
	s := asking(t, q)
	s.ready(t)
	// The second is a window as high as 1280×720 has room for at scale 2.
	for name, want := range map[string]fyne.Size{"form-long": {Width: 520, Height: 460}, "form-low": {Width: 600, Height: 340}} {
		s.asker.win.Resize(want)
		shot(t, s.asker.win, name)
		size := s.asker.win.Canvas().Size()
		if size != want {
			t.Errorf("the window grew to %v from %v", size, want)
		}
		for _, p := range []*press{s.form().sendB, s.form().declineB} {
			at := fyne.CurrentApp().Driver().AbsolutePositionForObject(p)
			if at.Y+p.Size().Height > size.Height || at.X+p.Size().Width > size.Width {
				t.Errorf("%s is at %v, outside of %v", p.Text, at, size)
			}
		}
		if h := all[*container.Scroll](s.form().box)[0].Size().Height; h < 50 {
			t.Errorf("the fields have a height of %v", h)
		}
	}
}
