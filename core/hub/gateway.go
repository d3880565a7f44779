package hub

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/approval"
	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/gateway"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	mcpserver "github.com/drawbridge-mcp/drawbridge/core/server"
)

// GatewayConfig says where AI clients connect.
type GatewayConfig struct {
	// Addr is a loopback host:port; port 0 picks one.
	Addr string
	// ClientsPath and GrantsPath are where clients and grants are kept; "" keeps them
	// in memory.
	ClientsPath, GrantsPath string
}

// GatewayState is the gateway as a person sees it.
type GatewayState struct {
	// URL is where clients connect, "" while nobody can.
	URL string
	// Problem says in one sentence what is wrong, "" when nothing is.
	Problem string
}

// ErrNoGateway says that the hub runs without a gateway.
var ErrNoGateway = errors.New("the gateway is off")

const (
	// doorGrace is how long calls may take to end when the program stops.
	doorGrace = 2 * time.Second
	// doorRetry is the time between two attempts to open the gateway's port.
	doorRetry = 5 * time.Second
)

// gate is the gateway with what it needs of the hub.
type gate struct {
	hub     *Hub
	addr    string
	clients *gateway.Clients
	book    *approval.Book
	desk    *approval.Desk
	gateway *gateway.Gateway
	lost    string       // what of the kept decisions could not be read, as a sentence
	state   GatewayState // guarded by Hub.mu
}

func (h *Hub) newGate(cfg GatewayConfig) *gate {
	g := &gate{hub: h, addr: cfg.Addr}
	var errs [2]error
	g.clients, errs[0] = gateway.OpenClients(cfg.ClientsPath)
	g.book = approval.NewBook()
	if cfg.GrantsPath != "" {
		g.book, errs[1] = approval.Open(cfg.GrantsPath)
	}
	if err := errors.Join(errs[:]...); err != nil {
		h.cfg.Log.Error("what was decided earlier is lost", "error", err)
		g.lost = sentence(err)
		g.state.Problem = g.lost
	}
	g.book.OnError(func(err error) { h.cfg.Log.Error("decisions are not kept", "error", err) })
	g.desk = approval.NewDesk(g.book, h.changed)
	g.gateway = gateway.New(gateway.Config{
		Info: h.info(), Clients: g.clients, Upstreams: h.upstreams, Person: h.askAbout,
		Book: g.book, Desk: g.desk, Log: h.cfg.Log,
	})
	g.clients.OnReset(func(name string) {
		g.book.Forget(name)
		g.desk.Drop(func(c *approval.Call) bool { return c.Client == name }, approval.Left)
		g.gateway.Forget(name)
	})
	g.clients.OnChange(func() {
		g.gateway.Changed()
		h.changed()
	})
	return g
}

// run serves clients until ctx ends, and returns once everything it started is gone.
func (g *gate) run(ctx context.Context) {
	g.hub.wg.Go(func() {
		g.hub.Watch(ctx, func(*Snapshot) { g.gateway.Changed() })
	})
	for ctx.Err() == nil {
		err := g.serve(ctx)
		if ctx.Err() != nil {
			break
		}
		g.hub.cfg.Log.Warn("AI clients cannot connect", "addr", g.addr, "error", err)
		g.set(GatewayState{Problem: fmt.Sprintf("AI clients cannot connect: %s cannot be opened; another program may use it.", g.addr)})
		select {
		case <-time.After(doorRetry):
		case <-ctx.Done():
		}
	}
	g.desk.Close()
	g.gateway.Close()
}

func (g *gate) serve(ctx context.Context) error {
	door, err := mcpserver.NewHTTP(mcpserver.HTTPOptions{Endpoint: g.gateway.Endpoint, Authorization: g.clients, Logger: g.hub.cfg.Log})
	if err != nil {
		return err
	}
	lns, err := mcpserver.Listen(g.addr)
	if err != nil {
		return err
	}
	g.set(GatewayState{URL: "http://" + lns[0].Addr().(*net.TCPAddr).String() + gateway.Path, Problem: g.lost})
	return door.Serve(ctx, doorGrace, lns...)
}

func (g *gate) set(s GatewayState) {
	g.hub.mu.Lock()
	defer g.hub.mu.Unlock()
	g.state = s
	g.hub.touch()
}

// upstreams are the configured servers for the gateway.
func (h *Hub) upstreams() []gateway.Upstream {
	h.mu.Lock()
	servers := make([]*server, 0, len(h.order))
	for _, name := range h.order {
		servers = append(servers, h.servers[name])
	}
	h.mu.Unlock()
	list := make([]gateway.Upstream, 0, len(servers))
	for _, v := range servers {
		v.mu.Lock()
		u := gateway.Upstream{Name: v.name, Fingerprint: v.print}
		if v.session != nil {
			u.Session = v.session
		}
		u.Starting = v.session == nil && v.fixed != nil && v.fixed.state == Starting
		v.mu.Unlock()
		list = append(list, u)
	}
	return list
}

// askAbout puts a server's question during a client's call to the person.
func (h *Hub) askAbout(ctx context.Context, name string, e client.Elicitation) (mcp.ElicitResult, error) {
	v, err := h.find(name)
	if err != nil {
		return mcp.ElicitResult{}, err
	}
	v.mu.Lock()
	sp := v.entry.Spec
	v.mu.Unlock()
	if sp == nil {
		return mcp.ElicitResult{}, ErrNoServer
	}
	return h.ask(ctx, v, originOf(sp), e)
}

// Stdio returns what serves one client over a pair of streams until they end. The
// client's name is a label of a program of the same person; one is "" for all servers.
// The error is [ErrNoGateway] or [ErrNoServer].
func (h *Hub) Stdio(name, one string) (func(ctx context.Context, r io.Reader, w io.Writer) error, error) {
	if h.gate == nil {
		return nil, ErrNoGateway
	}
	path := gateway.Path
	if one != "" {
		path += "/" + one
	}
	s, ok := h.gate.gateway.Endpoint(name, path)
	if !ok {
		return nil, ErrNoServer
	}
	peer := mcpserver.Peer{ID: "stdio-" + rand.Text(), Owner: "stdio-" + name, Client: name, Transport: mcpserver.StdioTransport}
	return func(ctx context.Context, r io.Reader, w io.Writer) error {
		return mcpserver.ServeLines(ctx, s, peer, r, w)
	}, nil
}

// Clients are the AI clients that may connect over HTTP.
func (h *Hub) Clients() (*gateway.Clients, error) {
	if h.gate == nil {
		return nil, ErrNoGateway
	}
	return h.gate.clients, nil
}
