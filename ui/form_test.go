package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/drawbridge-mcp/drawbridge/core/form"
)

// filling shows a form in a window.
func filling(t *testing.T, schema string) (*formView, fyne.Window) {
	t.Helper()
	test.NewTempApp(t).Settings().SetTheme(newTheme())
	v := newFormView(form.Parse(json.RawMessage(schema)), noKeys{}, func() {})
	w := test.NewTempWindow(t, v.box)
	w.Resize(fyne.NewSize(520, 700))
	return v, w
}

func encoded(t *testing.T, v *formView) string {
	t.Helper()
	raw, err := v.encode()
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// Field case 60: titles are shown, values are sent.
func TestChoicesShowTitlesAndSendValues(t *testing.T) {
	v, w := filling(t, `{"type":"object","properties":{
		"prio":{"oneOf":[{"const":"low","title":"Low"},{"const":"high","title":"High"},{"const":"h2","title":"High"}]},
		"city":{"enum":["a","b","c","d","e","f","g"],"enumNames":["A!","B!","C!","D!","E!","F!","G!"]},
		"tags":{"type":"array","maxItems":2,"items":{"anyOf":[{"const":"#F00","title":"Red"},{"const":"#0F0","title":"Green"},{"const":"#00F","title":"Blue"}]},"default":["#F00"]}}}`)
	shot(t, w, "form-choices")
	ticks := map[string]*tick{}
	for _, k := range all[*tick](w.Content()) {
		ticks[k.Text] = k
	}
	if got := encoded(t, v); got != `{"tags":["#F00"]}` {
		t.Errorf("starts with %s", got)
	}
	test.Tap(ticks["High (2)"])
	test.Tap(ticks["Blue"])
	c := all[*chooser](w.Content())[0]
	c.SetSelected("C!")
	if got := encoded(t, v); got != `{"prio":"h2","city":"c","tags":["#F00","#00F"]}` {
		t.Errorf("sends %s", got)
	}
	test.Tap(ticks["Green"])
	if v.valid || !strings.Contains(v.fields[2].problem.Text, "at most 2") {
		t.Error("three of at most two were picked, and nothing says so")
	}
	test.Tap(ticks["High (2)"])
	test.Tap(ticks["Green"])
	test.Tap(ticks["Low"])
	test.Tap(ticks["High"])
	if ticks["Low"].Checked {
		t.Error("two of one choice are ticked")
	}
	c.SetSelected("(leave out)")
	if got := encoded(t, v); got != `{"prio":"high","tags":["#F00","#00F"]}` {
		t.Errorf("sends %s", got)
	}
}

func TestManyOptionsScroll(t *testing.T) {
	var opts []string
	for i := range 1500 {
		opts = append(opts, fmt.Sprintf("%q", fmt.Sprintf("option %d", i)))
	}
	list := strings.Join(opts, ",")
	v, w := filling(t, `{"type":"object","properties":{"one":{"enum":[`+list+`]},"many":{"type":"array","items":{"enum":[`+list+`]}}}}`)
	if n := len(all[*tick](w.Content())); n > 60 {
		t.Errorf("%d ticks are built", n)
	}
	v.fields[0].set(form.Value{Set: true, Picks: []int{3}})
	v.fields[1].set(form.Value{Set: true, Picks: []int{0, 1400}})
	if got := encoded(t, v); got != `{"one":"option 3","many":["option 0","option 1400"]}` {
		t.Errorf("sends %s", got)
	}
	var seen []string
	for _, k := range all[*tick](w.Content()) {
		if k.Checked {
			seen = append(seen, k.Text)
		}
	}
	if strings.Join(seen, ",") != "option 3,option 0" {
		t.Errorf("ticked are %q", seen)
	}
}

func TestYesOrNoCanBeLeftOut(t *testing.T) {
	v, w := filling(t, `{"type":"object","properties":{"opt":{"type":"boolean"},"req":{"type":"boolean"},"def":{"type":"boolean","default":true}},"required":["req"]}`)
	shot(t, w, "form-bools")
	if got := encoded(t, v); got != `{"req":false,"def":true}` {
		t.Errorf("starts with %s", got)
	}
	ticks := all[*tick](w.Content())
	test.Tap(ticks[1]) // No
	test.Tap(ticks[2])
	test.Tap(ticks[3])
	if got := encoded(t, v); got != `{"opt":false,"req":true,"def":false}` {
		t.Errorf("sends %s", got)
	}
	test.Tap(ticks[1])
	if got := encoded(t, v); got != `{"req":true,"def":false}` {
		t.Errorf("sends %s", got)
	}
}

// Field case 107: what was pasted is what is sent.
func TestPastingKeepsEveryCharacter(t *testing.T) {
	v, w := filling(t, `{"type":"object","properties":{"s":{"type":"string"}}}`)
	e := all[*input](w.Content())[0]
	const text = "東京都\n\tمرحبا 👨‍👩‍👧\nline  three "
	clip := test.NewClipboard()
	clip.SetContent(text)
	e.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
	want, _ := json.Marshal(text)
	if got := encoded(t, v); got != `{"s":`+string(want)+`}` {
		t.Errorf("sends %s, want %s", got, want)
	}
	if e.AcceptsTab() {
		t.Error("Tab does not leave the entry")
	}
}

func TestEmptyTextIsSentOnlyWhereItWasGiven(t *testing.T) {
	v, w := filling(t, `{"type":"object","properties":{"s":{"type":"string","default":""},"t":{"type":"string"}}}`)
	e := all[*input](w.Content())[0]
	if got := encoded(t, v); got != `{"s":""}` || e.PlaceHolder != "(empty text)" {
		t.Errorf("starts with %s, %q", got, e.PlaceHolder)
	}
	e.SetText("x")
	e.SetText("")
	if got := encoded(t, v); got != `{}` {
		t.Errorf("sends %s", got)
	}
}

func TestLongDefaultIsNotPutIntoAnEntry(t *testing.T) {
	v, w := filling(t, `{"type":"object","properties":{"s":{"type":"string","default":"`+strings.Repeat("x", maxEditable+1)+`"}}}`)
	e := all[*input](w.Content())[0]
	if e.Text != "" || !e.Disabled() || !strings.Contains(e.PlaceHolder, "65,537 bytes") {
		t.Errorf("the entry holds %d bytes: %q", len(e.Text), e.PlaceHolder)
	}
	if got := encoded(t, v); len(got) < maxEditable {
		t.Error("the default is not sent")
	}
}
