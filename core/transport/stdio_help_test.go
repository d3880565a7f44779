package transport_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

// console collects what a server says outside the protocol.
type console struct {
	mu    sync.Mutex
	lines []string
}

func (c *console) log(source, line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, source+": "+line)
}

func (c *console) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.lines...)
}

// count counts the lines that are exactly want.
func (c *console) count(want string) (n int) {
	for _, l := range c.all() {
		if l == want {
			n++
		}
	}
	return n
}

// eventually polls for what another process does.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(transporttest.Patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, transporttest.Patience)
		}
	}
}

// quickExit keeps the race detector from delaying the end of a child by a second.
const quickExit = "GORACE=atexit_sleep_ms=0"

// openStdio connects with cfg; the connection ends with the test.
func openStdio(t testing.TB, cfg transport.StdioConfig, sink transport.Sink) transport.Conn {
	t.Helper()
	cfg.Env = append(cfg.Env, quickExit)
	if testing.CoverMode() != "" {
		cfg.Env = append(cfg.Env, "GOCOVERDIR="+t.TempDir()) // else a child complains on stderr
	}
	conn, err := transport.NewStdio(cfg).Connect(t.Context(), sink)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// fake connects to a fake server.
func fake(t testing.TB, s fakeserver.Script, cfg transport.StdioConfig, sink transport.Sink) transport.Conn {
	t.Helper()
	cfg.Command, cfg.Args = fakeserver.Command(t, s)
	return openStdio(t, cfg, sink)
}

// play connects to a child in one of its roles.
func play(t testing.TB, cfg transport.StdioConfig, sink transport.Sink, role ...string) transport.Conn {
	t.Helper()
	cfg.Command, cfg.Args = childCommand(t, role...)
	return openStdio(t, cfg, sink)
}

const initialize = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`

// request sends a request.
func request(t testing.TB, c transport.Conn, id int64, method, params string) {
	t.Helper()
	if err := c.Send(id, transport.Request{Method: method, Params: json.RawMessage(params)}); err != nil {
		t.Fatalf("send %s: %v", method, err)
	}
}

// answered sends a request and fails the test unless a result comes.
func answered(t testing.TB, c transport.Conn, r *transporttest.Recorder, id int64, method, params string) transporttest.Event {
	t.Helper()
	request(t, c, id, method, params)
	e := r.Outcome(t, id)
	if e.Kind != transporttest.Message || e.Msg.Result == nil {
		t.Fatalf("%s ended with %.300v", method, e)
	}
	return e
}

// handshake initializes a fake server of the legacy era.
func handshake(t testing.TB, c transport.Conn, r *transporttest.Recorder) {
	t.Helper()
	answered(t, c, r, 1, "initialize", initialize)
	if err := c.Send(2, transport.Request{Method: "notifications/initialized", Notification: true}); err != nil {
		t.Fatal(err)
	}
}

func closedError(t testing.TB, r *transporttest.Recorder) *transport.Error {
	t.Helper()
	e := r.First(t, "closed", func(e transporttest.Event) bool { return e.Kind == transporttest.Closed })
	err, ok := e.Err.(*transport.Error)
	if !ok {
		t.Fatalf("closed with %#v", e.Err)
	}
	return err
}

func pidIn(t testing.TB, file string) int {
	t.Helper()
	var pid int
	eventually(t, "pid file", func() bool {
		b, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
		return err == nil
	})
	return pid
}

func writeFile(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}
