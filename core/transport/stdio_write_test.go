package transport_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

// T2: a notification is settled once it was written, in its place.
func TestStdioKeepsTheOrderOfWhatIsSent(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "journal")
	var r transporttest.Recorder
	conn := fake(t, fakeserver.Script{Journal: journal}, transport.StdioConfig{}, &r)
	var want []string
	for id := int64(1); id <= 30; id++ {
		req := transport.Request{Method: fmt.Sprintf("m%d", id), Notification: id%2 == 0}
		want = append(want, req.Method)
		if err := conn.Send(id, req); err != nil {
			t.Fatal(err)
		}
	}
	answered(t, conn, &r, 31, "ping", `{}`)
	for id := int64(2); id <= 30; id += 2 {
		if got := r.Outcomes(id); len(got) != 1 || got[0].Kind != transporttest.Settled {
			t.Errorf("notification %d ended with %v", id, got)
		}
	}
	var got []string
	for _, m := range received(t, journal) {
		got = append(got, m.Method)
	}
	if !slices.Equal(got, append(want, "ping")) {
		t.Errorf("the server got %v", got)
	}
}

func received(t testing.TB, journal string) (out []*jsonrpc.Message) {
	t.Helper()
	entries, err := fakeserver.ReadJournal(journal)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Event == fakeserver.Received {
			m, err := jsonrpc.Decode([]byte(e.Text))
			if err != nil {
				t.Fatalf("the server got %q: %v", e.Text, err)
			}
			out = append(out, m)
		}
	}
	return out
}

// T10, spec 2026-07-28 basic/transports/stdio "Cancellation".
func TestStdioCancelTellsTheServer(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "journal")
	var r transporttest.Recorder
	conn := fake(t, fakeserver.Script{
		Journal: journal,
		Replies: map[string]fakeserver.Reply{"initialize": {Silent: true}, "slow": {Silent: true}, "server/discover": {Silent: true}},
	}, transport.StdioConfig{}, &r)
	for id, method := range []string{"", "initialize", "slow", "server/discover"} {
		if method != "" {
			request(t, conn, int64(id), method, `{}`)
		}
	}
	answered(t, conn, &r, 4, "ping", `{}`) // they have been read
	for id := int64(1); id <= 3; id++ {
		if !conn.Cancel(id) || conn.Cancel(id) {
			t.Errorf("cancel of %d did not win once", id)
		}
	}
	answered(t, conn, &r, 5, "ping", `{}`)
	var cancelled []string
	for _, m := range received(t, journal) {
		if m.Method == "notifications/cancelled" {
			cancelled = append(cancelled, string(m.Params))
		}
	}
	want := []string{`{"requestId":2,"reason":"cancelled by the client"}`, `{"requestId":3,"reason":"cancelled by the client"}`}
	if !slices.Equal(cancelled, want) {
		t.Errorf("the server was told %q", cancelled)
	}
}

// T1: a server that does not read blocks nobody; past the bound Send is busy.
func TestStdioSendNeverBlocks(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"many small ones": 10, "few big ones": 300_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r transporttest.Recorder
			conn := play(t, transport.StdioConfig{Limits: transport.Limits{MaxBytes: 1 << 20}}, &r, "unread")
			r.Noted(t, "up")
			params := json.RawMessage(`{"x":"` + strings.Repeat("x", size) + `"}`)
			begin := time.Now()
			issued, refused := 0, 0
			for id := int64(1); refused < 5 && id < 200_000; id++ {
				err := conn.Send(id, transport.Request{Method: "m", Params: params})
				switch transport.CodeOf(err) {
				case "":
					issued++
				case transport.Busy:
					refused++
				default:
					t.Fatal(err)
				}
			}
			if refused != 5 || issued == 0 {
				t.Errorf("%d were issued and %d refused", issued, refused)
			}
			// Responses and cancellations have their own lane.
			if err := conn.Respond("ping", jsonrpc.Reply(jsonrpc.IntID(1), []byte(`{}`))); err != nil {
				t.Errorf("respond: %v", err)
			}
			if !conn.Cancel(1) {
				t.Error("cancel did not win")
			}
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if got := len(r.Events()); got != 1 {
				t.Errorf("%d events", got)
			}
		})
	}
}

// A request that was not written yet is taken back without a word.
func TestStdioCancelTakesBackWhatWaits(t *testing.T) {
	t.Parallel()
	var r transporttest.Recorder
	conn := play(t, transport.StdioConfig{}, &r, "unread")
	r.Noted(t, "up")
	big := json.RawMessage(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`) // fills the pipe
	if err := conn.Send(1, transport.Request{Method: "m", Params: big}); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		for id := int64(2); id < 202; id++ {
			if err := conn.Send(id+int64(round)*1000, transport.Request{Method: "m", Notification: id%2 == 0}); err != nil {
				t.Fatalf("cancelled requests still take room: %v", err)
			}
		}
		for id := int64(2); id < 202; id++ {
			if !conn.Cancel(id + int64(round)*1000) {
				t.Errorf("cancel of %d did not win", id)
			}
		}
	}
}

// A server that closes its stdin while it lives cannot be talked to: what waits
// fails, and the connection ends.
func TestStdioServerThatStopsReading(t *testing.T) {
	t.Parallel()
	var r transporttest.Recorder
	conn := play(t, transport.StdioConfig{}, &r, "deaf")
	r.Noted(t, "deaf")
	if err := conn.Send(1, transport.Request{Method: "m"}); err != nil {
		t.Fatal(err)
	}
	e := r.Outcome(t, 1)
	if err, ok := e.Err.(*transport.Error); e.Kind != transporttest.Failed || !ok || err.Code != transport.Broken || err.Reason != "write" {
		t.Errorf("ended with %v", e)
	}
	if err := closedError(t, &r); err.Code != transport.Broken || err.Reason != "write" {
		t.Errorf("closed with %v", err)
	}
	if conn.Send(2, transport.Request{Method: "m"}) == nil {
		t.Error("a dead connection accepted a request")
	}
}
