package interop

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/internal/peerbin"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	fakeserver.Main()
	goleak.VerifyTestMain(m)
}

// patience bounds every wait for a real process.
const patience = 90 * time.Second

// peer is a server and what a session must find.
type peer struct {
	dialer  func(t *testing.T) (transport.Dialer, era.Key)
	era     era.Era
	version mcp.Version
	tools   int
	// call is a tool with arguments whose result holds want.
	call, args, want string
	// bad is a tool with arguments that fails: as isError or as a JSON-RPC error.
	bad, badArgs string
}

func stdio(t *testing.T, path string, args []string, env ...string) (transport.Dialer, era.Key) {
	return transport.NewStdio(transport.StdioConfig{Command: path, Args: args, Env: env}), era.SpecKey(t.Name())
}

func http(t *testing.T, url string) (transport.Dialer, era.Key) {
	return web(t, transport.HTTPConfig{URL: url})
}

func sse(t *testing.T, url string) (transport.Dialer, era.Key) {
	return web(t, transport.HTTPConfig{URL: url, SSE: true})
}

func web(t *testing.T, cfg transport.HTTPConfig) (transport.Dialer, era.Key) {
	d, err := transport.NewHTTP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	key, err := era.URLKey(cfg.URL)
	if err != nil {
		t.Fatal(err)
	}
	return d, key
}

// Issue "Must show": for each peer the era, the negotiated version, the number of
// tools, one call, one error, and the stop.
func TestForeignServers(t *testing.T) {
	const echo, text = "echo", `{"text":"hello drawbridge"}`
	peers := map[string]peer{
		"server-everything over stdio": {
			dialer: func(t *testing.T) (transport.Dialer, era.Key) {
				c := peerbin.Everything(t)
				return stdio(t, c.Path, c.Args)
			},
			era: era.Legacy, version: mcp.V20251125, tools: 13,
			call: echo, args: `{"message":"hello drawbridge"}`, want: "hello drawbridge", bad: "no-such-tool",
		},
		"server-everything over HTTP": {
			dialer: func(t *testing.T) (transport.Dialer, era.Key) { return http(t, peerbin.ServeEverything(t)) },
			era:    era.Legacy, version: mcp.V20251125, tools: 13,
			call: echo, args: `{"message":"hello drawbridge"}`, want: "hello drawbridge", bad: "no-such-tool",
		},
		"server-everything over HTTP+SSE, found out": { // T12
			dialer: func(t *testing.T) (transport.Dialer, era.Key) { return http(t, peerbin.ServeEverythingSSE(t)) },
			era:    era.Legacy, version: mcp.V20251125, tools: 13,
			call: echo, args: `{"message":"hello drawbridge"}`, want: "hello drawbridge", bad: "no-such-tool",
		},
		"server-everything over HTTP+SSE, configured": { // T12
			dialer: func(t *testing.T) (transport.Dialer, era.Key) { return sse(t, peerbin.ServeEverythingSSE(t)) },
			era:    era.Legacy, version: mcp.V20251125, tools: 13,
			call: echo, args: `{"message":"hello drawbridge"}`, want: "hello drawbridge", bad: "no-such-tool",
		},
		"server-filesystem": {
			dialer: func(t *testing.T) (transport.Dialer, era.Key) {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("hello drawbridge"), 0o600); err != nil {
					t.Fatal(err)
				}
				c := peerbin.Filesystem(t, dir)
				return stdio(t, c.Path, c.Args)
			},
			era: era.Legacy, version: mcp.V20251125, tools: 14,
			call: "list_allowed_directories", args: `{}`, want: "Allowed directories", bad: "read_text_file", badArgs: `{"path":"/nowhere/at/all"}`,
		},
		"server-memory": {
			dialer: func(t *testing.T) (transport.Dialer, era.Key) {
				c := peerbin.Memory(t)
				return stdio(t, c.Path, c.Args, "MEMORY_FILE_PATH="+filepath.Join(t.TempDir(), "memory.json"))
			},
			era: era.Legacy, version: mcp.V20251125, tools: 9,
			call: "create_entities", args: `{"entities":[{"name":"drawbridge","entityType":"app","observations":["hello"]}]}`, want: "drawbridge",
			bad: "add_observations", badArgs: `{"observations":[{"entityName":"nobody","contents":["x"]}]}`,
		},
		"Go SDK over stdio (modern)": {
			dialer: func(t *testing.T) (transport.Dialer, era.Key) { return stdio(t, peerbin.Go(t, "gosdk-server"), nil) },
			era:    era.Modern, version: mcp.V20260728, tools: 4, call: echo, args: text, want: "hello drawbridge", bad: "fail", badArgs: text,
		},
		"Go SDK over HTTP, stateless (modern)": {
			dialer: func(t *testing.T) (transport.Dialer, era.Key) { return http(t, peerbin.ServeGo(t, "gosdk-server")) },
			era:    era.Modern, version: mcp.V20260728, tools: 4, call: echo, args: text, want: "hello drawbridge", bad: "fail", badArgs: text,
		},
		"Go SDK over HTTP, stateful (legacy)": {
			dialer: func(t *testing.T) (transport.Dialer, era.Key) {
				return http(t, peerbin.ServeGo(t, "gosdk-server", "-stateful"))
			},
			era: era.Legacy, version: mcp.V20251125, tools: 4, call: echo, args: text, want: "hello drawbridge", bad: "fail", badArgs: text,
		},
		"mcp-go over stdio": {
			dialer: func(t *testing.T) (transport.Dialer, era.Key) { return stdio(t, peerbin.Go(t, "mcpgo-server"), nil) },
			era:    era.Modern, version: mcp.V20260728, tools: 4, call: echo, args: text, want: "hello drawbridge", bad: "fail", badArgs: text,
		},
		"mcp-go over HTTP": {
			dialer: func(t *testing.T) (transport.Dialer, era.Key) { return http(t, peerbin.ServeGo(t, "mcpgo-server")) },
			era:    era.Modern, version: mcp.V20260728, tools: 4, call: echo, args: text, want: "hello drawbridge", bad: "fail", badArgs: text,
		},
	}
	for name, p := range peers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, key := p.dialer(t)
			s := run(t, d, key)
			st := ready(t, s)
			if st.Verdict.Era != p.era || st.Version != p.version {
				t.Errorf("era %v, version %s", st.Verdict.Era, st.Version)
			}
			if n := st.Lists[client.Tools].Count; n != p.tools {
				t.Errorf("%d tools, want %d", n, p.tools)
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			result, err := s.CallTool(ctx, p.call, json.RawMessage(p.args), nil)
			if err != nil || !strings.Contains(string(result), p.want) {
				t.Errorf("call: %s, %v", result, err)
			}
			var args json.RawMessage
			if p.badArgs != "" {
				args = json.RawMessage(p.badArgs)
			}
			result, err = s.CallTool(ctx, p.bad, args, nil)
			var rpc *jsonrpc.Error
			if !errors.As(err, &rpc) && (err != nil || string(jsonrpc.Get(result, "isError")) != "true") {
				t.Errorf("bad call: %s, %v", result, err)
			}
			if st := s.Status(); st.State != client.Ready {
				t.Errorf("after an error the session is %s", st.State)
			}
		})
	}
}

// A person answers an elicitation of foreign servers of both eras.
func TestForeignElicitation(t *testing.T) {
	for name, server := range map[string]func(t *testing.T) (transport.Dialer, era.Key){
		"Go SDK over stdio (modern)": func(t *testing.T) (transport.Dialer, era.Key) { return stdio(t, peerbin.Go(t, "gosdk-server"), nil) },
		"Go SDK over HTTP, stateful (legacy)": func(t *testing.T) (transport.Dialer, era.Key) {
			return http(t, peerbin.ServeGo(t, "gosdk-server", "-stateful"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, key := server(t)
			var asked atomic.Value
			s := run(t, d, key, func(_ context.Context, e client.Elicitation) (mcp.ElicitResult, error) {
				asked.Store(e)
				return mcp.ElicitResult{Action: mcp.Accept, Content: json.RawMessage(`{"name":"Ada Lovelace"}`)}, nil
			})
			ready(t, s)
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			result, err := s.CallTool(ctx, "ask", json.RawMessage(`{}`), nil)
			if err != nil || !strings.Contains(string(result), "Ada Lovelace") {
				t.Fatalf("%s, %v", result, err)
			}
			if e, _ := asked.Load().(client.Elicitation); e.Call != "ask" || e.Message == "" || len(e.RequestedSchema) == 0 {
				t.Errorf("asked %+v", e)
			}
		})
	}
}

// Issue "Must show": servers that answer the probe badly are reached all the same.
func TestBadProbeAnswers(t *testing.T) {
	const probe = "server/discover"
	processes := map[string]fakeserver.Script{
		"exits on the probe":              {InitializeFirst: &fakeserver.Exit{Code: 1}},
		"exits 500 ms after the probe":    {InitializeFirst: &fakeserver.Exit{Code: 1, After: 500 * time.Millisecond}},
		"silent on the probe":             {Replies: map[string]fakeserver.Reply{probe: {Silent: true}}},
		"banner, garbage and blank lines": {Preamble: []byte("\n\x1b[36mINFO\x1b[0m up\n[2026-01-01] hello\n{bad json\n123\n"), EOL: "\r\n"},
	}
	for name, script := range processes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, args := fakeserver.Command(t, script)
			d, key := stdio(t, path, args)
			legacyWorks(t, run(t, d, key))
		})
	}
	for name, a := range map[string]fakeserver.Answer{
		"400 and -32000":  fakeserver.ServerNotInitialized(),
		"404":             fakeserver.Status(404),
		"400 empty":       fakeserver.Status(400),
		"405":             fakeserver.Status(405),
		"a web page, 200": fakeserver.Page(200),
		"a web page, 404": fakeserver.Page(404),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := fakeserver.StartHTTP(t, fakeserver.HTTP{Answers: map[string]fakeserver.Answer{probe: a}})
			d, key := http(t, srv.URL)
			legacyWorks(t, run(t, d, key))
		})
	}
}

// legacyWorks checks that a session found a legacy server and can call it.
func legacyWorks(t *testing.T, s *client.Session) {
	t.Helper()
	if st := ready(t, s); st.Verdict.Era != era.Legacy {
		t.Errorf("era %v", st.Verdict.Era)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	result, err := s.CallTool(ctx, "echo", json.RawMessage(`{"text":"hello"}`), nil)
	if err != nil || !strings.Contains(string(result), "hello") {
		t.Errorf("%s, %v", result, err)
	}
}

// run keeps a session until the test ends; the stop is bounded (T9).
func run(t *testing.T, d transport.Dialer, key era.Key, elicit ...func(context.Context, client.Elicitation) (mcp.ElicitResult, error)) *client.Session {
	t.Helper()
	cfg := client.Config{
		Name: t.Name(), Dialer: d, Key: key, Verdicts: era.NewVerdicts(),
		Info: mcp.Implementation{Name: "drawbridge-test", Version: "0"}, Limits: client.Limits{VerdictTTL: -1},
	}
	if len(elicit) > 0 {
		cfg.Elicit = elicit[0]
	}
	return keep(t, cfg)
}

// keep runs a session of a test's own.
func keep(t *testing.T, cfg client.Config) *client.Session {
	t.Helper()
	s := client.New(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Error("the session did not stop")
		}
	})
	return s
}

// ready waits until the session is ready and its tools are listed.
func ready(t *testing.T, s *client.Session) client.Status {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		st := s.Status()
		switch {
		case st.State == client.Ready && st.Lists[client.Tools].Count >= 0:
			return st
		case time.Now().After(deadline), st.State == client.Failed:
			t.Fatalf("the session is %s: %v", st.State, st.Err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
