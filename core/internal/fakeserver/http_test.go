package fakeserver

import (
	"bufio"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// client follows no redirect and shares no connection with other tests.
func client(t *testing.T) *http.Client {
	tr := &http.Transport{DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{
		Transport:     tr,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func post(t *testing.T, url, body string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var modernHeaders = []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover"}

func TestProbeAnswers(t *testing.T) {
	one := func(a Answer) HTTP { return HTTP{Answers: map[string]Answer{"server/discover": a}} }
	for _, tc := range []struct {
		name   string
		server HTTP
		status int
		want   string
	}{
		{"stateful legacy", HTTP{}, 400, `"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`},
		{"stateless legacy", HTTP{Stateless: true}, 200, `"code":-32601`},
		{"modern", HTTP{Script: Script{Era: Modern}}, 200, `"supportedVersions":["2026-07-28"]`},
		{"modern, JSON", HTTP{Script: Script{Era: Modern}, JSON: "json"}, 200, `"supportedVersions":["2026-07-28"]`},
		{"dual", HTTP{Script: Script{Era: Dual}}, 200, `"supportedVersions":["2026-07-28","2025-11-25"`},
		{"404", one(Status(404)), 404, ""},
		{"405", one(Status(405)), 405, ""},
		{"401", one(Unauthorized("https://as.example/.well-known")), 401, ""},
		{"html 200", one(Page(200)), 200, "<!DOCTYPE html>"},
		{"error with an id", one(RPCError(400, -32022, "no", true)), 400, `"id":"d1"`},
		{"error without an id", one(RPCError(200, -32600, "no", false)), 200, `"id":null`},
		{"redirect", one(Redirect(308, "/elsewhere")), 308, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := StartHTTP(t, tc.server)
			resp := post(t, s.URL, probe, modernHeaders...)
			if got := text(t, resp); resp.StatusCode != tc.status || !strings.Contains(got, tc.want) {
				t.Errorf("%d %s", resp.StatusCode, got)
			}
			if s.Count("server/discover") != 1 {
				t.Errorf("recorded %+v", s.Requests())
			}
		})
	}
}

func TestModernDoorChecksHeaders(t *testing.T) {
	s := StartHTTP(t, HTTP{Script: Script{Era: Modern}})
	for _, h := range [][]string{
		{},
		{"Mcp-Protocol-Version", "2026-07-28"},
		{"Mcp-Protocol-Version", "2025-11-25", "Mcp-Method", "server/discover"},
		{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"},
	} {
		resp := post(t, s.URL, probe, h...)
		if got := text(t, resp); resp.StatusCode != 400 || !strings.Contains(got, "-32020") {
			t.Errorf("%v: %d %s", h, resp.StatusCode, got)
		}
	}
	unknown := strings.ReplaceAll(probe, "server/discover", "no/such")
	resp := post(t, s.URL, unknown, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "no/such")
	if got := text(t, resp); resp.StatusCode != 404 || !strings.Contains(got, "-32601") {
		t.Errorf("unknown method: %d %s", resp.StatusCode, got)
	}
}

func handshake(t *testing.T, s *HTTPServer) (session string) {
	t.Helper()
	resp := post(t, s.URL, initialize)
	if text(t, resp); resp.StatusCode != 200 {
		t.Fatalf("initialize: %d", resp.StatusCode)
	}
	return resp.Header.Get("Mcp-Session-Id")
}

const echo = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`

// Cases 31 and 32.
func TestSessions(t *testing.T) {
	s := StartHTTP(t, HTTP{})
	id := handshake(t, s)
	if id == "" {
		t.Fatal("no session id")
	}
	if got := text(t, post(t, s.URL, echo, "Mcp-Session-Id", id)); !strings.Contains(got, `"text":"hi"`) {
		t.Errorf("got %s", got)
	}
	s.DropSessions()
	if resp := post(t, s.URL, echo, "Mcp-Session-Id", id); resp.StatusCode != 404 {
		t.Errorf("lost session: %d", resp.StatusCode)
	}
	if again := handshake(t, s); again == id {
		t.Error("the old session id was given again")
	}
	s = StartHTTP(t, HTTP{Lost: RPCError(200, -32000, "session not found", false)})
	if got := text(t, post(t, s.URL, echo, "Mcp-Session-Id", "x")); !strings.Contains(got, "session not found") {
		t.Errorf("got %s", got)
	}
}

// Cases 24, 26.
func TestStreamDialects(t *testing.T) {
	for _, tc := range []struct {
		name string
		d    Stream
		want []string
	}{
		{"plain", Stream{}, []string{"event: message\ndata: {"}},
		{"carriage returns and newlines", Stream{EOL: "\r\n"}, []string{"event: message\r\ndata: {", "}\r\n\r\n"}},
		{"carriage returns", Stream{EOL: "\r"}, []string{"event: message\rdata: {", "}\r\r"}},
		{"priming", Stream{Priming: true}, []string{"id: event-1\ndata: \n\n", "id: event-2\n"}},
		{"mark, comments, retry", Stream{BOM: true, Comments: true, Retry: 50}, []string{"\uFEFF: welcome\n\n", "retry: 50\n\n", ": a comment: with a colon\n"}},
		{"foreign events", Stream{Foreign: true}, []string{"event: ping\n", `data: {"type":"heartbeat"}`}},
		{"folded", Stream{Folded: true}, []string{"data: {\ndata:   \"jsonrpc\": \"2.0\",\n"}},
		{"no space", Stream{NoSpace: true}, []string{"event:message\ndata:{"}},
		{"heartbeat", Stream{Every: time.Millisecond}, nil},
		{"ids", Stream{IDs: true}, []string{"id: event-1\n"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := StartHTTP(t, HTTP{Stateless: true, Stream: tc.d})
			got := text(t, post(t, s.URL, echo))
			for _, want := range append(tc.want, "hi") {
				if !strings.Contains(got, want) {
					t.Errorf("%q lacks %q", got, want)
				}
			}
		})
	}
}

// Case 37.
func TestStreamsThatEndBadly(t *testing.T) {
	slow := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}`
	for ending, clean := range map[string]bool{EndsSilently: true, EndsByReset: false, EndsInside: true} {
		s := StartHTTP(t, HTTP{Stateless: true, Stream: Stream{Ending: ending}})
		b, err := io.ReadAll(post(t, s.URL, slow).Body)
		if (err == nil) != clean {
			t.Errorf("%s: %v", ending, err)
		}
		if !strings.Contains(string(b), "notifications/progress") || strings.HasSuffix(string(b), "\n\n") && strings.Contains(string(b), "done") {
			t.Errorf("%s: %q", ending, b)
		}
	}
}

func TestElicitationOnTheCallsStream(t *testing.T) {
	s := StartHTTP(t, HTTP{})
	id := handshake(t, s)
	resp := post(t, s.URL, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask"}}`, "Mcp-Session-Id", id)
	in := bufio.NewReader(resp.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "elicitation/create") {
			break
		}
	}
	answer := post(t, s.URL, `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"cancel"}}`, "Mcp-Session-Id", id)
	if answer.StatusCode != 202 {
		t.Errorf("answer: %d", answer.StatusCode)
	}
	rest, _ := io.ReadAll(in)
	if !strings.Contains(string(rest), `cancel`) {
		t.Errorf("got %q", rest)
	}
}

func TestGetStreamAndNotify(t *testing.T) {
	s := StartHTTP(t, HTTP{})
	id := handshake(t, s)
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Mcp-Session-Id", id)
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := make(chan string, 16)
	go func() {
		defer close(lines)
		for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
			lines <- sc.Text()
		}
	}()
	s.Notify("notifications/tools/list_changed", nil)
	want := []string{"event: message", `data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`}
	for _, w := range want {
		if line := <-lines; line != w {
			t.Errorf("got %q, want %q", line, w)
		}
	}
	resp.Body.Close()
	for range lines {
	}
}

func TestRawAnswers(t *testing.T) {
	s := StartHTTP(t, HTTP{Stateless: true, Answers: map[string]Answer{
		"ping":            {ContentType: "application/json; charset=utf-8", Body: `{"jsonrpc":"2.0","id":$id,"result":{}}`, Gzip: true},
		"tools/call slow": {Body: "abcdef", ByteWait: 2 * time.Millisecond},
		"tools/call echo": {Status: 503, Times: 1},
		"tools/list":      {Body: "{", Cut: true},
		"prompts/list":    {Hang: true},
		"resources/list":  {Body: "{", HangBody: true},
		"DELETE":          {Status: 500},
	}})
	resp := post(t, s.URL, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	if got := text(t, resp); resp.Header.Get("Content-Encoding") != "gzip" || strings.Contains(got, "jsonrpc") {
		t.Errorf("gzip: %q", got)
	}
	if got := text(t, post(t, s.URL, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"slow"}}`)); got != "abcdef" {
		t.Errorf("slow body: %q", got)
	}
	statuses := []int{post(t, s.URL, echo).StatusCode, post(t, s.URL, echo).StatusCode}
	if !slices.Equal(statuses, []int{503, 200}) {
		t.Errorf("statuses %v", statuses)
	}
	if _, err := io.ReadAll(post(t, s.URL, `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`).Body); err == nil {
		t.Error("a cut body read to its end")
	}
	c := client(t)
	c.Timeout = 50 * time.Millisecond
	if _, err := c.Post(s.URL, "", strings.NewReader(`{"jsonrpc":"2.0","id":3,"method":"prompts/list"}`)); err == nil {
		t.Error("a hung answer came")
	}
	resp, err := c.Post(s.URL, "", strings.NewReader(`{"jsonrpc":"2.0","id":3,"method":"resources/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("a hung body ended")
	}
}

func TestModernSubscriptionOverHTTP(t *testing.T) {
	s := StartHTTP(t, HTTP{Script: Script{Era: Modern}})
	listen := `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	resp := post(t, s.URL, listen, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
	sc := bufio.NewScanner(resp.Body)
	next := func() string {
		for sc.Scan() {
			if data, ok := strings.CutPrefix(sc.Text(), "data: "); ok {
				return data
			}
		}
		t.Fatalf("the stream ended: %v", sc.Err())
		return ""
	}
	if got := next(); !strings.Contains(got, "notifications/subscriptions/acknowledged") {
		t.Errorf("first %s", got)
	}
	grow := `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"grow",` + modernMeta + `}}`
	if resp := post(t, s.URL, grow, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "grow"); resp.StatusCode != 200 {
		t.Errorf("grow: %d %s", resp.StatusCode, text(t, resp))
	}
	if got := next(); !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":7`) || !strings.Contains(got, "list_changed") {
		t.Errorf("then %s", got)
	}
}
