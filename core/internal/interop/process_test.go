package interop

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// Acceptance 90 to 95 and 102, over one real process of the oldest revision: a banner
// first, then the handshake, tools, a result, an error, an answer longer than a
// scanner's buffer, a silent request, a refused request of the server, and a death
// from which the session comes back.
func TestOneProcessThroughItsLife(t *testing.T) {
	t.Parallel()
	path, args := fakeserver.Command(t, fakeserver.Script{Negotiate: "2024-11-05", Preamble: []byte("Welcome to the server!\n")})
	s := keep(t, client.Config{
		Name: "process", Dialer: transport.NewStdio(transport.StdioConfig{Command: path, Args: args}), Key: era.SpecKey("process"),
		Verdicts: era.NewVerdicts(), Info: mcp.Implementation{Name: "drawbridge-test", Version: "0"},
		Limits: client.Limits{VerdictTTL: -1, Total: 20 * time.Second},
	})
	if st := ready(t, s); st.Version != mcp.V20241105 || st.Verdict.Era != era.Legacy { // 90
		t.Errorf("version %s, era %v", st.Version, st.Verdict.Era)
	}
	for _, tool := range s.Tools() {
		if string(jsonrpc.Get(tool.Raw, "description")) == "" || string(jsonrpc.Get(jsonrpc.Get(tool.Raw, "inputSchema"), "type")) != `"object"` {
			t.Errorf("tool %s", tool.Raw)
		}
	}
	call := func(name, args string) (json.RawMessage, error) {
		return s.CallTool(context.Background(), name, json.RawMessage(args), nil)
	}
	works := func() {
		t.Helper()
		result, err := call("echo", `{"text":"hello"}`)
		if err != nil || string(jsonrpc.Get(result, "content")) != `[{"type":"text","text":"hello"}]` || string(jsonrpc.Get(result, "isError")) == "true" {
			t.Errorf("got %s, %v", result, err)
		}
		if st := s.Status(); st.InFlight != 0 || st.Queued != 0 {
			t.Errorf("%d in flight, %d queued", st.InFlight, st.Queued)
		}
	}
	works()                                                                                     // 91
	if result, err := call("big", `{"bytes":1500000}`); err != nil || len(result) < 1_500_000 { // 92
		t.Errorf("%d bytes, %v", len(result), err)
	}
	_, err := call("refuse", `{"code":-32000,"message":"not today"}`) // 93
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); !ok || rpc.Code != -32000 || rpc.Message != "not today" {
		t.Errorf("got %v", err)
	}
	works()
	result, err := call("request", `{"method":"sampling/createMessage","params":{}}`) // 102
	if err != nil || !strings.Contains(string(result), "-32601") {
		t.Errorf("the server was told %s, %v", result, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond) // 95
	defer cancel()
	if _, err := s.CallTool(ctx, "never", nil, nil); err == nil {
		t.Error("a request without an answer succeeded")
	}
	works()
	_, err = call("die", `{"code":3}`) // 94
	exited := &transport.Error{Code: transport.Exited}
	if te, ok := errors.AsType[*transport.Error](err); !ok || te.Code != transport.Exited || te.ExitCode != 3 {
		t.Errorf("got %v", err)
	}
	// Until it is back, calls fail at once and name the exit.
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err = call("echo", `{"text":"hello"}`); err == nil {
			break
		}
		// Once the next attempt runs, that is what is said.
		again := transport.CodeOf(err) == transport.NotReady && s.Status().State != client.Retrying
		if !errors.Is(err, exited) && !again || time.Now().After(deadline) {
			t.Fatalf("while it is down: %v", err)
		}
	}
	works()
}
