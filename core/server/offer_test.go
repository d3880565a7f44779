package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

func listNames(t *testing.T, p *peer, cursor *string) (names []string, next *string) {
	t.Helper()
	params := `{}`
	if cursor != nil {
		params = fmt.Sprintf(`{"cursor":%q}`, *cursor)
	}
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":%s}`, params)
	m := p.get()
	var r struct {
		Tools      []struct{ Name string }
		NextCursor *string
	}
	if m.Error != nil || json.Unmarshal(m.Result, &r) != nil || r.Tools == nil {
		t.Fatalf("got %s", m.Append(nil))
	}
	for _, x := range r.Tools {
		names = append(names, x.Name)
	}
	return names, r.NextCursor
}

// server/utilities/pagination: every entry once, whatever changes between two pages.
// Acceptance 133: an empty list is [].
func TestPagination(t *testing.T) {
	s := serve(t, Limits{PageSize: 10}, nil)
	p := connect(t, s, "c")
	p.initialize(`{}`)
	if names, next := listNames(t, p, nil); len(names) != 0 || next != nil {
		t.Fatal("got", names, next)
	}
	for i := range 35 {
		addTool(t, s.registry, fmt.Sprintf("t%02d", i), say(""))
	}
	var all []string
	var cursor *string
	for pages := 0; ; pages++ {
		names, next := listNames(t, p, cursor)
		all = append(all, names...)
		switch pages {
		case 0: // the last one given, one to come, and a new one
			s.registry.RemoveTool("t09")
			s.registry.RemoveTool("t20")
			addTool(t, s.registry, "new", say(""))
			addTool(t, s.registry, "t05", say("replaced"))
		}
		if next == nil {
			if pages != 3 {
				t.Errorf("%d pages", pages+1)
			}
			break
		}
		cursor = next
	}
	if len(all) != 35 || !slices.IsSorted(all[:34]) || all[34] != "new" || slices.Contains(all, "t20") {
		t.Fatal("got", all)
	}
	// A cursor of another list is none.
	p.say(`{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":%q}}`, *cursor)
	if m := p.get(); m.Error == nil {
		t.Error("took another list's cursor")
	}
	if names, _ := listNames(t, p, new(string)); len(names) != 10 {
		t.Error("an empty cursor gave", names)
	}
	for _, bad := range []string{"%", "dG9vbHM6", "dG9vbHM6gICAgICAgICAgICAgIA", "AAAA", writeCursor("prompts", 1), writeCursor("tools", 1) + "AA"} {
		if _, ok := readCursor("tools", bad); ok {
			t.Errorf("%q passed for a cursor", bad)
		}
	}
}

// Acceptance 143, 144, 146: resources, templates, and none.
func TestResources(t *testing.T) {
	s := serve(t, Limits{}, nil)
	s.registry.Declare(Resources)
	read := func(_ context.Context, call *Call) (any, error) {
		if call.Vars["id"] == "gone" {
			return nil, call.NotFound()
		}
		return ReadResult{Contents: []Contents{{URI: call.Name, Text: call.Vars["id"] + call.Vars["rest"]}}}, nil
	}
	p := connect(t, s, "c")
	p.initialize(`{}`)
	p.say(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`)
	if m := p.get(); string(m.Result) != `{"resources":[]}` {
		t.Fatalf("got %s", m.Append(nil))
	}
	if err := s.registry.AddResource(Resource{Definition: json.RawMessage(`{"uri":"x:fixed","name":"n","size":1.0}`), Handle: read}); err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{"x://t/{id}/data", "x://f/{+rest}", "x://q.{id}?a=(1)"} {
		if err := s.registry.AddTemplate(Template{Definition: json.RawMessage(fmt.Sprintf(`{"uriTemplate":%q,"name":"n"}`, uri)), Handle: read}); err != nil {
			t.Fatal(err)
		}
	}
	p.say(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`)
	if m := p.get(); string(m.Result) != `{"resources":[{"uri":"x:fixed","name":"n","size":1.0}]}` {
		t.Fatalf("got %s", m.Append(nil))
	}
	for uri, want := range map[string]string{
		"x:fixed": "", "x://t/123/data": "123", "x://t/a%20b/data": "a b", "x://f/a/b/c": "a/b/c", "x://q.7?a=(1)": "7",
		"x://t/1/2/data": "none", "x://t//data": "none", "x:other": "none", "x://qX7?a=(1)": "none", "x://t/gone/data": "none",
	} {
		p.say(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q}}`, uri)
		m := p.get()
		if want == "none" {
			data := fmt.Sprintf(`{"uri":%q}`, uri)
			if m.Error == nil || m.Error.Code != mcp.CodeResourceNotFound || string(m.Error.Data) != data {
				t.Errorf("legacy %s: got %s", uri, m.Append(nil))
			}
			p.say(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q,%s}}`, uri, meta(`{}`))
			if m := p.get(); m.Error == nil || m.Error.Code != jsonrpc.CodeInvalidParams || string(m.Error.Data) != data {
				t.Errorf("modern %s: got %s", uri, m.Append(nil))
			}
			continue
		}
		var r ReadResult
		if m.Error != nil || json.Unmarshal(m.Result, &r) != nil || len(r.Contents) != 1 || r.Contents[0].Text != want || r.Contents[0].URI != uri {
			t.Errorf("%s: got %s", uri, m.Append(nil))
		}
	}
}

// server/utilities/completion: at most 100 values, [] and never null.
func TestCompletion(t *testing.T) {
	s := serve(t, Limits{}, nil)
	many := func(_ context.Context, call *Call) (any, error) {
		var out []string
		for i := range 250 {
			out = append(out, fmt.Sprint(call.Completion().Context["k"], i))
		}
		return Prefixed(call.Completion().Value, out...), nil
	}
	add := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	add(s.registry.AddPrompt(Prompt{Definition: json.RawMessage(`{"name":"p"}`), Handle: say(""), Complete: many}))
	add(s.registry.AddPrompt(Prompt{Definition: json.RawMessage(`{"name":"plain"}`), Handle: say("")}))
	add(s.registry.AddTemplate(Template{Definition: json.RawMessage(`{"uriTemplate":"x:{id}","name":"n"}`), Handle: say(""), Complete: many}))
	p := connect(t, s, "c")
	p.initialize(`{}`)
	for params, want := range map[string]string{
		`"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"XY1"},"context":{"arguments":{"k":"xy"}}`: "100 of 111 true",
		`"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"24"}`:                                     "11 of 11 false",
		`"ref":{"type":"ref/resource","uri":"x:{id}"},"argument":{"name":"id","value":"zzz"}`:                             "0 of 0 false",
		`"ref":{"type":"ref/prompt","name":"plain"},"argument":{"name":"a","value":""}`:                                   "0 of 0 false",
		`"ref":{"type":"ref/prompt","name":"none"},"argument":{"name":"a","value":""}`:                                    "-32602",
		`"ref":{"type":"ref/resource","uri":"y:{id}"},"argument":{"name":"a","value":""}`:                                 "-32002",
		`"ref":{"type":"ref/tool","name":"p"},"argument":{"name":"a","value":""}`:                                         "-32602",
		`"ref":{"type":"ref/prompt","name":"p"}`:                                                                          "-32602",
	} {
		p.say(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{%s}}`, params)
		m := p.get()
		got := ""
		if m.Error != nil {
			got = fmt.Sprint(m.Error.Code)
		} else {
			var r struct {
				Completion struct {
					Values  []string
					Total   int
					HasMore bool
				}
			}
			if json.Unmarshal(m.Result, &r) != nil || r.Completion.Values == nil {
				t.Fatalf("got %s", m.Append(nil))
			}
			got = fmt.Sprintf("%d of %d %v", len(r.Completion.Values), r.Completion.Total, r.Completion.HasMore)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
}

// What cannot be served is not registered.
func TestBadDefinitions(t *testing.T) {
	r := NewRegistry()
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for name, err := range map[string]error{
		"tool without a name":       r.AddTool(Tool{Definition: raw(`{}`), Handle: say("")}),
		"tool without a handler":    r.AddTool(Tool{Definition: raw(`{"name":"a"}`)}),
		"tool that is no object":    r.AddTool(Tool{Definition: raw(`7`), Handle: say("")}),
		"resource without a uri":    r.AddResource(Resource{Definition: raw(`{"name":"a"}`), Handle: say("")}),
		"prompt without a name":     r.AddPrompt(Prompt{Definition: raw(`{"name":""}`), Handle: say("")}),
		"template with open brace":  r.AddTemplate(Template{Definition: raw(`{"uriTemplate":"x:{a"}`), Handle: say("")}),
		"template with expressions": r.AddTemplate(Template{Definition: raw(`{"uriTemplate":"x{?q*}"}`), Handle: say("")}),
	} {
		if !errors.Is(err, ErrDefinition) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if r.Declares(Tools) || r.Declares(Prompts) {
		t.Error("a failed registration declared a feature")
	}
	// More of RFC 6570 works with a matcher of one's own.
	if err := r.AddTemplate(Template{Definition: raw(`{"uriTemplate":"x{?q*}"}`), Handle: say(""), Match: func(uri string) (map[string]string, bool) { return nil, uri == "x?q=1" }}); err != nil {
		t.Error(err)
	}
	if _, _, ok := r.resource("x?q=1"); !ok {
		t.Error("the matcher was not asked")
	}
}
