package transport_test

import (
	"errors"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// C8: what each outcome tells the breaker. The table starts with one failure, so
// that a success (count 0), nothing (1) and a failure (2) can be told apart.
func TestBreakerVotes(t *testing.T) {
	const success, nothing, failure = 0, 1, 2
	discovered := `{"jsonrpc":"2.0","id":$id,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"serverInfo":{"name":"x","version":"1"},"ttlMs":0,"cacheScope":"private"}}`
	for name, c := range map[string]struct {
		method string
		answer fakeserver.Answer
		want   int
	}{
		"ordinary, 200":          {"tools/call", fakeserver.Answer{ContentType: "application/json", Body: good}, success},
		"ordinary, page":         {"tools/call", fakeserver.Page(200), success},
		"ordinary, error":        {"tools/call", fakeserver.RPCError(200, -32603, "x", true), success},
		"ordinary, 302":          {"tools/call", fakeserver.Redirect(302, "/x"), nothing},
		"ordinary, 400":          {"tools/call", fakeserver.Status(400), failure},
		"ordinary, 400 coded":    {"tools/call", fakeserver.RPCError(400, -32602, "x", true), success},
		"ordinary, 401":          {"tools/call", fakeserver.Status(401), failure},
		"ordinary, 404":          {"tools/call", fakeserver.Status(404), success},
		"ordinary, 422":          {"tools/call", fakeserver.Status(422), success},
		"ordinary, 429":          {"tools/call", fakeserver.Status(429), failure},
		"ordinary, 503":          {"tools/call", fakeserver.Status(503), failure},
		"initialize, result":     {"initialize", fakeserver.Answer{ContentType: "application/json", Body: good}, success},
		"initialize, error":      {"initialize", fakeserver.RPCError(200, -32603, "x", true), failure},
		"initialize, 400 coded":  {"initialize", fakeserver.RPCError(400, -32602, "x", true), failure},
		"initialize, 404":        {"initialize", fakeserver.Status(404), failure},
		"initialize, page":       {"initialize", fakeserver.Page(200), failure},
		"initialize, 307":        {"initialize", fakeserver.Redirect(307, "https://example.com/"), nothing},
		"initialize, no answer":  {"initialize", fakeserver.Answer{ContentType: "text/event-stream"}, failure},
		"discover, modern":       {mcp.MethodDiscover, fakeserver.Answer{ContentType: "application/json", Body: discovered}, success},
		"discover, -32022":       {mcp.MethodDiscover, fakeserver.RPCError(400, -32022, "x", true), success},
		"discover, -32601":       {mcp.MethodDiscover, fakeserver.RPCError(200, -32601, "x", true), success},
		"discover, 404":          {mcp.MethodDiscover, fakeserver.Status(404), success},
		"discover, 405":          {mcp.MethodDiscover, fakeserver.Status(405), success},
		"discover, 400":          {mcp.MethodDiscover, fakeserver.Status(400), nothing},
		"discover, -32000":       {mcp.MethodDiscover, fakeserver.ServerNotInitialized(), nothing},
		"discover, page":         {mcp.MethodDiscover, fakeserver.Page(200), nothing},
		"discover, no answer":    {mcp.MethodDiscover, fakeserver.Answer{ContentType: "text/event-stream"}, nothing},
		"discover, 302":          {mcp.MethodDiscover, fakeserver.Redirect(302, "/x"), nothing},
		"discover, 401":          {mcp.MethodDiscover, fakeserver.Status(401), failure},
		"discover, 429":          {mcp.MethodDiscover, fakeserver.Status(429), failure},
		"discover, 502":          {mcp.MethodDiscover, fakeserver.Status(502), failure},
		"too large":              {"initialize", fakeserver.Answer{ContentType: "application/json", Body: string(make([]byte, 5000))}, nothing},
		"ordinary, a cut answer": {"initialize", fakeserver.Answer{ContentType: "application/json", Body: `{"jsonrpc"`, Cut: true}, failure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := breaker.NewTable(9, time.Hour)
			w := openWeb(t, transport.HTTPConfig{URL: answering(t, c.answer), Breakers: table, Limits: transport.Limits{MaxBytes: 4000}})
			key := w.origin
			lease, err := table.Allow(key)
			if err != nil {
				t.Fatal(err)
			}
			lease.Failure()
			w.outcome(w.send(c.method, `{`+modernMeta+`}`))
			if got := table.State(key).Failures; got != c.want {
				t.Errorf("%d failures are counted, want %d", got, c.want)
			}
		})
	}
}

// C8: a session rejection and a cancellation say nothing about health.
func TestBreakerIgnores(t *testing.T) {
	table := breaker.NewTable(1, time.Hour)
	srv := fakeserver.StartHTTP(t, fakeserver.HTTP{Answers: map[string]fakeserver.Answer{"tools/list": {Hang: true}}})
	w := openWeb(t, transport.HTTPConfig{URL: srv.URL, Breakers: table})
	w.shake()
	id := w.send(mcp.MethodToolsList, `{}`)
	eventually(t, "the request", func() bool { return srv.Count(mcp.MethodToolsList) == 1 })
	w.conn.Cancel(id)
	srv.DropSessions()
	if e := w.fails(mcp.MethodToolsCall, `{}`); e.Code != transport.SessionRejected {
		t.Errorf("failed with %v", e)
	}
	if got := table.State(w.origin); got.Failures != 0 {
		t.Errorf("the breaker is %+v", got)
	}
}

// C8: while it is open nothing is sent, and the refusal comes as an outcome.
func TestBreakerOpen(t *testing.T) {
	table := breaker.NewTable(2, time.Hour)
	srv := fakeserver.StartHTTP(t, fakeserver.HTTP{Answers: map[string]fakeserver.Answer{"*": fakeserver.Status(503)}})
	w := openWeb(t, transport.HTTPConfig{URL: srv.URL, Breakers: table})
	for range 2 {
		w.fails("m", "")
	}
	e := w.fails("m", "")
	if e.Code != transport.BreakerOpen || !errors.Is(e, breaker.ErrOpen) || e.RetryAfter <= 0 || e.RetryAfter > time.Hour {
		t.Errorf("failed with %v, retry after %v", e, e.RetryAfter)
	}
	if n := len(srv.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
	// Another path of the origin is behind the same breaker.
	w = openWeb(t, transport.HTTPConfig{URL: srv.URL + "/other?x", Breakers: table})
	if e := w.fails("m", ""); e.Code != transport.BreakerOpen {
		t.Errorf("failed with %v", e)
	}
}

// A server that cannot be reached at all is a failure, the probe's too.
func TestBreakerCountsNoAnswer(t *testing.T) {
	table := breaker.NewTable(9, time.Hour)
	w := openWeb(t, transport.HTTPConfig{URL: "http://127.0.0.1:1/", Breakers: table})
	for i, method := range []string{mcp.MethodDiscover, mcp.MethodInitialize, "m"} {
		if e := w.fails(method, "{}"); e.Error() != "transport (refused)" {
			t.Errorf("failed with %v", e)
		}
		if got := table.State("http://127.0.0.1:1").Failures; got != i+1 {
			t.Errorf("%d failures after %s", got, method)
		}
	}
}

// A long stream does not keep the probe of a half-open breaker.
func TestBreakerHearsOfStreamsAtOnce(t *testing.T) {
	table := breaker.NewTable(9, time.Hour)
	w := openWeb(t, transport.HTTPConfig{URL: answering(t, fakeserver.Answer{ContentType: "text/event-stream", Body: ": hi\n\n", HangBody: true}), Breakers: table})
	lease, err := table.Allow(w.origin)
	if err != nil {
		t.Fatal(err)
	}
	lease.Failure()
	w.issue(transport.Request{Method: mcp.MethodListen, Listen: true})
	eventually(t, "the success", func() bool { return table.State(w.origin).Failures == 0 })
}
