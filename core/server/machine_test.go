package server

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

func say(s string) Handler {
	return func(context.Context, *Call) (any, error) { return s, nil }
}

// S2: what is asked and what is answered, on one connection. "" is no answer.
func TestEnvelope(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		// acceptance 132
		"ping": {`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		// field case 50: ids are echoed in value and type
		"id string of digits": {`{"jsonrpc":"2.0","id":"1","method":"ping"}`, `{"jsonrpc":"2.0","id":"1","result":{}}`},
		"id word":             {`{"jsonrpc":"2.0","id":"a-b","method":"ping"}`, `{"jsonrpc":"2.0","id":"a-b","result":{}}`},
		"id empty":            {`{"jsonrpc":"2.0","id":"","method":"ping"}`, `{"jsonrpc":"2.0","id":"","result":{}}`},
		"id big":              {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`},
		"id negative":         {`{"jsonrpc":"2.0","id":-1,"method":"ping"}`, `{"jsonrpc":"2.0","id":-1,"result":{}}`},
		"id escaped":          {`{"jsonrpc":"2.0","id":"\u00e9","method":"ping"}`, `{"jsonrpc":"2.0","id":"\u00e9","result":{}}`},
		"id null":             {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `-32600 null`},
		"id fraction":         {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `-32600 null`},
		"id boolean":          {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `-32600 null`},
		// field case 21
		"method empty":                    {`{"jsonrpc":"2.0","id":5,"method":"","params":{}}`, `-32600 5`},
		"method null":                     {`{"jsonrpc":"2.0","id":5,"method":null}`, `-32600 5`},
		"method number in a notification": {`{"jsonrpc":"2.0","method":7}`, ``},
		// acceptance 147
		"unknown method":       {`{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `-32601 1 no/such`},
		"unknown notification": {`{"jsonrpc":"2.0","method":"no/such"}`, ``},
		// acceptance 148
		"id without method": {`{"jsonrpc":"2.0","id":1}`, `-32600 1 Missing method`},
		"empty object":      {`{}`, ``},
		// acceptance 192
		"batch":                           {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `-32600 null batch`},
		"number":                          {`7`, `-32600 null number`},
		"string":                          {`"ping"`, `-32600 null string`},
		"boolean":                         {`true`, `-32600 null boolean`},
		"null":                            {`null`, `-32600 null null`},
		"params null is absent":           {`{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		"params array":                    {`{"jsonrpc":"2.0","id":1,"method":"no/such","params":[]}`, `-32602 1`},
		"params string in a notification": {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":"x"}`, ``},
		"duplicate key in the envelope":   {`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, `-32700 null`},
		"duplicate key in params":         {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":{"b":1,"b":2}}}`, `-32700 null`},
		"names are case-sensitive":        {`{"jsonrpc":"2.0","id":1,"Method":"ping"}`, `-32600 1`},
		"another JSON-RPC version":        {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `-32600 1`},
		"answer to nothing":               {`{"jsonrpc":"2.0","id":1,"result":{}}`, ``},
		"error to nothing":                {`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}`, ``},
		"call without params":             {`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `-32602 1 requires params`},
		"arguments no object":             {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hi","arguments":[1]}}`, `-32602 1`},
		// acceptance 135, by the specification's own code
		"unknown tool":     {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}}`, `-32602 1 nope`},
		"unknown prompt":   {`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"nope"}}`, `-32602 1 nope`},
		"bad log level":    {`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}`, `-32602 1`},
		"modern only":      {`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, `-32601 1`},
		"bad cursor":       {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"!"}}`, `-32602 1`},
		"cursor no string": {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":5}}`, `-32602 1`},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, Limits{}, map[string]Handler{"hi": say("hi")})
			s.registry.Declare(Prompts)
			p := connect(t, s, "c")
			p.initialize(`{}`)
			p.say("%s", c.in)
			if c.want == "" {
				p.say(`{"jsonrpc":"2.0","id":"still here","method":"ping"}`)
				if m := p.get(); m.ID != jsonrpc.StringID("still here") {
					t.Fatalf("answered %s", m.Append(nil))
				}
				return
			}
			m := p.get()
			got := string(m.Append(nil))
			if strings.HasPrefix(c.want, "{") {
				if got != c.want {
					t.Fatalf("got %s, want %s", got, c.want)
				}
				return
			}
			want := strings.SplitN(c.want, " ", 3)
			id, _ := m.ID.MarshalJSON()
			if m.Error == nil || !strings.Contains(got, `"code":`+want[0]+",") || string(id) != want[1] || (len(want) > 2 && !strings.Contains(m.Error.Message, want[2])) {
				t.Fatalf("got %s, want %s", got, c.want)
			}
			p.quiet()
		})
	}
}

// Field case 50: 1 and "1" are two requests.
func TestIDsOfDifferentTypeRunSideBySide(t *testing.T) {
	gate := make(chan struct{})
	s := serve(t, Limits{}, map[string]Handler{"wait": func(ctx context.Context, _ *Call) (any, error) {
		<-gate
		return "done", nil
	}})
	p := connect(t, s, "c")
	e := eras(`{}`)[0]
	e.open(p)
	e.call(p, `1`, "wait", `{}`)
	e.call(p, `"1"`, "wait", `{}`)
	e.call(p, `1`, "wait", `{}`)
	if m := p.get(); m.Error == nil || m.Error.Code != jsonrpc.CodeInvalidRequest {
		t.Fatalf("an id in use was taken: %s", m.Append(nil))
	}
	close(gate)
	got := map[jsonrpc.ID]bool{p.get().ID: true, p.get().ID: true}
	if !got[jsonrpc.IntID(1)] || !got[jsonrpc.StringID("1")] {
		t.Fatal("answered", got)
	}
}

// E1, acceptance 130 and 131: any legacy revision is taken, another gets the newest.
func TestInitializeNegotiates(t *testing.T) {
	for asked, want := range map[mcp.Version]mcp.Version{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "2099-01-01": "2025-11-25", "draft": "2025-11-25",
	} {
		p := connect(t, serve(t, Limits{}, map[string]Handler{"hi": say("hi")}), "c")
		p.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, asked)
		r, ok := mcp.ParseInitializeResult(p.get().Result)
		if !ok || r.ProtocolVersion != want || r.ServerInfo.Name != "test" || !r.Capabilities.HasSub("tools", "listChanged") {
			t.Errorf("%s: got %+v", asked, r)
		}
		if r.Capabilities.Has("prompts") {
			t.Error("declares prompts it has not (field case 48)")
		}
		p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		p.quiet()
	}
	p := connect(t, serve(t, Limits{}, nil), "c")
	p.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	if m := p.get(); m.Error == nil || m.Error.Code != jsonrpc.CodeInvalidParams {
		t.Error("initialize without a version passed")
	}
}

// S1: both eras at once on one connection, each by its own rules.
func TestErasMixOnOneConnection(t *testing.T) {
	p := connect(t, serve(t, Limits{}, map[string]Handler{"hi": say("hi")}), "c")
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if m := p.get(); m.Error == nil || m.Error.Code != jsonrpc.CodeInvalidParams {
		t.Fatalf("an opening without an era was served: %s", m.Append(nil))
	}
	p.say(`{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{%s}}`, meta(`{}`))
	d, ok := mcp.ParseDiscoverResult(p.get().Result)
	if !ok || d.ServerInfo.Name != "test" || !d.Capabilities.Has("tools") {
		t.Fatalf("got %+v", d)
	}
	if v, ok := mcp.Choose(d.SupportedVersions); !ok || v != mcp.Latest {
		t.Fatalf("supports %v", d.SupportedVersions)
	}
	p.initialize(`{}`)
	p.say(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	p.say(`{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{%s}}`, meta(`{}`))
	legacy, modern := string(p.get().Result), string(p.get().Result)
	for _, member := range []string{"resultType", "ttlMs", "cacheScope", mcp.MetaServerInfo} {
		if strings.Contains(legacy, member) {
			t.Errorf("the legacy result has %s: %s", member, legacy)
		}
		if !strings.Contains(modern, member) {
			t.Errorf("the modern result lacks %s: %s", member, modern)
		}
	}
	for _, method := range []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such"} {
		p.say(`{"jsonrpc":"2.0","id":5,"method":%q,"params":{%s}}`, method, meta(`{}`))
		if m := p.get(); m.Error == nil || m.Error.Code != jsonrpc.CodeMethodNotFound {
			t.Errorf("modern %s: got %s", method, m.Append(nil))
		}
	}
}

// basic/index "Per-request protocol fields", basic/versioning: what a modern request
// must say.
func TestModernMetadata(t *testing.T) {
	v, c := mcp.MetaVersion, mcp.MetaCapabilities
	for name, x := range map[string]struct {
		meta string
		code int64
	}{
		"complete":            {`{"` + v + `":"2026-07-28","` + c + `":{}}`, 0},
		"no version":          {`{"` + c + `":{}}`, -32602},
		"version no string":   {`{"` + v + `":1,"` + c + `":{}}`, -32602},
		"no capabilities":     {`{"` + v + `":"2026-07-28"}`, -32602},
		"capabilities null":   {`{"` + v + `":"2026-07-28","` + c + `":null}`, -32602},
		"capabilities array":  {`{"` + v + `":"2026-07-28","` + c + `":[]}`, -32602},
		"client info only":    {`{"` + mcp.MetaClientInfo + `":{"name":"x","version":"1"}}`, -32602},
		"unknown version":     {`{"` + v + `":"2099-01-01","` + c + `":{}}`, -32022},
		"no date":             {`{"` + v + `":"v999.0.0","` + c + `":{}}`, -32022},
		"legacy per request":  {`{"` + v + `":"2025-11-25","` + c + `":{}}`, -32022},
		"unknown log level":   {`{"` + v + `":"2026-07-28","` + c + `":{},"` + mcp.MetaLogLevel + `":"loud"}`, -32602},
		"another spelling":    {`{"` + strings.ToUpper(v) + `":"2026-07-28","` + c + `":{}}`, -32602},
		"odd client info":     {`{"` + v + `":"2026-07-28","` + c + `":{},"` + mcp.MetaClientInfo + `":7}`, 0},
		"unknown more fields": {`{"` + v + `":"2026-07-28","` + c + `":{},"x":1,"traceparent":"00-1"}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := connect(t, serve(t, Limits{}, map[string]Handler{"hi": say("hi")}), "c")
			p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":%s}}`, x.meta)
			m := p.get()
			if x.code == 0 {
				if m.Error != nil {
					t.Fatalf("refused: %s", m.Append(nil))
				}
				return
			}
			if m.Error == nil || m.Error.Code != x.code {
				t.Fatalf("got %s", m.Append(nil))
			}
			if x.code == mcp.CodeUnsupportedVersion {
				var d struct {
					Supported []mcp.Version
					Requested string
				}
				if json.Unmarshal(m.Error.Data, &d) != nil || len(d.Supported) == 0 || d.Supported[0] != mcp.Latest || d.Requested == "" {
					t.Fatalf("data is %s", m.Error.Data)
				}
			}
		})
	}
}

// Acceptance 134, 136, 137, 138: what a handler returns and what the client gets.
func TestToolOutcomes(t *testing.T) {
	tools := map[string]Handler{
		"text":    say("plain"),
		"content": func(context.Context, *Call) (any, error) { return ToolResult{Content: []Content{Text("listed")}}, nil },
		"raw": func(context.Context, *Call) (any, error) {
			return json.RawMessage(`{"content":[{"type":"text","text":"raw"}],"x":1.0}`), nil
		},
		"error": func(context.Context, *Call) (any, error) { return nil, errors.New("no luck") },
		"panic": func(context.Context, *Call) (any, error) { panic("secret in a panic") },
		"wire":  func(context.Context, *Call) (any, error) { return nil, jsonrpc.Errorf(-31000, "its own") },
		"array": func(context.Context, *Call) (any, error) { return json.RawMessage(`[1]`), nil },
		"nil":   func(context.Context, *Call) (any, error) { return nil, nil },
		"func":  func(context.Context, *Call) (any, error) { return func() {}, nil },
	}
	for _, e := range eras(`{}`) {
		t.Run(e.name, func(t *testing.T) {
			p := connect(t, serve(t, Limits{}, tools), "c")
			e.open(p)
			for tool, want := range map[string]string{
				"text": "plain", "content": "listed", "raw": "raw", "error": "!Error: no luck",
				"panic": "!Error: callback_panicked", "wire": "-31000 its own",
				"array": "!Error: invalid_callback_result", "nil": "!Error: invalid_callback_result", "func": "!Error: invalid_callback_result",
			} {
				e.call(p, `1`, tool, `{}`)
				m := p.get()
				if got := text(m); got != want {
					t.Errorf("%s: got %q, want %q", tool, got, want)
				}
				if strings.Contains(string(m.Append(nil)), "secret") {
					t.Errorf("%s: a panic's text got out", tool)
				}
				if id := <-p.ended; id != jsonrpc.IntID(1) {
					t.Errorf("%s: ended %s", tool, id)
				}
				if tool == "raw" && !strings.Contains(string(m.Result), `"x":1.0`) {
					t.Errorf("the raw result was changed: %s", m.Result)
				}
			}
		})
	}
}

// A callback that fails outside tools/call is an internal error without its text.
func TestReadFailuresKeepTheirText(t *testing.T) {
	s := serve(t, Limits{}, nil)
	for _, r := range []Resource{
		{Definition: json.RawMessage(`{"uri":"x:bad","name":"bad"}`), Handle: func(context.Context, *Call) (any, error) { return nil, errors.New("password hunter2") }},
		{Definition: json.RawMessage(`{"uri":"x:panic","name":"panic"}`), Handle: func(context.Context, *Call) (any, error) { panic("password hunter2") }},
	} {
		if err := s.registry.AddResource(r); err != nil {
			t.Fatal(err)
		}
	}
	p := connect(t, s, "c")
	p.initialize(`{}`)
	for uri, word := range map[string]string{"x:bad": "callback_failed", "x:panic": "callback_panicked"} {
		p.say(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q}}`, uri)
		m := p.get()
		if m.Error == nil || m.Error.Code != jsonrpc.CodeInternal || !strings.Contains(string(m.Error.Data), word) || strings.Contains(string(m.Append(nil)), "hunter2") {
			t.Errorf("%s: got %s", uri, m.Append(nil))
		}
	}
}
