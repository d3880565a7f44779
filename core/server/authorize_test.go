package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// always decides the same about every call.
func always(d Decision) Authorizer {
	return func(context.Context, Peer, string, json.RawMessage) Decision { return d }
}

// counted returns a handler and how often it ran.
func counted() (Handler, *atomic.Int32) {
	n := new(atomic.Int32)
	return func(context.Context, *Call) (any, error) {
		n.Add(1)
		return "ran", nil
	}, n
}

// guarded serves one tool "t" behind the authorizer.
func guarded(t *testing.T, a Authorizer, asker Asker, l Limits) (*Server, *atomic.Int32) {
	t.Helper()
	h, n := counted()
	r := NewRegistry()
	addTool(t, r, "t", h)
	return serveWith(t, Options{Registry: r, Authorizer: a, Asker: asker, Limits: l}), n
}

// denial reads the machine-readable deny: its decision and detail, and "" for
// anything else.
func denial(m *jsonrpc.Message) string {
	var d struct{ Error, Tool, Decision, Detail string }
	if json.Unmarshal([]byte(strings.TrimPrefix(text(m), "!")), &d) != nil || d.Error != "authorization_required" || d.Tool != "t" || text(m)[0] != '!' {
		return ""
	}
	return d.Decision + ": " + d.Detail
}

// S4; acceptance 109, 167–170, 172: what an authorizer says and what the client gets.
func TestAuthorizer(t *testing.T) {
	for name, c := range map[string]struct {
		authorizer Authorizer
		want       string // "" when the tool runs
	}{
		"none":                {nil, ""},
		"allow":               {always(Decision{Effect: Allow}), ""},
		"deny":                {always(Decision{Effect: Deny, Text: "blocked"}), "deny: blocked"},
		"ask without anybody": {always(Decision{Effect: Ask, Text: "Really?"}), "ask: Really?"},
		"panic":               {func(context.Context, Peer, string, json.RawMessage) Decision { panic("secret") }, "deny: authorizer_failed"},
		"nothing":             {always(Decision{}), "deny: authorizer_contract_violation"},
		"nonsense":            {always(Decision{Effect: "ALLOW"}), "deny: authorizer_contract_violation"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range eras(`{}`) {
				s, ran := guarded(t, c.authorizer, nil, Limits{})
				p := connect(t, s, "c")
				e.open(p)
				e.call(p, `1`, "t", `{}`)
				m := p.get()
				if got := denial(m); got != c.want || (c.want == "") != (text(m) == "ran") || (ran.Load() > 0) != (c.want == "") {
					t.Errorf("%s: got %s, ran %d times", e.name, m.Append(nil), ran.Load())
				}
				p.quiet()
			}
		})
	}
}

// S4, acceptance 171: the authorizer sees the tool, the exact arguments, and of the
// caller only what the front door vouches for.
func TestAuthorizerSeesWhatIsVouchedFor(t *testing.T) {
	seen := make(chan string, 1)
	s, _ := guarded(t, func(_ context.Context, p Peer, tool string, args json.RawMessage) Decision {
		seen <- fmt.Sprint(p, tool, string(args))
		return Decision{Effect: Deny, Text: "not_allowlisted"}
	}, nil, Limits{})
	p := connect(t, s, "c")
	p.initialize(`{}`)
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"b":1.0, "a":2}}}`)
	if got, want := <-seen, fmt.Sprint(Peer{ID: "c", Owner: "c", Transport: StdioTransport}, "t", `{"b":1.0, "a":2}`); got != want {
		t.Errorf("saw %s, want %s", got, want)
	}
	if got := denial(p.get()); got != "deny: not_allowlisted" {
		t.Error("got", got)
	}
}

// readable serves one of everything behind a read authorizer.
func readable(t *testing.T, a ReadAuthorizer) *Server {
	t.Helper()
	r := NewRegistry()
	r.Declare(Tools, Logging, Completions)
	addTool(t, r, "t", say("ran"))
	if err := errors.Join(
		r.AddResource(Resource{Definition: json.RawMessage(`{"uri":"x:y","name":"y"}`), Handle: func(context.Context, *Call) (any, error) {
			return ReadResult{Contents: []Contents{{URI: "x:y", Text: "content"}}}, nil
		}}),
		r.AddPrompt(Prompt{Definition: json.RawMessage(`{"name":"p"}`), Handle: func(context.Context, *Call) (any, error) {
			return PromptResult{Messages: []Message{}}, nil
		}}),
	); err != nil {
		t.Fatal(err)
	}
	return serveWith(t, Options{Registry: r, ReadAuthorizer: a, Authorizer: func(_ context.Context, _ Peer, tool string, _ json.RawMessage) Decision {
		return Decision{Effect: map[bool]Effect{true: Allow, false: Deny}[tool == "t"]}
	}})
}

// reads are the requests that a read authorizer gates, and what of them it sees.
var reads = map[string][2]string{
	"tools/list":               {`{}`, `{}`},
	"prompts/list":             {`{}`, `{}`},
	"prompts/get":              {`{"name":"p","arguments":{"a":"b"}}`, `{"arguments":{"a":"b"},"name":"p"}`},
	"resources/list":           {`{"cursor":null}`, `{}`},
	"resources/templates/list": {`{}`, `{}`},
	"resources/read":           {`{"uri":"x:y"}`, `{"uri":"x:y"}`},
	"resources/subscribe":      {`{"uri":"x:y"}`, `{"uri":"x:y"}`},
	"resources/unsubscribe":    {`{"uri":"x:y"}`, `{"uri":"x:y"}`},
	"completion/complete":      {`{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}`, `{"ref":{"type":"ref/prompt","name":"p"}}`},
	"logging/setLevel":         {`{"level":"debug"}`, `{"level":"debug"}`},
}

// S4; acceptance 149, 150, 152, 153, 154, 206: every read is gated, a denial is one
// application error, and it says nothing of what there is.
func TestReadAuthorizer(t *testing.T) {
	for name, c := range map[string]struct {
		decision Decision
		panics   bool
		detail   string // "" when the read is served
	}{
		"allow":    {Decision{Effect: Allow}, false, ""},
		"deny":     {Decision{Effect: Deny, Text: "not yours"}, false, "not yours"},
		"ask":      {Decision{Effect: Ask, Text: "a secret prompt"}, false, "interactive_approval_unsupported"},
		"panic":    {Decision{}, true, "authorizer_failed"},
		"nonsense": {Decision{}, false, "authorizer_contract_violation"},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan string, 1)
			s := readable(t, func(_ context.Context, _ Peer, method string, subject json.RawMessage) Decision {
				seen <- method + string(subject)
				if c.panics {
					panic("x")
				}
				return c.decision
			})
			p := connect(t, s, "c")
			p.initialize(`{}`)
			check := func(m *jsonrpc.Message, method string) {
				t.Helper()
				if c.detail == "" {
					if m.Error != nil {
						t.Errorf("%s: got %s", method, m.Append(nil))
					}
					return
				}
				var data map[string]string
				if m.Error == nil || m.Error.Code != -31090 || m.Error.Message != "authorization_required: "+method ||
					json.Unmarshal(m.Error.Data, &data) != nil || data["error"] != "authorization_required" || data["method"] != method || data["detail"] != c.detail {
					t.Errorf("%s: got %s", method, m.Append(nil))
				}
			}
			for method, r := range reads {
				p.say(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, r[0])
				if got := <-seen; got != method+r[1] {
					t.Errorf("saw %s", got)
				}
				check(p.get(), method)
			}
			if c.detail != "" { // what does not exist is denied in the same words
				p.say(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x:none"}}`)
				<-seen
				check(p.get(), "resources/read")
			}
			p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}`)
			if got := text(p.get()); got != "ran" {
				t.Error("the read authorizer decided about a tool:", got)
			}
			p.say(`{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["x:y"]},%s}}`, meta(`{}`))
			if got := <-seen; got != `subscriptions/listen{"notifications":{"resourceSubscriptions":["x:y"]}}` {
				t.Errorf("saw %s", got)
			}
			m := p.get()
			if c.detail == "" && m.Method != mcp.NotifySubscriptionAccepted {
				t.Errorf("got %s", m.Append(nil))
			}
			if c.detail != "" {
				check(m, "subscriptions/listen")
			}
		})
	}
}

// Acceptance 151, 153: without a read authorizer reads are open, whatever the tools'
// authorizer says.
func TestToolAuthorizerGatesNoReads(t *testing.T) {
	p := connect(t, readable(t, nil), "c")
	p.initialize(`{}`)
	for method, r := range reads {
		p.say(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, r[0])
		if m := p.get(); m.Error != nil {
			t.Errorf("%s: got %s", method, m.Append(nil))
		}
	}
}

func sensitive(t *testing.T, r *Registry, name, annotations string, h Handler) {
	t.Helper()
	if err := r.AddTool(Tool{Definition: json.RawMessage(fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"},"annotations":%s}`, name, annotations)), Handle: h}); err != nil {
		t.Fatal(err)
	}
}

// S5; acceptance 157–163: which tools keep a server without an authorizer from
// starting.
func TestBootGate(t *testing.T) {
	for annotations, want := range map[string]bool{
		`{"destructiveHint":true}`:                     true,
		`{"sensitive":true}`:                           true,
		`{"sensitive":true,"destructiveHint":false}`:   true,
		`{"destructiveHint":true,"readOnlyHint":true}`: true,
		`{}`:                        false,
		`{"destructiveHint":false}`: false,
		`{"readOnlyHint":true,"sensitive":false}`:       false,
		`{"readOnlyHint":false,"idempotentHint":false}`: false,
	} {
		r := NewRegistry()
		addTool(t, r, "harmless", say("ran"))
		sensitive(t, r, "wipe", annotations, say("ran"))
		if got := r.sensitiveTools(); slices.Contains(got, "wipe") != want {
			t.Errorf("%s: sensitive are %v", annotations, got)
		}
		_, err := New(Options{Registry: r})
		if errors.Is(err, ErrUnguarded) != want || (want && !strings.HasSuffix(err.Error(), ": wipe")) {
			t.Errorf("%s: %v", annotations, err)
		}
		if len(r.watching()) != map[bool]int{true: 0, false: 1}[want] {
			t.Errorf("%s: %d watch the registry", annotations, len(r.watching()))
		}
		s, err := New(Options{Registry: r, Authorizer: always(Decision{Effect: Allow})})
		if err != nil {
			t.Fatalf("%s: refused with an authorizer: %v", annotations, err)
		}
		s.Close()
	}
}

// S5; acceptance 164–166: a sensitive tool that comes later is denied without an
// authorizer, and its callback never runs; others run.
func TestSensitiveToolAddedLater(t *testing.T) {
	for _, guard := range []bool{false, true} {
		r := NewRegistry()
		addTool(t, r, "first", say("ran"))
		o := Options{Registry: r}
		if guard {
			o.Authorizer = always(Decision{Effect: Allow})
		}
		p := connect(t, serveWith(t, o), "c")
		p.initialize(`{}`)
		h, ran := counted()
		sensitive(t, r, "t", `{"destructiveHint":true}`, h)
		addTool(t, r, "later", say("ran"))
		for tool, want := range map[string]string{"t": map[bool]string{false: "deny: sensitive_tool_unguarded"}[guard], "later": ""} {
			p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, tool)
			m := p.get()
			if got := denial(m); got != want || (want == "" && text(m) != "ran") {
				t.Errorf("%s: got %s", tool, m.Append(nil))
			}
		}
		if (ran.Load() > 0) != guard {
			t.Errorf("guarded %v: ran %d times", guard, ran.Load())
		}
	}
}

// S5, acceptance 129, 203: limits that cannot be are refused, naming the field.
func TestLimitsAreChecked(t *testing.T) {
	for name, l := range map[string]Limits{
		"WorkersPerOwner": {Workers: 1, WorkersPerOwner: 9},
		"ParkedPerOwner":  {Parked: 8, ParkedPerOwner: 9},
		"ListensPerOwner": {Listens: 8, ListensPerOwner: 9},
		"Capabilities":    {Capabilities: -1},
		"Workers":         {Workers: -1},
		"AskTimeout":      {AskTimeout: -1},
	} {
		if _, err := New(Options{Registry: NewRegistry(), Limits: l}); !errors.Is(err, ErrLimits) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	l, err := Limits{Workers: 1, Parked: 2, Listens: 3}.withDefaults()
	if err != nil || l.WorkersPerOwner != 1 || l.ParkedPerOwner != 2 || l.ListensPerOwner != 3 {
		t.Errorf("%+v, %v", l, err)
	}
}
