package transport_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

const (
	good      = `{"jsonrpc":"2.0","id":$id,"result":{"ok":true}}`
	goodEvent = "event: message\ndata: " + good + "\n\n"
)

// Field cases 24, 26 and 28, acceptance 47, 48, 86: what is an answer.
func TestAnswers(t *testing.T) {
	for name, a := range map[string]fakeserver.Answer{
		"JSON":                     {ContentType: "application/json", Body: good},
		"JSON with charset":        {ContentType: "Application/JSON; charset=utf-8", Body: good},
		"JSON with a broken type":  {ContentType: "application/json; charset", Body: good},
		"JSON by suffix":           {ContentType: "application/vnd.x+json", Body: good},
		"JSON after blanks":        {ContentType: "application/json", Body: "\r\n \t" + good + "\n"},
		"JSON after a BOM":         {ContentType: "application/json", Body: "\uFEFF" + good},
		"JSON under 201":           {Status: 201, ContentType: "application/json", Body: good},
		"id as a string":           {ContentType: "application/json", Body: `{"jsonrpc":"2.0","id":"$id","result":{"ok":true}}`},
		"id null":                  {ContentType: "application/json", Body: `{"jsonrpc":"2.0","id":null,"result":{"ok":true}}`},
		"no jsonrpc member":        {ContentType: "application/json", Body: `{"id":$id,"result":{"ok":true}}`},
		"a batch":                  {ContentType: "application/json", Body: `[{"jsonrpc":"2.0","method":"notifications/message"},` + good + `]`},
		"an event":                 {ContentType: "text/event-stream", Body: goodEvent},
		"an event, upper case":     {ContentType: "Text/Event-Stream;charset=UTF-8", Body: goodEvent},
		"an event without its end": {ContentType: "text/event-stream", Body: "data: " + good},
		"CRLF":                     {ContentType: "text/event-stream", Body: strings.ReplaceAll(goodEvent, "\n", "\r\n")},
		"CR":                       {ContentType: "text/event-stream", Body: strings.ReplaceAll(goodEvent, "\n", "\r")},
		"after heartbeats": {ContentType: "text/event-stream", Body: ": keep-alive\n\nid: s:0\nretry: 1000\ndata: \n\nevent: ping\ndata: 2026-01-01\n\n" +
			"data: {\"type\":\"heartbeat\"}\n\ndata: 1\n\ndata: [1]\n\n" + goodEvent},
		"after a foreign answer": {ContentType: "text/event-stream", Body: "data: {\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n\n" + goodEvent},
		"byte by byte":           {ContentType: "text/event-stream", Body: goodEvent, ByteWait: time.Microsecond},
		"gzip":                   {ContentType: "application/json", Body: good, Gzip: true},
		"gzip stream":            {ContentType: "text/event-stream", Body: goodEvent, Gzip: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openWeb(t, transport.HTTPConfig{URL: answering(t, a)})
			w.conn.Adopt(mcp.V20251125)
			if got := w.call("tools/call", `{}`); got != `{"ok":true}` {
				t.Errorf("result %s", got)
			}
		})
	}
}

// Field case 28: no content type at all. net/http's server would add one.
func TestMissingContentType(t *testing.T) {
	for name, body := range map[string]string{"JSON": good, "stream": goodEvent, "stream with a comment": ": hi\n\n" + goodEvent} {
		t.Run(name, func(t *testing.T) {
			url := handler(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
				w.Header()["Content-Type"] = nil
				_, _ = io.WriteString(w, strings.ReplaceAll(body, "$id", "1"))
			})
			w := openWeb(t, transport.HTTPConfig{URL: url})
			w.call("m", "")
		})
	}
}

// T6, field cases 29, 36, 43; E2: what is no answer.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		answer fakeserver.Answer
		want   transport.Error
		rpc    int64
		words  string
	}{
		"a web page":           {fakeserver.Page(200), transport.Error{Code: transport.NotMCP, Reason: "web_page", Status: 200}, 0, "It works!"},
		"a refused web page":   {fakeserver.Page(502), transport.Error{Code: transport.HTTPStatus, Status: 502}, 0, "It works!"},
		"other JSON":           {fakeserver.Answer{ContentType: "application/json", Body: `{"ok":true}`}, transport.Error{Code: transport.NotMCP, Reason: "other_json", Status: 200}, 0, `{"ok":true}`},
		"an OAuth error":       {fakeserver.Answer{ContentType: "application/json", Body: `{"error":"invalid_token"}`}, transport.Error{Code: transport.NotMCP, Reason: "other_json", Status: 200}, 0, "invalid_token"},
		"a refused OAuth":      {fakeserver.Answer{Status: 401, ContentType: "application/json", Body: `{"error":"invalid_token"}`}, transport.Error{Code: transport.HTTPStatus, Status: 401}, 0, "invalid_token"},
		"no JSON":              {fakeserver.Answer{ContentType: "application/json", Body: `{"jsonrpc":`}, transport.Error{Code: transport.NotMCP, Reason: "other_content", Status: 200}, 0, ""},
		"text":                 {fakeserver.Answer{ContentType: "text/plain", Body: "hello"}, transport.Error{Code: transport.NotMCP, Reason: "other_content", Status: 200}, 0, "hello"},
		"empty JSON":           {fakeserver.Answer{ContentType: "application/json"}, transport.Error{Code: transport.NotMCP, Reason: "empty", Status: 200}, 0, ""},
		"202 to a request":     {fakeserver.Status(202), transport.Error{Code: transport.NotMCP, Reason: "empty", Status: 202}, 0, ""},
		"204 to a request":     {fakeserver.Status(204), transport.Error{Code: transport.NotMCP, Reason: "empty", Status: 204}, 0, ""},
		"only a notification":  {fakeserver.Answer{ContentType: "application/json", Body: `{"jsonrpc":"2.0","method":"notifications/message"}`}, transport.Error{Code: transport.Broken, Reason: "no_answer"}, 0, ""},
		"a foreign id":         {fakeserver.Answer{ContentType: "application/json", Body: `{"jsonrpc":"2.0","id":99,"result":{}}`}, transport.Error{Code: transport.Broken, Reason: "no_answer"}, 0, ""},
		"an empty stream":      {fakeserver.Answer{ContentType: "text/event-stream"}, transport.Error{Code: transport.Broken, Reason: "no_answer"}, 0, ""},
		"400, empty":           {fakeserver.Status(400), transport.Error{Code: transport.HTTPStatus, Status: 400}, 0, ""},
		"404":                  {fakeserver.Status(404), transport.Error{Code: transport.HTTPStatus, Status: 404}, 0, ""},
		"405":                  {fakeserver.Status(405), transport.Error{Code: transport.HTTPStatus, Status: 405}, 0, ""},
		"400, -32000, id null": {fakeserver.ServerNotInitialized(), transport.Error{Code: transport.HTTPStatus, Status: 400}, -32000, ""},
		"404, -32601":          {fakeserver.RPCError(404, -32601, "Method not found", true), transport.Error{Code: transport.HTTPStatus, Status: 404}, -32601, ""},
		"401, coded":           {fakeserver.RPCError(401, -32001, "no", true), transport.Error{Code: transport.HTTPStatus, Status: 401}, -32001, ""},
		"500, coded":           {fakeserver.RPCError(500, -32603, "no", true), transport.Error{Code: transport.HTTPStatus, Status: 500}, -32603, ""},
		"400 in an event": {
			fakeserver.Answer{Status: 400, ContentType: "text/event-stream", Body: ": hi\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32022,\"message\":\"no\"}}\n\n"},
			transport.Error{Code: transport.HTTPStatus, Status: 400},
			-32022, "",
		},
		"a refusal without end": {fakeserver.Answer{Status: 503, Body: "wait", HangBody: true}, transport.Error{Code: transport.HTTPStatus, Status: 503}, 0, "wait"},
		"429 with Retry-After": {
			fakeserver.Answer{Status: 429, Header: map[string]string{"Retry-After": "2"}}, transport.Error{Code: transport.HTTPStatus, Status: 429, RetryAfter: 2 * time.Second}, 0, "",
		},
		"503 with a far Retry-After": {
			fakeserver.Answer{Status: 503, Header: map[string]string{"Retry-After": "86400"}}, transport.Error{Code: transport.HTTPStatus, Status: 503, RetryAfter: 5 * time.Minute}, 0, "",
		},
		"an odd encoding": {
			fakeserver.Answer{ContentType: "application/json", Body: good, Header: map[string]string{"Content-Encoding": "br"}}, transport.Error{Code: transport.NotMCP, Reason: "other_content", Status: 200}, 0, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openWeb(t, transport.HTTPConfig{URL: answering(t, c.answer)})
			w.conn.Adopt(mcp.V20260728)
			e := w.fails("tools/call", `{}`)
			got := transport.Error{Code: e.Code, Reason: e.Reason, Status: e.Status, RetryAfter: e.RetryAfter}
			if got.Error() != c.want.Error() || got.RetryAfter != c.want.RetryAfter {
				t.Errorf("got %v, want %v", &got, &c.want)
			}
			if (e.RPC == nil) != (c.rpc == 0) || e.RPC != nil && e.RPC.Code != c.rpc {
				t.Errorf("RPC %v, want %d", e.RPC, c.rpc)
			}
			if words := strings.Join(e.Words, "\n"); !strings.Contains(words, c.words) || len(words) > 2048 {
				t.Errorf("words %q", words)
			}
		})
	}
}

// An error under 2xx is an ordinary answer.
func TestErrorUnder200(t *testing.T) {
	w := openWeb(t, transport.HTTPConfig{URL: answering(t, fakeserver.RPCError(200, -32602, "no", false))})
	w.conn.Adopt(mcp.V20260728)
	id := w.send("tools/call", `{}`)
	if e := w.outcome(id); e.Kind != transporttest.Message || e.ID != id || e.Msg.Error == nil || e.Msg.Error.Code != -32602 {
		t.Errorf("outcome %v", e)
	}
}

// T2, field case 28: any 2xx settles a notification, whatever its type.
func TestNotifications(t *testing.T) {
	for name, a := range map[string]fakeserver.Answer{
		"202": fakeserver.Status(202), "200": fakeserver.Status(200), "204": fakeserver.Status(204),
		"text": {Status: 202, ContentType: "text/plain; charset=utf-8", Body: "Accepted"}, "a stream": {ContentType: "text/event-stream", HangBody: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := openWeb(t, transport.HTTPConfig{URL: answering(t, a)})
			if e := w.outcome(w.issue(transport.Request{Method: "notifications/x", Notification: true})); e.Kind != transporttest.Settled {
				t.Errorf("outcome %v", e)
			}
		})
	}
	w := openWeb(t, transport.HTTPConfig{URL: answering(t, fakeserver.Status(400))})
	if e := w.failed(w.issue(transport.Request{Method: "notifications/x", Notification: true})); e.Status != 400 {
		t.Errorf("failed with %v", e)
	}
}

// T8, acceptance 80–82, field case 27.
func TestBodyLimits(t *testing.T) {
	const limit = 4096
	// sized is an answer of exactly n bytes.
	sized := func(n int) string {
		head, tail := `{"jsonrpc":"2.0","id":1,"result":{"x":"`, `"}}`
		return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
	}
	for name, c := range map[string]struct {
		contentType, body string
		announced, ok     bool
	}{
		"exactly, announced":   {"application/json", sized(limit), true, true},
		"exactly, streamed":    {"application/json", sized(limit), false, true},
		"one more, announced":  {"application/json", sized(limit + 1), true, false},
		"one more, streamed":   {"application/json", sized(limit + 1), false, false},
		"an event, exactly":    {"text/event-stream", "data: " + sized(limit) + "\n\n", false, true},
		"an event, one more":   {"text/event-stream", "data: " + sized(limit+1) + "\n\n", false, false},
		"a stream over it all": {"text/event-stream", strings.Repeat("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n", 500) + "data: " + sized(100) + "\n\n", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			url := handler(t, func(w http.ResponseWriter, _ *http.Request, body string) {
				if !strings.Contains(body, `"id":1,`) {
					writeJSON(w, reply(body, `{}`))
					return
				}
				w.Header().Set("Content-Type", c.contentType)
				if c.announced {
					w.Header().Set("Content-Length", strconv.Itoa(len(c.body)))
				} else {
					w.(http.Flusher).Flush()
				}
				_, _ = io.WriteString(w, c.body)
			})
			w := openWeb(t, transport.HTTPConfig{URL: url, Limits: transport.Limits{MaxBytes: limit}})
			id := w.send("m", "")
			if c.ok {
				if e := w.outcome(id); e.Kind != transporttest.Message && e.Msg == nil {
					t.Errorf("outcome %v", e)
				}
			} else if e := w.failed(id); e.Code != transport.TooLarge || e.Limit != limit {
				t.Errorf("failed with %v", e)
			}
			w.call("m", "") // the connection goes on
		})
	}
}

// Field case 27: 2.1 MB in one data line, and as JSON.
func TestLargeAnswers(t *testing.T) {
	result := `{"tools":"` + strings.Repeat("t", 2_140_787) + `"}`
	for _, ct := range []string{"application/json", "text/event-stream"} {
		url := handler(t, func(w http.ResponseWriter, _ *http.Request, body string) {
			w.Header().Set("Content-Type", ct)
			if ct != "application/json" {
				_, _ = io.WriteString(w, "data: ")
			}
			_, _ = io.WriteString(w, reply(body, result)+"\n\n")
		})
		if got := openWeb(t, transport.HTTPConfig{URL: url}).call("tools/list", ""); got != result {
			t.Errorf("%s: %d bytes came", ct, len(got))
		}
	}
}

// Acceptance 85, field case 41: a body that was cut is no success.
func TestTruncatedBodies(t *testing.T) {
	packed := func(body string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, body)
		_ = z.Close()
		return b.Bytes()
	}
	whole := strings.ReplaceAll(good, "$id", "1")
	for name, c := range map[string]struct {
		header map[string]string
		body   []byte
		cut    bool
		ok     bool
	}{
		"shorter than announced":     {nil, []byte(whole[:20]), true, false},
		"complete but cut":           {nil, []byte(whole), true, false},
		"gzip, cut":                  {map[string]string{"Content-Encoding": "gzip"}, packed(whole)[:30], false, false},
		"gzip, no gzip":              {map[string]string{"Content-Encoding": "gzip"}, []byte(whole), false, false},
		"gzip, length of the plain":  {map[string]string{"Content-Encoding": "gzip"}, packed(whole), true, true},
		"gzip with rubbish after it": {map[string]string{"Content-Encoding": "gzip"}, append(packed(whole), "rubbish"...), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			url := handler(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
				for k, v := range c.header {
					w.Header().Set(k, v)
				}
				w.Header().Set("Content-Type", "application/json")
				if c.cut {
					w.Header().Set("Content-Length", strconv.Itoa(len(c.body)+100))
				}
				_, _ = w.Write(c.body)
				if c.cut {
					w.(http.Flusher).Flush()
					panic(http.ErrAbortHandler)
				}
			})
			w := openWeb(t, transport.HTTPConfig{URL: url})
			id := w.send("m", "")
			if c.ok {
				if e := w.outcome(id); e.Kind != transporttest.Message {
					t.Errorf("outcome %v", e)
				}
			} else if e := w.failed(id); e.Code != transport.Broken {
				t.Errorf("failed with %v", e)
			}
		})
	}
}

// A compressed body is bounded by what it holds.
func TestGzipBomb(t *testing.T) {
	bomb := fakeserver.Answer{ContentType: "application/json", Body: `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, Gzip: true}
	w := openWeb(t, transport.HTTPConfig{URL: answering(t, bomb), Limits: transport.Limits{MaxBytes: 1 << 16}})
	if e := w.fails("m", ""); e.Code != transport.TooLarge {
		t.Errorf("failed with %v", e)
	}
}

// Acceptance 36, T6: no header, body or query in an error's text or in a note.
func TestErrorsHoldNoSecret(t *testing.T) {
	a := fakeserver.Answer{Status: 500, ContentType: "text/plain", Body: "body-secret", Header: map[string]string{"X-Secret": "header-secret"}}
	w := openWeb(t, transport.HTTPConfig{
		URL: answering(t, a) + "?key=query-secret", Headers: []transport.Header{{Name: "Authorization", Value: "Bearer spec-secret"}},
	})
	e := w.fails("m", "")
	text := fmt.Sprint(e, w.log.all())
	if strings.Contains(text, "secret") {
		t.Errorf("a secret shows in %s", text)
	}
	if len(w.log.all()) == 0 {
		t.Error("the failure was not noted")
	}
}
