package fakeserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// tool is one of the usual tools. A nil result without an error gives no answer.
type tool struct {
	about      string
	properties string // of the input schema, as JSON
	run        func(*call) (any, *Error)
}

func (t tool) schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + t.properties + `}}`)
}

// call is one tools/call being served.
type call struct {
	ctx    context.Context
	peer   *peer
	params params
	args   arguments
	modern bool
	to     sink
}

// arguments are those of all tools together.
type arguments struct {
	Text    string          `json:"text"`
	Code    int             `json:"code"`
	MS      int             `json:"ms"`
	Steps   int             `json:"steps"`
	Bytes   int             `json:"bytes"`
	Count   int             `json:"count"`
	Rounds  int             `json:"rounds"`
	Mode    string          `json:"mode"`
	URL     string          `json:"url"`
	Lines   bool            `json:"lines"`
	Schema  json.RawMessage `json:"schema"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Message string          `json:"message"`
}

// tools by name; filled in init, since some of them look at the list.
var tools map[string]tool

func init() {
	tools = map[string]tool{
		"echo":    {"Answers its text.", `"text":{"type":"string"}`, (*call).echo},
		"fail":    {"Fails as a tool does: isError.", `"text":{"type":"string"}`, (*call).fail},
		"refuse":  {"Fails as a request does: a JSON-RPC error.", `"code":{"type":"integer"},"message":{"type":"string"}`, (*call).refuse},
		"slow":    {"Takes ms milliseconds in steps, with progress if a token came.", `"ms":{"type":"integer"},"steps":{"type":"integer"}`, (*call).slow},
		"never":   {"Never answers; ends when cancelled.", ``, (*call).never},
		"big":     {"Answers one text of so many bytes.", `"bytes":{"type":"integer"}`, (*call).big},
		"env":     {"Answers its environment as a JSON object.", ``, (*call).env},
		"args":    {"Answers the raw arguments it got.", ``, (*call).rawArgs},
		"ask":     {"Asks the person, then answers what they said.", `"mode":{"enum":["form","url"]},"message":{"type":"string"},"url":{"type":"string"},"schema":{"type":"object"},"rounds":{"type":"integer"}`, (*call).elicit},
		"ask-url": {"Refuses with -32042 until its page was visited (2025-11-25).", `"url":{"type":"string"}`, (*call).urlRequired},
		"request": {"Sends the client this request, then answers what came back.", `"method":{"type":"string"},"params":{"type":"object"}`, (*call).request},
		"log":     {"Sends count log messages.", `"count":{"type":"integer"},"text":{"type":"string"}`, (*call).log},
		"stderr":  {"Writes bytes to stderr, as lines or as one.", `"bytes":{"type":"integer"},"lines":{"type":"boolean"}`, (*call).stderr},
		"storm":   {"Sends count tools/list_changed.", `"count":{"type":"integer"}`, (*call).storm},
		"grow":    {"Adds a tool and says so.", ``, (*call).grow},
		"die":     {"Ends the process with a code, in place of an answer.", `"code":{"type":"integer"},"ms":{"type":"integer"}`, (*call).die},
		"half":    {"Writes half an answer and ends the process.", ``, (*call).half},
	}
}

// Tools lists the names of the tools of a server without Script.Tools, in the
// order of its tools/list.
func Tools() []string { return slices.Sorted(maps.Keys(tools)) }

// call serves tools/call.
func (p *peer) call(ctx context.Context, m message, ps params, modern bool, to sink) (any, *Error) {
	name := ps.Name
	if strings.HasPrefix(name, "tool-") || strings.HasPrefix(name, "added-") {
		name = "echo"
	}
	t, ok := tools[name]
	if !ok {
		return nil, &Error{Code: -32602, Message: "Unknown tool: " + ps.Name}
	}
	c := &call{ctx: ctx, peer: p, params: ps, modern: modern, to: to}
	if len(ps.Arguments) > 0 {
		if err := json.Unmarshal(ps.Arguments, &c.args); err != nil {
			return nil, &Error{Code: -32602, Message: "Invalid params: " + err.Error()}
		}
	}
	return t.run(c)
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type toolResult struct {
	ResultType string        `json:"resultType,omitempty"`
	Content    []textContent `json:"content"`
	IsError    bool          `json:"isError,omitempty"`
}

func (c *call) text(s string) toolResult {
	r := toolResult{Content: []textContent{{"text", s}}}
	if c.modern {
		r.ResultType = "complete"
	}
	return r
}

func (c *call) echo() (any, *Error) { return c.text(c.args.Text), nil }

func (c *call) rawArgs() (any, *Error) { return c.text(string(c.params.Arguments)), nil }

func (c *call) fail() (any, *Error) {
	r := c.text(c.args.Text)
	r.IsError = true
	return r, nil
}

func (c *call) refuse() (any, *Error) {
	return nil, &Error{Code: c.args.Code, Message: c.args.Message}
}

func (c *call) slow() (any, *Error) {
	steps := max(c.args.Steps, 1)
	for i := range steps {
		if !pause(c.ctx, time.Duration(c.args.MS)*time.Millisecond/time.Duration(steps)) {
			return nil, nil
		}
		if token := c.params.Meta.ProgressToken; token != nil {
			c.to.send(notification("notifications/progress", map[string]any{
				"progressToken": token, "progress": i + 1, "total": steps, "message": fmt.Sprintf("step %d of %d", i+1, steps),
			}))
		}
	}
	return c.text("done"), nil
}

func (c *call) never() (any, *Error) {
	<-c.ctx.Done()
	return nil, nil
}

func (c *call) big() (any, *Error) { return c.text(strings.Repeat("x", max(c.args.Bytes, 0))), nil }

func (c *call) env() (any, *Error) {
	vars := map[string]string{}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		vars[name] = value
	}
	return c.text(string(encode(vars))), nil
}

func (c *call) log() (any, *Error) {
	for range c.args.Count {
		c.to.send(notification("notifications/message", map[string]any{
			"level": "info", "logger": "fake", "data": c.args.Text,
		}))
	}
	return c.text("logged"), nil
}

func (c *call) stderr() (any, *Error) {
	flood(os.Stderr, c.args.Bytes, c.args.Lines)
	return c.text("written"), nil
}

func (c *call) storm() (any, *Error) {
	for range c.args.Count {
		c.peer.announce("notifications/tools/list_changed", nil)
	}
	return c.text("calm"), nil
}

func (c *call) grow() (any, *Error) {
	c.peer.mu.Lock()
	c.peer.added++
	c.peer.mu.Unlock()
	c.peer.announce("notifications/tools/list_changed", nil)
	return c.text("grown"), nil
}

func (c *call) die() (any, *Error) {
	c.peer.exit(Exit{Code: c.args.Code, After: time.Duration(c.args.MS) * time.Millisecond})
	return nil, nil
}

func (c *call) half() (any, *Error) {
	c.to.answerRaw([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"te`))
	c.peer.exit(Exit{Code: 1})
	return nil, nil
}
