package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client speaks to a demo in memory.
type client struct {
	t    *testing.T
	conn *server.Conn
	sent chan *jsonrpc.Message
	id   int64
}

func (c *client) Send(_ context.Context, m *jsonrpc.Message, _ jsonrpc.ID) error {
	c.sent <- m
	return nil
}

func (c *client) Ended(jsonrpc.ID) {}

// start returns a client with every capability.
func start(t *testing.T) (*Demo, *client) {
	t.Helper()
	d := New()
	c := &client{t: t, sent: make(chan *jsonrpc.Message, 1024)}
	c.conn = d.Server().Open(server.Peer{ID: "c", Owner: "c", Transport: server.StdioTransport}, c)
	t.Cleanup(func() {
		c.conn.Close()
		if err := c.conn.Wait(context.Background()); err != nil {
			t.Error(err)
		}
		d.Close()
	})
	return d, c
}

const everything = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`

func (c *client) initialize() {
	c.t.Helper()
	c.request("initialize", `"protocolVersion":"2025-11-25","capabilities":`+everything)
	c.conn.Handle(jsonrpc.Notify(mcp.NotifyInitialized, nil))
}

// request sends a request and waits for its response, answering what is asked.
func (c *client) request(method, params string) *jsonrpc.Message {
	c.t.Helper()
	c.id++
	c.conn.Handle(jsonrpc.Call(jsonrpc.IntID(c.id), method, json.RawMessage(`{`+params+`}`)))
	for {
		select {
		case m := <-c.sent:
			switch m.Kind() {
			case jsonrpc.Response:
				if m.ID == jsonrpc.IntID(c.id) {
					return m
				}
			case jsonrpc.Request:
				c.conn.Handle(jsonrpc.Reply(m.ID, answers[m.Method]))
			}
		case <-time.After(30 * time.Second):
			c.t.Fatalf("%s %s was not answered", method, params)
		}
	}
}

// modern sends a modern request and retries it with what is asked for.
func (c *client) modern(method, params string) *jsonrpc.Message {
	c.t.Helper()
	meta := fmt.Sprintf(`"_meta":{%q:"2026-07-28",%q:%s}`, mcp.MetaVersion, mcp.MetaCapabilities, everything)
	more := ""
	for range 10 {
		m := c.request(method, params+more+","+meta)
		var r struct {
			ResultType string
			Requests   map[string]server.Input `json:"inputRequests"`
			State      string                  `json:"requestState"`
		}
		if m.Error != nil || json.Unmarshal(m.Result, &r) != nil || r.ResultType != mcp.ResultInputRequired {
			return m
		}
		given := map[string]json.RawMessage{}
		for key, in := range r.Requests {
			given[key] = answers[in.Method]
		}
		b, _ := json.Marshal(given)
		more = `,"inputResponses":` + string(b)
		if r.State != "" {
			more += fmt.Sprintf(`,"requestState":%q`, r.State)
		}
	}
	c.t.Fatalf("%s %s asks for ever", method, params)
	return nil
}

var answers = map[string]json.RawMessage{
	mcp.MethodElicit:    json.RawMessage(`{"action":"accept","content":{"name":"Ada","color":"red","ok":true,"context":"here"}}`),
	mcp.MethodSample:    json.RawMessage(`{"role":"assistant","model":"m","content":{"type":"text","text":"Paris"}}`),
	mcp.MethodRootsList: json.RawMessage(`{"roots":[{"uri":"file:///work","name":"Work"}]}`),
}

// all follows the cursors of a list.
func (c *client) all(method, member string) (entries []json.RawMessage, pages int) {
	c.t.Helper()
	cursor := ""
	for {
		m := c.request(method, cursor)
		var r map[string]json.RawMessage
		var page []json.RawMessage
		if m.Error != nil || json.Unmarshal(m.Result, &r) != nil || json.Unmarshal(r[member], &page) != nil {
			c.t.Fatalf("%s: got %s", method, m.Append(nil))
		}
		entries, pages = append(entries, page...), pages+1
		if r["nextCursor"] == nil {
			return entries, pages
		}
		cursor = `"cursor":` + string(r["nextCursor"])
	}
}

// The fixtures of the official suite are there under their names (design/9, 1.5), and
// every definition is one that a careful client takes.
func TestFixturesAndDefinitions(t *testing.T) {
	_, c := start(t)
	c.initialize()
	names := map[string]bool{}
	raw, pages := c.all("tools/list", "tools")
	if pages < 3 {
		t.Errorf("pagination shows %d pages only", pages)
	}
	for i, def := range raw {
		tool, err := mcp.ParseTool(def)
		if err != nil || tool.Oddity != "" || tool.Description == "" {
			t.Errorf("%s: %v %s", def, err, tool.Oddity)
		}
		if names[tool.Name] {
			t.Errorf("%s is there twice", tool.Name)
		}
		names[tool.Name] = true
		if fixture := strings.HasPrefix(tool.Name, "test_"); !fixture && tool.Title == "" && tool.Name != "json_schema_2020_12_tool" {
			t.Errorf("%s has no title", tool.Name)
		}
		// The suite looks for these two on the first page only.
		if (tool.Name == "json_schema_2020_12_tool" || tool.Name == "test_x_mcp_header") && i >= pageSize {
			t.Errorf("%s is on page %d", tool.Name, i/pageSize+1)
		}
	}
	wanted := "test_simple_text test_image_content test_audio_content test_embedded_resource test_multiple_content_types test_tool_with_logging " +
		"test_tool_with_progress test_error_handling test_sampling test_elicitation test_elicitation_sep1034_defaults test_elicitation_sep1330_enums " +
		"test_reconnection json_schema_2020_12_tool test_x_mcp_header test_missing_capability test_streaming_elicitation test_logging_tool " +
		"test_trigger_tool_change test_trigger_prompt_change"
	for _, x := range strings.Fields("elicitation sampling list_roots request_state multiple_inputs multi_round tampered_state capabilities") {
		wanted += " test_input_required_result_" + x
	}
	lists := map[string]map[string]bool{"tools": names, "resources": {}, "resourceTemplates": {}, "prompts": {}}
	for member, x := range map[string][2]string{"resources": {"resources/list", "uri"}, "resourceTemplates": {"resources/templates/list", "uriTemplate"}, "prompts": {"prompts/list", "name"}} {
		entries, _ := c.all(x[0], member)
		for _, e := range entries {
			var id, description string
			_ = json.Unmarshal(jsonrpc.Get(e, x[1]), &id)
			if _ = json.Unmarshal(jsonrpc.Get(e, "description"), &description); description == "" {
				t.Errorf("%s has no description", id)
			}
			lists[member][id] = true
		}
	}
	for member, wanted := range map[string]string{
		"tools": wanted, "resources": "test://static-text test://static-binary test://watched-resource", "resourceTemplates": "test://template/{id}/data",
		"prompts": "test_simple_prompt test_prompt_with_arguments test_prompt_with_embedded_resource test_prompt_with_image test_input_required_result_prompt",
	} {
		for _, name := range strings.Fields(wanted) {
			if !lists[member][name] {
				t.Errorf("%s: %s is missing", member, name)
			}
		}
	}
}

// Every tool works in both eras with the least arguments it takes; only those that
// are made to fail do.
func TestEveryToolInBothEras(t *testing.T) {
	args := map[string]string{
		"echo": `{"text":"x"}`, "add": `{"a":1,"b":2}`, "weather": `{"city":"Oslo"}`, "slow_task": `{"seconds":0.01,"steps":2}`,
		"json_schema_2020_12_tool": `{"email":"a@example.com"}`, "test_x_mcp_header": `{"region":"eu"}`, "test_sampling": `{"prompt":"x"}`, "test_elicitation": `{"message":"x"}`,
	}
	_, c := start(t)
	c.initialize()
	defs, _ := c.all("tools/list", "tools")
	for _, def := range defs {
		tool, _ := mcp.ParseTool(def)
		a := args[tool.Name]
		if a == "" {
			a = `{}`
		}
		params := fmt.Sprintf(`"name":%q,"arguments":%s`, tool.Name, a)
		for era, call := range map[string]func(string, string) *jsonrpc.Message{"legacy": c.request, "modern": c.modern} {
			m := call("tools/call", params)
			var r struct {
				Content    []json.RawMessage
				Structured json.RawMessage `json:"structuredContent"`
				IsError    bool
			}
			if m.Error != nil || json.Unmarshal(m.Result, &r) != nil || len(r.Content) == 0 {
				t.Errorf("%s, %s: got %s", tool.Name, era, m.Append(nil))
				continue
			}
			if want := tool.Name == "fail" || tool.Name == "test_error_handling"; r.IsError != want {
				t.Errorf("%s, %s: got %s", tool.Name, era, m.Result)
			}
			if (tool.OutputSchema != nil) != (r.Structured != nil) {
				t.Errorf("%s, %s: structured content %s", tool.Name, era, r.Structured)
			}
		}
	}
}

// server/tools: arguments are checked, and what is wrong is said to the model.
func TestArgumentsAreChecked(t *testing.T) {
	_, c := start(t)
	c.initialize()
	for params, want := range map[string]string{
		`"name":"echo","arguments":{}`:                                               "text",
		`"name":"echo","arguments":{"text":7}`:                                       "text",
		`"name":"echo","arguments":{"text":"x","more":1}`:                            "more",
		`"name":"add","arguments":{"a":"1","b":2}`:                                   "a",
		`"name":"roll_dice","arguments":{"count":1000000}`:                           "count",
		`"name":"slow_task","arguments":{"seconds":1e9}`:                             "seconds",
		`"name":"json_schema_2020_12_tool","arguments":{"contactMethod":"phone"}`:    "",
		`"name":"test_simple_text","arguments":{"x":1}`:                              "x",
		`"name":"show_picture","arguments":{"size":100000}`:                          "size",
		`"name":"json_schema_2020_12_tool","arguments":{"email":"x","address":"no"}`: "address",
	} {
		m := c.request("tools/call", params)
		var r server.ToolResult
		if m.Error != nil || json.Unmarshal(m.Result, &r) != nil || !r.IsError || !strings.Contains(r.Content[0].Text, want) {
			t.Errorf("%s: got %s", params, m.Append(nil))
		}
	}
}

// Prompts, their arguments, and completion.
func TestPromptsAndResources(t *testing.T) {
	_, c := start(t)
	c.initialize()
	for _, x := range []struct{ method, params, want string }{
		{"prompts/get", `"name":"test_prompt_with_arguments","arguments":{"arg1":"hello","arg2":"world"}`, `arg1='hello', arg2='world'`},
		{"prompts/get", `"name":"test_prompt_with_arguments","arguments":{"arg1":"hello"}`, `-32602`},
		{"prompts/get", `"name":"summarize","arguments":{"text":"T"}`, `one sentence`},
		{"prompts/get", `"name":"test_input_required_result_prompt"`, `Use this context: here`},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"plan_trip"},"argument":{"name":"city","value":"l"}`, `["Lima","Lisbon","London"]`},
		{"completion/complete", `"ref":{"type":"ref/resource","uri":"demo://notes/{name}"},"argument":{"name":"name","value":"mo"}`, `["moat"]`},
		{"resources/read", `"uri":"demo://notes/moat"`, `Fill it with water`},
		{"resources/read", `"uri":"demo://notes/none"`, `-32002`},
		{"resources/read", `"uri":"test://template/123/data"`, `{\"id\":\"123\",\"templateTest\":true,\"data\":\"Data for ID: 123\"}`},
		{"resources/read", `"uri":"demo://readme"`, `The Drawbridge demo server`},
	} {
		if m := c.request(x.method, x.params); !strings.Contains(string(m.Append(nil)), x.want) {
			t.Errorf("%s: got %s", x.params, m.Append(nil))
		}
	}
	if m := c.modern("prompts/get", `"name":"test_input_required_result_prompt"`); !strings.Contains(string(m.Result), "Use this context: here") {
		t.Errorf("modern: got %s", m.Append(nil))
	}
	m := c.request("resources/read", `"uri":"demo://picture"`)
	var r server.ReadResult
	_ = json.Unmarshal(m.Result, &r)
	blob, err := base64.StdEncoding.DecodeString(r.Contents[0].Blob)
	if err == nil {
		_, err = png.Decode(bytes.NewReader(blob))
	}
	if err != nil {
		t.Error("the picture is none:", err)
	}
}

// The counter and the clock change, and whoever watches them is told.
func TestResourceUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := start(t)
		c.initialize()
		updated := func() (uris []string) {
			for len(c.sent) > 0 {
				m := <-c.sent
				var uri string
				_ = json.Unmarshal(jsonrpc.Get(m.Params, "uri"), &uri)
				uris = append(uris, m.Method+" "+uri)
			}
			return uris
		}
		c.request("resources/subscribe", `"uri":"demo://counter"`)
		for range 3 {
			c.request("tools/call", `"name":"count_up"`)
		}
		time.Sleep(time.Second)
		if got := updated(); len(got) != 1 || got[0] != mcp.NotifyResourceUpdated+" demo://counter" {
			t.Error("got", got)
		}
		if m := c.request("resources/read", `"uri":"demo://counter"`); !strings.Contains(string(m.Result), `"text":"3"`) {
			t.Errorf("got %s", m.Result)
		}
		c.request("resources/subscribe", `"uri":"demo://clock"`)
		time.Sleep(2*clockTick + time.Second)
		if got := updated(); len(got) != 2 {
			t.Error("the clock told", got)
		}
	})
}

// `drawbridge demo` over stdio ends with its input.
func TestCommandStdio(t *testing.T) {
	in, w := io.Pipe()
	r, out := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- Command(t.Context(), nil, in, out, &stderr)
		_ = out.Close()
	}()
	lines := bufio.NewReader(r)
	for _, x := range []struct{ in, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, `"supportedVersions":["2026-07-28"`},
		{`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}`, `"protocolVersion":"2024-11-05"`},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}`, `"text":"hello"`},
	} {
		_, _ = io.WriteString(w, x.in+"\n")
		line, err := lines.ReadString('\n')
		if err != nil || !strings.Contains(line, x.want) {
			t.Fatalf("got %s, %v", line, err)
		}
	}
	_ = w.Close()
	if got := <-code; got != 0 || stderr.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", got, stderr.String())
	}
}

// `drawbridge demo --http` says where it is, serves there, and stops when told.
func TestCommandHTTP(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, w := io.Pipe()
	code := make(chan int, 1)
	go func() { code <- Command(ctx, []string{"--http", "127.0.0.1:0"}, strings.NewReader(""), io.Discard, w) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(line)
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`
	res, err := http.Post(url, "application/json", strings.NewReader(body)) //nolint:noctx // the server stops with the test
	if err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.StatusCode != 200 || !strings.Contains(string(got), "drawbridge-demo") || !strings.HasSuffix(url, Path) {
		t.Errorf("%s: %s %s", url, res.Status, got)
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	if got := <-code; got != 0 {
		t.Error("exit code", got)
	}
}

func TestCommandRefusesWrongArguments(t *testing.T) {
	for _, args := range [][]string{{"--stdio", "--http", "127.0.0.1:0"}, {"more"}, {"--nonsense"}} {
		if got := Command(t.Context(), args, strings.NewReader(""), io.Discard, io.Discard); got != 2 {
			t.Errorf("%v: exit code %d", args, got)
		}
	}
	for _, addr := range []string{"0.0.0.0:0", "nonsense", "example.com:80"} {
		var stderr bytes.Buffer
		if got := Command(t.Context(), []string{"--http", addr}, strings.NewReader(""), io.Discard, &stderr); got != 1 || stderr.Len() == 0 {
			t.Errorf("%s: exit code %d, %q", addr, got, stderr.String())
		}
	}
}
