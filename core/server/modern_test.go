package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// streamable-http "Server Validation" and "Protocol Version Header": what is refused,
// with which status and code.
func TestModernRefusals(t *testing.T) {
	d := open(t, serve(t, Limits{}, map[string]Handler{
		"hi": say("hi"),
		"sample": func(ctx context.Context, call *Call) (any, error) {
			_, err := call.Ask(ctx, Inputs{"k": {Method: mcp.MethodSample}})
			return "x", err
		},
	}), nil)
	v, c := mcp.MetaVersion, mcp.MetaCapabilities
	for _, x := range []struct {
		name, method, params string
		headers              []string
		status               int
		code                 int64
	}{
		{"good", "tools/call", `"name":"hi"`, nil, 200, 0},
		{"header names in any case", "tools/call", `"name":"hi"`, []string{"MCP-METHOD: tools/call"}, 200, 0},
		{"name in base64", "tools/call", `"name":"hi"`, []string{"Mcp-Name: =?base64?aGk=?="}, 200, 0},
		{"a session id is ignored", "tools/call", `"name":"hi"`, []string{"Mcp-Session-Id: none"}, 200, 0},
		{"no version header", "tools/call", `"name":"hi"`, []string{"Mcp-Protocol-Version: -"}, 400, -32020},
		{"another version header", "tools/call", `"name":"hi"`, []string{"Mcp-Protocol-Version: 2025-11-25"}, 400, -32020},
		{"no method header", "tools/call", `"name":"hi"`, []string{"Mcp-Method: -"}, 400, -32020},
		{"another method header", "tools/call", `"name":"hi"`, []string{"Mcp-Method: tools/list"}, 400, -32020},
		{"method header in capitals", "tools/call", `"name":"hi"`, []string{"Mcp-Method: TOOLS/CALL"}, 400, -32020},
		{"no name header", "tools/call", `"name":"hi"`, []string{"Mcp-Name: -"}, 400, -32020},
		{"another name header", "tools/call", `"name":"hi"`, []string{"Mcp-Name: ho"}, 400, -32020},
		{"name in bad base64", "tools/call", `"name":"hi"`, []string{"Mcp-Name: =?base64?aGk?="}, 400, -32020},
		{"no _meta", "tools/list", `"_meta":{}`, nil, 400, -32602},
		{"no capabilities", "tools/list", `"_meta":{"` + v + `":"2026-07-28"}`, nil, 400, -32602},
		{"unknown version", "tools/list", `"_meta":{"` + v + `":"v9","` + c + `":{}}`, []string{"Mcp-Protocol-Version: v9"}, 400, -32022},
		{"unknown version, known header", "tools/list", `"_meta":{"` + v + `":"v9","` + c + `":{}}`, nil, 400, -32020},
		{"legacy version", "tools/list", `"_meta":{"` + v + `":"2025-11-25","` + c + `":{}}`, []string{"Mcp-Protocol-Version: 2025-11-25"}, 400, -32022},
		{"unknown method", "no/such", ``, nil, 404, -32601},
		{"initialize", "initialize", ``, nil, 404, -32601},
		{"ping", "ping", ``, nil, 404, -32601},
		{"undeclared feature", "prompts/list", ``, nil, 404, -32601},
		{"missing capability", "tools/call", `"name":"sample"`, nil, 400, -32021},
		{"unknown tool", "tools/call", `"name":"nope"`, nil, 200, -32602},
	} {
		res := d.modern(`"id"`, x.method, x.params, x.headers...)
		m := decode(t, res)
		code := int64(0)
		if m.Error != nil {
			code = m.Error.Code
		}
		if res.StatusCode != x.status || code != x.code || m.ID != jsonrpc.StringID("id") {
			t.Errorf("%s: %s %s", x.name, res.Status, m.Append(nil))
		}
		if res.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: a session id was sent", x.name)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		if res := d.do(method, "", "Mcp-Protocol-Version: 2026-07-28", "Mcp-Session-Id: x"); res.StatusCode != 405 {
			t.Errorf("%s: %s", method, res.Status)
		}
	}
	if res := d.do("POST", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, "Mcp-Protocol-Version: 2026-07-28"); res.StatusCode != 202 {
		t.Error("a notification got", res.Status)
	}
	if res := d.do("POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, "Mcp-Protocol-Version: 2026-07-28"); res.StatusCode != 400 {
		t.Error("a response got", res.Status)
	}
}

// Field case 55; streamable-http "Custom Headers from Tool Parameters".
func TestMirroredArguments(t *testing.T) {
	s := serve(t, Limits{}, nil)
	schema := `{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"S"},"n":{"type":"integer","x-mcp-header":"N"},"b":{"type":"boolean","x-mcp-header":"B"},
		"o":{"type":"object","properties":{"deep":{"type":"string","x-mcp-header":"Deep"}}}}}`
	if err := s.registry.AddTool(Tool{Definition: json.RawMessage(`{"name":"t","inputSchema":` + schema + `}`), Handle: say("ran")}); err != nil {
		t.Fatal(err)
	}
	d := open(t, s, nil)
	b64 := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	for _, c := range []struct {
		args    string
		headers []string
		ok      bool
	}{
		{`{}`, nil, true},
		{`{"s":null}`, nil, true},
		{`{"s":"x"}`, []string{"Mcp-Param-S: x"}, true},
		{`{"s":"x"}`, []string{"mcp-param-s:   x  "}, true},
		{`{"s":"x"}`, nil, false},
		{`{"s":"x"}`, []string{"Mcp-Param-S: y"}, false},
		{`{}`, []string{"Mcp-Param-S: x"}, false},
		{`{"s":null}`, []string{"Mcp-Param-S: x"}, false},
		{`{"s":"Hello, 世界"}`, []string{"Mcp-Param-S: " + b64("Hello, 世界")}, true},
		{`{"s":" pad "}`, []string{"Mcp-Param-S: " + b64(" pad ")}, true},
		{`{"s":" pad "}`, []string{"Mcp-Param-S: pad"}, false},
		{`{"s":"=?base64?x?="}`, []string{"Mcp-Param-S: " + b64("=?base64?x?=")}, true},
		{`{"s":"=?base64?x?="}`, []string{"Mcp-Param-S: =?base64?x?="}, false},
		{`{"s":"=?base64?eA=="}`, []string{"Mcp-Param-S: =?base64?eA=="}, true},
		{`{"s":"x"}`, []string{"Mcp-Param-S: =?base64?eA?="}, false},
		{`{"s":"x"}`, []string{"Mcp-Param-S: =?base64?e%==?="}, false},
		{`{"s":"é"}`, []string{"Mcp-Param-S: é"}, false},
		{`{"n":42}`, []string{"Mcp-Param-N: 42"}, true},
		{`{"n":42}`, []string{"Mcp-Param-N: 42.0"}, true},
		{`{"n":42.0}`, []string{"Mcp-Param-N: 42"}, true},
		{`{"n":9007199254740993}`, []string{"Mcp-Param-N: 9007199254740992"}, false},
		{`{"n":1}`, []string{"Mcp-Param-N: 1e999999999"}, false},
		{`{"b":true}`, []string{"Mcp-Param-B: true"}, true},
		{`{"b":true}`, []string{"Mcp-Param-B: false"}, false},
		{`{"o":{"deep":"d"}}`, []string{"Mcp-Param-Deep: d"}, true},
		{`{"o":{"deep":"d"}}`, nil, false},
		{`{}`, []string{"Mcp-Param-Unknown: x"}, true},
	} {
		res := d.modern(`1`, "tools/call", `"name":"t","arguments":`+c.args, c.headers...)
		m := decode(t, res)
		if ok := m.Error == nil; ok != c.ok || (!ok && (res.StatusCode != 400 || m.Error.Code != mcp.CodeHeaderMismatch)) {
			t.Errorf("%s %v: %s %s", c.args, c.headers, res.Status, m.Append(nil))
		}
	}
	for _, bad := range []string{
		`{"properties":{"a":{"type":"string","x-mcp-header":"X Y"}}}`,
		`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`,
		`{"properties":{"a":{"type":"string","x-mcp-header":"a\r\nb"}}}`,
		`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`,
		`{"properties":{"a":{"type":"string","x-mcp-header":"region"},"b":{"type":"string","x-mcp-header":"REGION"}}}`,
		`{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`,
		`7`, ``,
	} {
		if got := headerParams(json.RawMessage(bad)); len(got) != 0 {
			t.Errorf("%s: expects %v", bad, got)
		}
	}
}

// A response that comes alone is JSON; with anything before it, a stream.
func TestModernJSONOrStream(t *testing.T) {
	d := open(t, serve(t, Limits{}, map[string]Handler{
		"quick": say("hi"),
		"talks": func(_ context.Context, call *Call) (any, error) {
			call.Progress(1, 2, "")
			return "hi", nil
		},
	}), nil)
	withToken := `,` + meta(`{}`, `"progressToken":1`)
	for _, c := range []struct{ params, accept, want string }{
		{`"name":"quick"`, "application/json, text/event-stream", "application/json"},
		{`"name":"talks"`, "application/json, text/event-stream", "application/json"},
		{`"name":"talks"` + withToken, "application/json, text/event-stream", "text/event-stream"},
		{`"name":"talks"` + withToken, "application/json", "application/json"},
		{`"name":"quick"`, "text/event-stream", "text/event-stream"},
	} {
		res := d.modern(`1`, "tools/call", c.params, "Accept: "+c.accept)
		if got := res.Header.Get("Content-Type"); got != c.want {
			t.Fatalf("%v: got %s", c, got)
		}
		if c.want == "application/json" {
			if got := text(decode(t, res)); got != "hi" {
				t.Errorf("%v: got %s", c, got)
			}
			continue
		}
		if res.Header.Get("X-Accel-Buffering") != "no" {
			t.Error("buffering is not turned off")
		}
		e := readEvents(res)
		m, x := e.message(t)
		if m.Method == mcp.NotifyProgress {
			m, x = e.message(t)
		}
		if text(m) != "hi" || x.id != "" {
			t.Errorf("%v: got %s, id %q", c, m.Append(nil), x.id)
		}
		if _, more := e.next(); more {
			t.Error("the stream goes on after the response")
		}
	}
}

// basic/patterns/cancellation: closing the stream cancels the request.
func TestClosingTheStreamCancels(t *testing.T) {
	ended := make(chan error, 1)
	d := open(t, serve(t, Limits{}, map[string]Handler{"hang": func(ctx context.Context, call *Call) (any, error) {
		call.Progress(1, 0, "")
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	}}), nil)
	res := d.modern(`1`, "tools/call", `"name":"hang",`+meta(`{}`, `"progressToken":1`))
	readEvents(res).message(t)
	_ = res.Body.Close()
	if err := <-ended; !errors.Is(err, ErrGone) {
		t.Error("the handler saw", err)
	}
}

// basic/patterns/subscriptions over HTTP; also a legacy session beside it on the same
// endpoint (S1: both eras at once).
func TestListChangesReachBothEras(t *testing.T) {
	s := serve(t, Limits{}, map[string]Handler{"hi": say("hi")})
	d := open(t, s, nil)
	modern := readEvents(d.modern(`"sub"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
	if m, _ := modern.message(t); m.Method != mcp.NotifySubscriptionAccepted {
		t.Fatalf("got %s", m.Append(nil))
	}
	legacy := readEvents(d.do("GET", "", d.session("2025-06-18", `{}`)))
	s.registry.RemoveTool("hi")
	for name, e := range map[string]*events{"modern": modern, "legacy": legacy} {
		m, _ := e.message(t)
		if m.Method != mcp.NotifyToolsChanged || strings.Contains(string(m.Params), `"sub"`) != (name == "modern") {
			t.Errorf("%s got %s", name, m.Append(nil))
		}
	}
}

// S1: many clients of both eras at once on one endpoint, each gets its own.
func TestErasSideBySide(t *testing.T) {
	s := serve(t, Limits{Workers: 64, WorkersPerOwner: 64}, map[string]Handler{"echo": func(_ context.Context, call *Call) (any, error) {
		return fmt.Sprint(call.Caller.Version, " ", string(call.Arguments())), nil
	}})
	d := open(t, s, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		session := d.session("2025-03-26", `{}`)
		for j := range 4 {
			args := fmt.Sprintf(`{"i":%d,"j":%d}`, i, j)
			wg.Go(func() {
				res := d.modern(fmt.Sprint(j), "tools/call", `"name":"echo","arguments":`+args)
				if got := text(decode(t, res)); got != "2026-07-28 "+args || res.StatusCode != http.StatusOK {
					t.Error("modern got", got)
				}
			})
			wg.Go(func() {
				res := d.do("POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":%s}}`, j, args), session)
				if got := text(decode(t, res)); got != "2025-03-26 "+args {
					t.Error("legacy got", got)
				}
			})
		}
	}
	wg.Wait()
}
