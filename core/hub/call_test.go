package hub

import (
	"encoding/json"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/secrets"
)

// Field case 57: every block is shown or says what it was; nothing is dropped.
func TestResultsOfEveryKind(t *testing.T) {
	for raw, want := range map[string]struct {
		blocks  int
		problem bool
		check   func(*Outcome) bool
	}{
		`{"content":[]}`:     {0, false, nil},
		`{}`:                 {0, false, nil},
		`{"content":null}`:   {0, false, nil},
		`{"content":"text"}`: {1, true, nil},
		`{"content":[],"structuredContent":{"a":1}}`:                               {0, false, func(o *Outcome) bool { return string(o.Structured) == `{"a":1}` }},
		`{"content":[],"structuredContent":[1]}`:                                   {0, false, func(o *Outcome) bool { return string(o.Structured) == `[1]` }},
		`{"isError":true,"content":[{"type":"text","text":"no"}]}`:                 {1, false, func(o *Outcome) bool { return o.IsError && o.Content[0].Text == "no" }},
		`{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}`:      {1, false, func(o *Outcome) bool { return string(o.Content[0].Data) == "hi" }},
		`{"content":[{"type":"image","data":"!!","mimeType":"image/png"}]}`:        {1, true, nil},
		`{"content":[{"type":"audio","data":"aGk=","mimeType":"audio/wav"}]}`:      {1, false, nil},
		`{"content":[{"type":"resource_link","uri":"file:///x","name":"x"}]}`:      {1, false, func(o *Outcome) bool { return o.Content[0].URI == "file:///x" }},
		`{"content":[{"type":"resource","resource":{"uri":"a:b","text":"t"}}]}`:    {1, false, func(o *Outcome) bool { return o.Content[0].Text == "t" }},
		`{"content":[{"type":"resource","resource":{"uri":"a:b","blob":"aGk="}}]}`: {1, false, func(o *Outcome) bool { return string(o.Content[0].Data) == "hi" }},
		`{"content":[{"type":"hologram","x":1}]}`:                                  {1, true, func(o *Outcome) bool { return string(o.Content[0].Raw) == `{"type":"hologram","x":1}` }},
		`{"content":[{"text":"?"}]}`:                                               {1, true, nil},
		`{"content":[7]}`:                                                          {1, true, nil},
	} {
		o := outcomeOf(json.RawMessage(raw))
		if len(o.Content) != want.blocks || want.blocks > 0 && (o.Content[0].Problem != "") != want.problem || want.check != nil && !want.check(o) {
			t.Errorf("%s: got %+v", raw, o)
		}
	}
}

// Field case 67: progress never falls, odd values do no harm.
func TestOddProgress(t *testing.T) {
	var got []Progress
	h := New(Config{Mask: new(secrets.Masker)})
	f := h.progressing(func(p Progress) { got = append(got, p) })
	for _, p := range []string{`{"progress":10,"total":0}`, `{"progress":5,"total":20}`, `{"progress":"50"}`, `{"progress":null}`, `7`, `{"progress":5,"total":-3}`} {
		f(json.RawMessage(p))
	}
	if len(got) != 5 || got[1].Done != 10 || got[1].Total != 20 || got[2].Done != 50 || got[4].Done != 50 || got[4].Total != 0 {
		t.Errorf("got %+v", got)
	}
}
