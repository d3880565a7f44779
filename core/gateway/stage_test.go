package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/demo"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/server"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// stage is the demo server behind a gateway behind a client, over real sockets, with
// both sides held to an era.
type stage struct {
	gateway  *Gateway
	clients  *Clients
	upstream *client.Session
	url      string
	token    string
	// asked counts what the person here was asked.
	mu    sync.Mutex
	asked int
}

// full declares everything that a server may ask for.
const full = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`

func newStage(t *testing.T, upstreamEra era.Era, a Access, more ...func(*Config)) *stage {
	t.Helper()
	st := &stage{}
	d := demo.New()
	t.Cleanup(d.Close)
	direct := serveHTTP(t, server.NoAuthorization, func(_, path string) (*server.Server, bool) { return d.Server(), path == Path }, upstreamEra)
	var err error
	if st.clients, err = OpenClients(""); err != nil {
		t.Fatal(err)
	}
	if st.token, err = st.clients.Add("editor", a); err != nil {
		t.Fatal(err)
	}
	st.upstream = dial(t, direct+Path, "", func() { st.changed() })
	cfg := Config{
		Info: mcp.Implementation{Name: "drawbridge", Version: "test"}, Clients: st.clients,
		Upstreams: func() []Upstream { return []Upstream{{Name: "demo", Session: st.upstream, Fingerprint: "f"}} },
		Person: func(context.Context, string, client.Elicitation) (mcp.ElicitResult, error) {
			st.mu.Lock()
			defer st.mu.Unlock()
			st.asked++
			return mcp.ElicitResult{Action: mcp.Accept, Content: json.RawMessage(`{"username":"the person","email":"p@example.com","name":"the person"}`)}, nil
		},
	}
	for _, f := range more {
		f(&cfg)
	}
	g := New(cfg)
	t.Cleanup(g.Close)
	st.mu.Lock()
	st.gateway = g
	st.mu.Unlock()
	st.url = serveHTTP(t, st.clients, g.Endpoint, era.Modern)
	return st
}

func (st *stage) changed() {
	st.mu.Lock()
	g := st.gateway
	st.mu.Unlock()
	if g != nil {
		g.Changed()
	}
}

// client connects to an endpoint of the gateway in the era.
func (st *stage) client(t *testing.T, e era.Era, path string) *client.Session {
	t.Helper()
	url := st.url
	if e == era.Legacy {
		url = serveHTTP(t, st.clients, st.gateway.Endpoint, e)
	}
	return dial(t, url+path, st.token, nil)
}

// serveHTTP opens a front door; one of the legacy era does not know server/discover.
func serveHTTP(t *testing.T, auth server.Authorization, endpoint func(client, path string) (*server.Server, bool), e era.Era) string {
	t.Helper()
	door, err := server.NewHTTP(server.HTTPOptions{Endpoint: endpoint, Authorization: auth})
	if err != nil {
		t.Fatal(err)
	}
	var h http.Handler = door
	if e == era.Legacy {
		h = legacyOnly(door)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		door.Stop()
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}

func legacyOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if m, err := jsonrpc.Decode(body); err == nil && m.Method == mcp.MethodDiscover {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(jsonrpc.Refuse(m.ID, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "Method not found")).Append(nil))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// dial runs a session that is ready, and has its lists, when dial returns.
func dial(t *testing.T, url, token string, changed func()) *client.Session {
	t.Helper()
	cfg := transport.HTTPConfig{URL: url}
	if token != "" {
		cfg.Headers = []transport.Header{{Name: "Authorization", Value: "Bearer " + token}}
	}
	d, err := transport.NewHTTP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	key, err := era.URLKey(url)
	if err != nil {
		t.Fatal(err)
	}
	moved := make(chan struct{}, 1)
	s := client.New(client.Config{
		Name: "test", Dialer: d, Key: key, Verdicts: era.NewVerdicts(),
		Info: mcp.Implementation{Name: "test", Version: "1"}, Limits: client.Limits{Concurrency: client.Pooled},
		Handlers: client.Handlers{Capabilities: json.RawMessage(full), Changed: func() {
			if changed != nil {
				changed()
			}
			select {
			case moved <- struct{}{}:
			default:
			}
		}},
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	limit := time.After(30 * time.Second)
	for {
		st := s.Status()
		complete := st.State == client.Ready
		for _, l := range st.Lists {
			complete = complete && l.Count >= 0
		}
		if complete {
			return s
		}
		select {
		case <-moved:
		case <-limit:
			t.Fatalf("not ready: %s: %v", st.State, st.Err)
		}
	}
}
