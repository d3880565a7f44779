package hub

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
)

// C5: prompts are listed in the server's order; odd ones are kept and marked.
func TestPromptsAreListed(t *testing.T) {
	r := newRig(t, map[string]entry{"a": fake(t, fakeserver.Script{
		Capabilities: json.RawMessage(`{"prompts":{},"completions":{}}`),
		Replies: map[string]fakeserver.Reply{"prompts/list": {Result: json.RawMessage(`{"prompts":[
			{"name":"p","title":"P","description":"d","arguments":[{"name":"x","title":"X","description":"e","required":true},{"name":"y","required":"?"}]},
			{"title":"no name"},{"name":"odd","arguments":{}},{"name":"half","arguments":[{},7,{"name":"z"}]},7,{"name":"none","arguments":null}]}`)}},
	})})
	v := r.until("the prompts", func(*Snapshot) bool { return len(r.Prompts("a")) == 6 }).find("a")
	if v.Prompts != 6 || v.PromptsRev == 0 || !v.Completes {
		t.Errorf("view %+v", v)
	}
	got := r.Prompts("a")
	if p := got[0]; p.Name != "p" || p.Title != "P" || p.Description != "d" || p.Oddity != "" ||
		!slices.Equal(p.Arguments, []Argument{{"x", "X", "e", true}, {Name: "y"}}) {
		t.Errorf("p: %+v", p)
	}
	if got[1].Oddity == "" || got[2].Oddity == "" || got[3].Oddity == "" || len(got[3].Arguments) != 1 || got[4].Oddity == "" || got[5].Oddity != "" {
		t.Errorf("odd ones: %+v", got[1:])
	}
}

// Field case 57: every message is shown with who speaks, or says what it was.
func TestMessagesOfEveryKind(t *testing.T) {
	for raw, want := range map[string]struct {
		blocks int
		check  func(Content) bool
	}{
		`{"messages":[]}`: {0, nil},
		`{"messages":[{"role":"user","content":{"type":"text","text":"t"}},{"role":"assistant","content":{"type":"text","text":"u"}}]}`: {2, func(c Content) bool { return c.Role == "user" && c.Text == "t" }},
		`{"messages":[{"role":"user","content":[{"type":"text","text":"t"},{"type":"image","data":"aGk="}]}]}`:                          {2, func(c Content) bool { return c.Role == "user" && c.Problem == "" }},
		`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","blob":"aGk="}}}]}`:                           {1, func(c Content) bool { return string(c.Data) == "hi" }},
		`{"messages":[{"content":"plain"}]}`: {1, func(c Content) bool { return c.Problem != "" && c.Role == "nobody" }},
		`{"messages":[{"role":"user"}]}`:     {1, func(c Content) bool { return c.Problem != "" && c.Role == "user" }},
		`{"messages":[7]}`:                   {1, func(c Content) bool { return c.Problem != "" }},
		`{"messages":{}}`:                    {1, func(c Content) bool { return c.Problem != "" }},
		`{}`:                                 {1, func(c Content) bool { return c.Problem != "" }},
	} {
		o := messagesOf(json.RawMessage(raw))
		if len(o.Content) != want.blocks || want.check != nil && !want.check(o.Content[0]) || string(o.Raw) != raw {
			t.Errorf("%s: got %+v", raw, o)
		}
	}
}

// G3: a person completes the arguments of a prompt of the real demo server and gets
// its messages, or its refusal in words.
func TestPromptsEndToEnd(t *testing.T) {
	r := newRig(t, map[string]entry{"demo": {"url": startDemo(t)}})
	r.until("ready", func(*Snapshot) bool { return len(r.Prompts("demo")) > 5 })
	ctx := context.Background()
	offers, err := r.Complete(ctx, "demo", Completing{Prompt: "plan_trip", Argument: "city", Value: "L", Others: map[string]string{"days": "2"}})
	if err != nil || !slices.Equal(offers, []string{"Lima", "Lisbon", "London"}) {
		t.Errorf("completes %v, %v", offers, err)
	}
	out, err := r.GetPrompt(ctx, "demo", "plan_trip", json.RawMessage(`{"city":"Lima","days":"2"}`), nil)
	if err != nil || len(out.Content) != 1 || out.Content[0].Role != "user" || !strings.Contains(out.Content[0].Text, "Lima for 2 days") || out.Duration == 0 {
		t.Errorf("got %+v, %v", out, err)
	}
	var ce *CallError
	if _, err = r.GetPrompt(ctx, "demo", "plan_trip", nil, nil); !errors.As(err, &ce) || !strings.Contains(ce.Sentence, "-32602") || len(ce.Words) != 1 || !strings.Contains(ce.Words[0], "city") {
		t.Errorf("got %v, %+v", err, ce)
	}
	if _, err = r.GetPrompt(ctx, "demo", "plan_trip", json.RawMessage(`{`), nil); !errors.As(err, &ce) {
		t.Errorf("got %v", err)
	}
	if _, err = r.Complete(ctx, "nobody", Completing{}); !errors.As(err, &ce) || !errors.Is(err, ErrNoServer) {
		t.Errorf("got %v", err)
	}
}
