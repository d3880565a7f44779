package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

const form = `{"message":"?","requestedSchema":{"type":"object","properties":{}}}`

func elicitName(ctx context.Context, call *Call) (any, error) {
	r, err := call.Elicit(ctx, "name", json.RawMessage(form))
	return string(r.Action) + string(r.Content), err
}

// twice asks two things one after the other, then the second again.
func twice(ctx context.Context, call *Call) (any, error) {
	var got []string
	for _, key := range []string{"one", "two", "two"} {
		r, err := call.Elicit(ctx, key, json.RawMessage(form))
		if err != nil {
			return nil, err
		}
		got = append(got, string(r.Content))
	}
	return strings.Join(got, " "), nil
}

// Legacy era: the client is sent a request about the call, and the handler waits.
func TestAskLegacy(t *testing.T) {
	s := serve(t, Limits{}, map[string]Handler{"name": elicitName, "twice": twice})
	p := connect(t, s, "c")
	p.initialize(`{"elicitation":{}}`)
	p.say(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"name"}}`)
	x := <-p.sent
	if x.m.Method != mcp.MethodElicit || string(x.m.Params) != form || x.about != jsonrpc.IntID(7) {
		t.Fatalf("asked %s about %s", x.m.Append(nil), x.about)
	}
	p.say(`{"jsonrpc":"2.0","id":99,"result":{"action":"accept"}}`) // to nothing
	p.say(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"a":1}}}`, x.m.ID)
	if got := text(p.get()); got != `accept{"a":1}` {
		t.Fatal("got", got)
	}
	p.say(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, x.m.ID) // a late second answer
	p.quiet()

	p.say(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"twice"}}`)
	for i := range 3 {
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"n":%d}}}`, p.get().ID, i)
	}
	if got := text(p.get()); got != `{"n":0} {"n":1} {"n":2}` {
		t.Fatal("got", got)
	}
	for _, answer := range []string{`"error":{"code":-32601,"message":"secret words"}`, `"result":{"action":"maybe"}`} {
		p.say(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"name"}}`)
		p.say(`{"jsonrpc":"2.0","id":%s,%s}`, p.get().ID, answer)
		m := p.get()
		if got := text(m); strings.HasPrefix(got, "accept") || strings.Contains(string(m.Append(nil)), "secret words") {
			t.Fatal("got", got)
		}
	}
}

// Only the connection that was asked may answer.
func TestAnswerFromAnotherConnection(t *testing.T) {
	s := serve(t, Limits{}, map[string]Handler{"name": elicitName})
	a, b := connect(t, s, "a"), connect(t, s, "b")
	a.initialize(`{"elicitation":{}}`)
	b.initialize(`{"elicitation":{}}`)
	a.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"name"}}`)
	ask := a.get()
	b.say(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, ask.ID)
	a.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if m := a.get(); m.ID != jsonrpc.IntID(2) {
		t.Fatalf("another connection's answer was taken: %s", m.Append(nil))
	}
	a.say(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, ask.ID)
	if got := text(a.get()); got != "decline" {
		t.Fatal("got", got)
	}
	b.quiet()
}

// S3: a call that waits for an answer holds no worker, and its clock stands still;
// it goes on when the answer comes, however busy the server is by then.
func TestParkedCallHoldsNoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		s := serve(t, Limits{Workers: 1, CallTimeout: time.Minute}, map[string]Handler{"name": elicitName, "slow": held(gate, nil)})
		p := connect(t, s, "c")
		p.initialize(`{"elicitation":{}}`)
		p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"name"}}`)
		ask := p.get()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		p.quiet()
		p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow"}}`)
		synctest.Wait()
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, ask.ID)
		synctest.Wait()
		p.quiet() // the slot is the slow call's
		close(gate)
		synctest.Wait()
		got := map[string]bool{text(p.get()): true, text(p.get()): true}
		if !got["done"] || !got["accept"] {
			t.Fatal("got", got)
		}
	})
}

// A client that does not answer is told to forget the request, and so when the call
// is cancelled while it waits.
func TestUnansweredAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, Limits{AnswerTimeout: time.Minute}, map[string]Handler{"name": elicitName})
		p := connect(t, s, "c")
		p.initialize(`{"elicitation":{}}`)
		p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"name"}}`)
		ask := p.get()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if m := p.get(); m.Method != mcp.NotifyCancelled || !strings.Contains(string(m.Params), `"requestId":`+ask.ID.String()) {
			t.Fatalf("got %s", m.Append(nil))
		}
		if got := text(p.get()); got != "!Error: "+ErrUnanswered.Error() {
			t.Fatal("got", got)
		}
		p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"name"}}`)
		p.get()
		p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		synctest.Wait()
		if m := p.get(); m.Method != mcp.NotifyCancelled {
			t.Fatalf("got %s", m.Append(nil))
		}
		p.quiet()
		if s.workers.used != 0 {
			t.Error("a slot is lost")
		}
	})
}

// input is what an input_required result holds.
type input struct {
	ResultType string
	Inputs     map[string]Input `json:"inputRequests"`
	State      *string          `json:"requestState"`
}

func required(t *testing.T, m *jsonrpc.Message) input {
	t.Helper()
	var r input
	if m.Error != nil || json.Unmarshal(m.Result, &r) != nil || r.ResultType != mcp.ResultInputRequired {
		t.Fatalf("no input_required: %s", m.Append(nil))
	}
	return r
}

// retry calls a tool again with what a client adds, raw.
func (p *peer) retry(tool, args, capabilities, more string) *jsonrpc.Message {
	p.t.Helper()
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,%s%s}}`, tool, args, meta(capabilities), more)
	return p.get()
}

func state(s *string) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(`,"requestState":%q`, *s)
}

// Modern era: the client retries, and the handler runs again with the answers.
func TestAskModern(t *testing.T) {
	s := serve(t, Limits{}, map[string]Handler{"name": elicitName, "twice": twice})
	p := connect(t, s, "c")
	const caps = `{"elicitation":{}}`
	r := required(t, p.retry("name", `{}`, caps, ""))
	if in := r.Inputs["name"]; in.Method != mcp.MethodElicit || string(in.Params) != form || r.State != nil {
		t.Fatalf("got %+v", r)
	}
	if got := text(p.retry("name", `{}`, caps, `,"inputResponses":{"name":{"action":"accept","content":{"a":1}},"other":{"x":1}}`)); got != `accept{"a":1}` {
		t.Fatal("got", got)
	}
	// What is missing is asked for again (basic/patterns/mrtr "Error Handling").
	required(t, p.retry("name", `{}`, caps, `,"inputResponses":{"wrong":{"action":"accept"}}`))
	required(t, p.retry("name", `{}`, caps, `,"inputResponses":null`))
	for _, bad := range []string{`,"inputResponses":7`, `,"inputResponses":{"name":7}`, `,"requestState":7`, `,"requestState":"forged"`} {
		if m := p.retry("name", `{}`, caps, bad); m.Error == nil || m.Error.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: got %s", bad, m.Append(nil))
		}
	}
	// Several rounds: earlier answers travel in the state.
	more := ""
	seen := map[string]bool{}
	for i, key := range []string{"one", "two", "two"} {
		r := required(t, p.retry("twice", `{}`, caps, more))
		if len(r.Inputs) != 1 || r.Inputs[key].Method == "" {
			t.Fatalf("round %d asks %v", i, r.Inputs)
		}
		more = fmt.Sprintf(`,"inputResponses":{%q:{"action":"accept","content":{"n":%d}}}`, key, i) + state(r.State)
		if r.State != nil {
			if seen[*r.State] {
				t.Error("a state came twice")
			}
			seen[*r.State] = true
		}
	}
	if got := text(p.retry("twice", `{}`, caps, more)); got != `{"n":0} {"n":1} {"n":2}` {
		t.Fatal("got", got)
	}
}

// S8: a state is good for its client, its request and its time only.
func TestStateIsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keep := func(ctx context.Context, call *Call) (any, error) {
			kept := string(call.Kept())
			call.Keep(json.RawMessage(`"mine"`))
			if _, err := call.Elicit(ctx, "name", json.RawMessage(form)); err != nil {
				return nil, err
			}
			return "kept " + kept, nil
		}
		s := serve(t, Limits{StateTTL: time.Minute}, map[string]Handler{"keep": keep, "other": keep})
		p, q := connect(t, s, "p"), connect(t, s, "q")
		const caps = `{"elicitation":{}}`
		r := required(t, p.retry("keep", `{"a":1}`, caps, ""))
		if r.State == nil || strings.Contains(*r.State, "mine") {
			t.Fatal("the state is not sealed")
		}
		good := `,"inputResponses":{"name":{"action":"accept"}}` + state(r.State)
		changed := *r.State + "-TAMPERED"
		flipped := "A" + (*r.State)[1:]
		if flipped == *r.State {
			flipped = "B" + (*r.State)[1:]
		}
		for name, m := range map[string]*jsonrpc.Message{
			"longer":          p.retry("keep", `{"a":1}`, caps, state(&changed)),
			"changed":         p.retry("keep", `{"a":1}`, caps, state(&flipped)),
			"other arguments": p.retry("keep", `{"a":2}`, caps, good),
			"other tool":      p.retry("other", `{"a":1}`, caps, good),
			"other client":    q.retry("keep", `{"a":1}`, caps, good),
		} {
			if m.Error == nil || m.Error.Code != jsonrpc.CodeInvalidParams {
				t.Errorf("%s: got %s", name, m.Append(nil))
			}
		}
		if got := text(p.retry("keep", `{"a":1}`, caps, good)); got != `kept "mine"` {
			t.Error("got", got)
		}
		time.Sleep(2 * time.Minute)
		if m := p.retry("keep", `{"a":1}`, caps, good); m.Error == nil {
			t.Error("an expired state was taken")
		}
	})
}

// Both eras ask for several things at once; a missing part is asked for alone.
func TestAskMany(t *testing.T) {
	many := func(ctx context.Context, call *Call) (any, error) {
		a, err := call.Ask(ctx, Inputs{"e": {mcp.MethodElicit, json.RawMessage(form)}, "r": {Method: mcp.MethodRootsList}, "s": {mcp.MethodSample, json.RawMessage(`{}`)}})
		return string(a["e"]) + string(a["r"]) + string(a["s"]), err
	}
	const caps = `{"elicitation":{"form":{}},"roots":{},"sampling":{}}`
	const want = `{"e":1}{"r":1}{"s":1}`
	answers := map[string]string{mcp.MethodElicit: `{"e":1}`, mcp.MethodRootsList: `{"r":1}`, mcp.MethodSample: `{"s":1}`}
	s := serve(t, Limits{}, map[string]Handler{"many": many})

	p := connect(t, s, "legacy")
	p.initialize(caps)
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"many"}}`)
	for range 3 {
		ask := p.get()
		p.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, ask.ID, answers[ask.Method])
	}
	if got := text(p.get()); got != want {
		t.Error("legacy got", got)
	}

	p = connect(t, s, "modern")
	if r := required(t, p.retry("many", `{}`, caps, "")); len(r.Inputs) != 3 {
		t.Fatal("asked", r.Inputs)
	}
	r := required(t, p.retry("many", `{}`, caps, `,"inputResponses":{"e":{"e":1},"s":{"s":1}}`))
	if len(r.Inputs) != 1 || r.Inputs["r"].Method != mcp.MethodRootsList {
		t.Fatal("asked", r.Inputs)
	}
	if got := text(p.retry("many", `{}`, caps, `,"inputResponses":{"r":{"r":1}}`+state(r.State))); got != want {
		t.Error("modern got", got)
	}
}

// -32021 in the modern era, an error result in the legacy one; nothing is asked.
func TestUndeclaredCapability(t *testing.T) {
	ask := func(in Input) Handler {
		return func(ctx context.Context, call *Call) (any, error) {
			_, err := call.Ask(ctx, Inputs{"k": in})
			return "asked", err
		}
	}
	url := json.RawMessage(`{"mode":"url","message":"?","url":"https://example.com"}`)
	for name, c := range map[string]struct {
		in           Input
		caps, needed string
	}{
		"elicitation":          {Input{mcp.MethodElicit, json.RawMessage(form)}, `{}`, `{"elicitation":{}}`},
		"elicitation null":     {Input{mcp.MethodElicit, json.RawMessage(form)}, `{"elicitation":null}`, `{"elicitation":{}}`},
		"form, client has url": {Input{mcp.MethodElicit, json.RawMessage(form)}, `{"elicitation":{"url":{}}}`, `{"elicitation":{}}`},
		"url, client has form": {Input{mcp.MethodElicit, url}, `{"elicitation":{}}`, `{"elicitation":{"url":{}}}`},
		"sampling":             {Input{Method: mcp.MethodSample}, `{"elicitation":{}}`, `{"sampling":{}}`},
		"roots":                {Input{Method: mcp.MethodRootsList}, `{"sampling":{}}`, `{"roots":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, Limits{}, map[string]Handler{"ask": ask(c.in)})
			for _, e := range eras(c.caps) {
				p := connect(t, s, e.name)
				e.open(p)
				e.call(p, `1`, "ask", `{}`)
				m := p.get()
				if e.name == "legacy" {
					if got := text(m); !strings.HasPrefix(got, "!Error: the client does not support") {
						t.Errorf("legacy got %q", got)
					}
					continue
				}
				if m.Error == nil || m.Error.Code != mcp.CodeMissingCapability || string(m.Error.Data) != `{"requiredCapabilities":`+c.needed+`}` {
					t.Errorf("modern got %s", m.Append(nil))
				}
			}
		})
	}
}

// 2025-11-25 asks for an elicitationId in url mode; 2026-07-28 has none.
func TestURLElicitationID(t *testing.T) {
	url := func(ctx context.Context, call *Call) (any, error) {
		r, err := call.Elicit(ctx, "u", json.RawMessage(`{"mode":"url","message":"?","url":"https://example.com"}`))
		return string(r.Action), err
	}
	s := serve(t, Limits{}, map[string]Handler{"url": url})
	const caps = `{"elicitation":{"url":{}}}`
	p := connect(t, s, "legacy")
	p.initialize(caps)
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"url"}}`)
	ask := p.get()
	var params mcp.ElicitParams
	if json.Unmarshal(ask.Params, &params) != nil || params.ElicitationID == "" {
		t.Fatalf("asked %s", ask.Params)
	}
	p.say(`{"jsonrpc":"2.0","id":%s,"result":{"action":"cancel"}}`, ask.ID)
	if got := text(p.get()); got != "cancel" {
		t.Fatal("got", got)
	}
	r := required(t, connect(t, s, "modern").retry("url", `{}`, caps, ""))
	if strings.Contains(string(r.Inputs["u"].Params), "elicitationId") {
		t.Fatal("a modern client got an elicitationId")
	}
}

// A list is no place for input_required (basic/patterns/mrtr "Supported Requests").
func TestNoInputRequiredForCompletion(t *testing.T) {
	s := serve(t, Limits{}, nil)
	if err := s.registry.AddPrompt(Prompt{Definition: json.RawMessage(`{"name":"p"}`), Handle: say("x"), Complete: elicitName}); err != nil {
		t.Fatal(err)
	}
	p := connect(t, s, "c")
	p.say(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""},%s}}`, meta(`{"elicitation":{}}`))
	if m := p.get(); m.Error == nil || m.Error.Code != jsonrpc.CodeInternal {
		t.Fatalf("got %s", m.Append(nil))
	}
}

// The errors that handlers branch on are told apart.
func TestAskErrors(t *testing.T) {
	var missing *MissingCapability
	err := (Caller{}).can(Input{Method: mcp.MethodSample})
	if !errors.As(err, &missing) {
		t.Error("got", err)
	}
	if err := (Caller{}).can(Input{Method: "tools/call"}); err == nil || errors.As(err, &missing) {
		t.Error("tools/call passed for a request for input:", err)
	}
}
