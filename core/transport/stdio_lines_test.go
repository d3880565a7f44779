package transport_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

// Cases 15 and 16, acceptance 90: what is no message is shown once and skipped.
func TestStdioSkipsWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	junk := []string{
		"{bad json", "\x1b[36mINFO\x1b[0m up", "Starting MCP server", "[2026-01-01] hello", "123", "null", `"x"`, "[]",
		`{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1}`, "> pkg@1.0 start",
	}
	var r transporttest.Recorder
	var out console
	conn := fake(t, fakeserver.Script{
		Preamble: []byte("\n   \n\r\n" + strings.Join(junk, "\n") + "\n"),
		Noise:    []string{"[db] Connected", ""},
	}, transport.StdioConfig{Log: out.log}, &r)
	handshake(t, conn, &r)
	answered(t, conn, &r, 3, "tools/list", `{}`)
	for _, line := range junk {
		if got := out.count("stdout: " + line); got != 1 {
			t.Errorf("%q was shown %d times", line, got)
		}
	}
	if got := out.count("stdout: [db] Connected"); got != 2 {
		t.Errorf("noise was shown %d times", got)
	}
	if got := len(out.all()); got != len(junk)+2 {
		t.Errorf("the log is %q", out.all())
	}
	for _, e := range r.Events() {
		if e.Kind == transporttest.Failed || e.Kind == transporttest.Closed {
			t.Errorf("junk caused %v", e)
		}
	}
}

// Case 17: "\r\n" is read.
func TestStdioReadsCRLF(t *testing.T) {
	t.Parallel()
	var r transporttest.Recorder
	var out console
	conn := fake(t, fakeserver.Script{EOL: "\r\n", Preamble: []byte("\r\n\r\n")}, transport.StdioConfig{Log: out.log}, &r)
	handshake(t, conn, &r)
	if got := out.all(); len(got) != 0 {
		t.Errorf("the log is %q", got)
	}
}

// Case 17: what is written ends in "\n" and has no other line break, and is else
// byte for byte what was given.
func TestStdioWritesOneLine(t *testing.T) {
	t.Parallel()
	var r transporttest.Recorder
	conn := play(t, transport.StdioConfig{}, &r, "raw")
	request(t, conn, 7, "m", "{\r\n\t\"a\" : \"\\n é <&>\",\n\"n\":9007199254740993 }")
	got := r.Noted(t, "got").Msg
	var p struct{ Line string }
	if err := json.Unmarshal(got.Params, &p); err != nil {
		t.Fatal(err)
	}
	want := "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":{  \t\"a\" : \"\\n é <&>\", \"n\":9007199254740993 }}\n"
	if p.Line != want {
		t.Errorf("got  %q\nwant %q", p.Line, want)
	}
}

// Case 18, acceptance 92: no cliff below the limit.
func TestStdioReadsLongLines(t *testing.T) {
	t.Parallel()
	var r transporttest.Recorder
	conn := fake(t, fakeserver.Script{}, transport.StdioConfig{Limits: transport.Limits{MaxBytes: 24 << 20}}, &r)
	handshake(t, conn, &r)
	for i, n := range []int{70_000, 1_100_000, 1_500_000, 2_100_000, 20 << 20} {
		e := answered(t, conn, &r, int64(10+i), "tools/call", fmt.Sprintf(`{"name":"big","arguments":{"bytes":%d}}`, n))
		if len(e.Msg.Result) < n {
			t.Errorf("of %d bytes %d came", n, len(e.Msg.Result))
		}
	}
}

// Case 18, acceptance 106 as T8 has it: over the limit one request fails, whether
// its id comes before or after the payload, and the session goes on.
func TestStdioLineOverTheLimitFailsItsRequest(t *testing.T) {
	t.Parallel()
	for name, shape := range map[string][2]string{
		"id first":        {`{"jsonrpc":"2.0","id":5,"result":{"content":"`, `"}}`},
		"id last":         {`{"result":{"content":"\"id\":6,\\`, `"},"jsonrpc":"2.0","id":5}`},
		"id as a string":  {`{"id":"5","error":{"code":1,"message":"`, `"}}`},
		"id in the depth": {`{"result":{"id":6,"a":[{"id":7}],"x":"`, `","id":8}, "id" : 5 }`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r transporttest.Recorder
			const limit = 4 << 20
			conn := play(t, transport.StdioConfig{Limits: transport.Limits{MaxBytes: limit}}, &r, "long", shape[0], fmt.Sprint(limit), shape[1])
			request(t, conn, 6, "hold", `{}`)
			request(t, conn, 5, "long", `{}`)
			e := r.Outcome(t, 5)
			err, ok := e.Err.(*transport.Error)
			if e.Kind != transporttest.Failed || !ok || err.Code != transport.TooLarge || err.Limit != limit {
				t.Fatalf("ended with %.200v", e)
			}
			answered(t, conn, &r, 7, "ping", `{}`)
			if got := r.Outcomes(6); len(got) != 0 {
				t.Errorf("the other request ended with %v", got)
			}
		})
	}
}

// T8: a long line that answers nothing costs nobody anything, and no memory.
func TestStdioLineOverTheLimitWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, shape := range map[string][2]string{
		"junk":            {"", ""},
		"notification":    {`{"jsonrpc":"2.0","method":"n","params":{"id":5,"x":"`, `"}}`},
		"server request":  {`{"jsonrpc":"2.0","id":5,"method":"n","params":{"x":"`, `"}}`},
		"unknown request": {`{"jsonrpc":"2.0","id":50,"result":{"x":"`, `"}}`},
		"null id":         {`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"`, `"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r transporttest.Recorder
			var out console
			const limit = 1 << 20
			conn := play(t, transport.StdioConfig{Limits: transport.Limits{MaxBytes: limit}, Log: out.log}, &r, "long", shape[0], fmt.Sprint(4*limit), shape[1])
			request(t, conn, 5, "hold", `{}`)
			request(t, conn, 6, "long", `{}`)
			answered(t, conn, &r, 7, "ping", `{}`)
			if got := r.Outcomes(5); len(got) != 0 {
				t.Errorf("the waiting request ended with %v", got)
			}
			if got := out.count(fmt.Sprintf("transport: a line over the limit of %d bytes was discarded", limit)); got != 1 {
				t.Errorf("the log is %q", out.all())
			}
		})
	}
}

// A byte order mark before the first message does not cost it.
func TestStdioSkipsAByteOrderMark(t *testing.T) {
	t.Parallel()
	var r transporttest.Recorder
	var out console
	play(t, transport.StdioConfig{Log: out.log}, &r, "write", "\ufeff"+`{"jsonrpc":"2.0","method":"n"}`+"\n")
	r.Noted(t, "n")
	if got := out.all(); len(got) != 0 {
		t.Errorf("the log is %q", got)
	}
}

// Revision 2025-03-26 "Batching": a client must be able to receive them. In other
// revisions a batch is no message.
func TestStdioReceivesBatches(t *testing.T) {
	t.Parallel()
	for version, want := range map[mcp.Version]bool{mcp.V20250326: true, mcp.V20250618: false, mcp.V20241105: false} {
		var r transporttest.Recorder
		var out console
		conn := fake(t, fakeserver.Script{Replies: map[string]fakeserver.Reply{"batch": {
			Raw: `[{"jsonrpc":"2.0","method":"first"},7,{"jsonrpc":"2.0","id":$id,"result":{}}]` + "\n[]\n" + `{"jsonrpc":"2.0","method":"last"}`,
		}}}, transport.StdioConfig{Log: out.log}, &r)
		conn.Adopt(version)
		request(t, conn, 1, "batch", `{}`)
		r.Noted(t, "last")
		events, junk := len(r.Events()), len(out.all())
		if want && (events != 3 || junk != 2 || len(r.Outcomes(1)) != 1 || r.Events()[0].Msg.Method != "first") {
			t.Errorf("%s: events %v, log %q", version, r.Events(), out.all())
		}
		if !want && (events != 1 || junk != 2) {
			t.Errorf("%s: events %v, log %q", version, r.Events(), out.all())
		}
	}
}

// Case 49: the id may come back as a string or an integral float, and nothing else.
func TestStdioCorrelatesEquivalentIDs(t *testing.T) {
	t.Parallel()
	for _, ids := range []string{fakeserver.AsStrings, fakeserver.AsFractions} {
		var r transporttest.Recorder
		conn := fake(t, fakeserver.Script{IDs: ids}, transport.StdioConfig{}, &r)
		handshake(t, conn, &r)
	}
	var r transporttest.Recorder
	var out console
	conn := fake(t, fakeserver.Script{Replies: map[string]fakeserver.Reply{"odd": {
		Raw: `{"jsonrpc":"2.0","id":"01","result":1}` + "\n" + `{"jsonrpc":"2.0","id":"one","result":1}` + "\n" + `{"jsonrpc":"2.0","id":$id,"result":{}}`,
	}}}, transport.StdioConfig{Log: out.log}, &r)
	answered(t, conn, &r, 1, "odd", `{}`)
	if got := len(r.Events()); got != 1 {
		t.Errorf("events: %v", r.Events())
	}
	if got := out.all(); len(got) != 2 || !strings.Contains(got[0], `"01"`) {
		t.Errorf("the log is %q", got)
	}
}

// Case 43: an error whose id is null is delivered and settles nothing.
func TestStdioDeliversErrorsWithoutID(t *testing.T) {
	t.Parallel()
	var r transporttest.Recorder
	conn := fake(t, fakeserver.Script{Replies: map[string]fakeserver.Reply{
		"server/discover": {Raw: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`},
	}}, transport.StdioConfig{}, &r)
	request(t, conn, 1, "server/discover", `{}`)
	r.First(t, "error", func(e transporttest.Event) bool {
		return e.Kind == transporttest.Message && e.Msg.Error != nil && e.ID == 0 && e.Msg.ID.IsZero()
	})
	if !conn.Cancel(1) {
		t.Error("the request was settled")
	}
}

// The messages of a server that ends come before its end, the one without a line
// end too.
func TestStdioKeepsOrderUpToTheEnd(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, `{"jsonrpc":"2.0","method":"n","params":{"i":%d}}`+"\n", i)
	}
	file := t.TempDir() + "/out"
	text.WriteString(`{"jsonrpc":"2.0","method":"end"}`)
	writeFile(t, file, text.String())
	var r transporttest.Recorder
	openStdio(t, transport.StdioConfig{Command: "cat", Args: []string{file}}, &r)
	closedError(t, &r)
	next := 0
	for _, e := range r.Events() {
		if e.Kind == transporttest.Message && e.Msg.Method == "n" {
			if got := string(jsonrpc.Get(e.Msg.Params, "i")); got != fmt.Sprint(next) {
				t.Fatalf("message %s in place of %d", got, next)
			}
			next++
		}
	}
	events := r.Events()
	if next != 3000 || len(events) != 3002 || events[3000].Msg.Method != "end" {
		t.Errorf("%d messages came, and %v", next, events[max(0, len(events)-2):])
	}
	if !slices.ContainsFunc(events[3001:], func(e transporttest.Event) bool { return e.Kind == transporttest.Closed }) {
		t.Errorf("the last event is %v", events[len(events)-1])
	}
}
