package gateway

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/approval"
	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/server"
)

// Path is where all servers are offered; one alone is at Path/NAME.
const Path = "/mcp"

const (
	// patience is how long a new view waits for servers that are starting (G2).
	patience = 800 * time.Millisecond
	// settle is the least time between two readings of the upstreams' lists.
	settle = 50 * time.Millisecond
	// maxViews bounds the views, of which every client has a few.
	maxViews = 1024
)

// Config is what a gateway needs. Info, Clients, Upstreams and Person are required.
type Config struct {
	Info    mcp.Implementation
	Clients *Clients
	// Upstreams are the configured servers in the person's order. It is called
	// often and must be quick.
	Upstreams func() []Upstream
	// Person answers a server's question; see [client.Handlers.Elicit].
	Person func(ctx context.Context, server string, e client.Elicitation) (mcp.ElicitResult, error)
	// Book and Desk decide about tool calls. Without them every call is allowed.
	Book *approval.Book
	Desk *approval.Desk
	// Done is told how each tool call ended; it must return at once. Nil is told
	// nothing.
	Done func(Record)
	Log  *slog.Logger
}

// Gateway is the servers as AI clients see them. Close it after the front doors.
type Gateway struct {
	cfg  Config
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
	wake chan struct{}
	held held

	mu     sync.Mutex
	views  map[viewKey]*view
	moved  chan struct{} // closed and replaced when something changed
	closed bool
}

type viewKey struct{ client, server string }

// New returns a gateway.
func New(cfg Config) *Gateway {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Done == nil {
		cfg.Done = func(Record) {}
	}
	g := &Gateway{cfg: cfg, wake: make(chan struct{}, 1), views: map[viewKey]*view{}, moved: make(chan struct{})}
	g.ctx, g.stop = context.WithCancel(context.Background())
	g.held.byID = map[string]heldCall{}
	g.wg.Go(g.follow)
	return g
}

// Close ends every call and waits for what the gateway started.
func (g *Gateway) Close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.stop()
	g.wg.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, v := range g.views {
		v.machine.Close()
	}
	clear(g.views)
}

// Changed says that an upstream came, went, or has other lists, or that a client may
// see other servers. Views follow within moments; changes in quick succession are
// followed once.
func (g *Gateway) Changed() {
	g.mu.Lock()
	close(g.moved)
	g.moved = make(chan struct{})
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// follow keeps the views equal to the upstreams.
func (g *Gateway) follow() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-g.wake:
		case <-g.ctx.Done():
			return
		}
		for _, v := range g.all() {
			v.sync()
		}
		pause.Reset(settle)
		select {
		case <-pause.C:
		case <-g.ctx.Done():
			return
		}
	}
}

func (g *Gateway) all() []*view {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]*view, 0, len(g.views))
	for _, v := range g.views {
		list = append(list, v)
	}
	return list
}

// Endpoint is the server that the client finds behind a path; false when there is
// none for it. The first time it waits a moment for servers that are starting.
func (g *Gateway) Endpoint(name, path string) (*server.Server, bool) {
	one, ok := endpoint(path)
	if !ok {
		return nil, false
	}
	access := g.cfg.Clients.Access(name)
	if one != "" && (!g.configured(one) || !access.Server(one)) {
		return nil, false
	}
	g.cfg.Clients.Seen(name)
	key := viewKey{name, one}
	g.mu.Lock()
	v := g.views[key]
	g.mu.Unlock()
	if v != nil {
		return v.machine, true
	}
	g.await(one)
	v, err := g.view(key)
	if err != nil {
		g.cfg.Log.Error("a client cannot be served", "client", name, "error", err)
		return nil, false
	}
	return v.machine, true
}

// endpoint reads a path: the server it names, "" for all.
func endpoint(path string) (one string, ok bool) {
	if path == Path {
		return "", true
	}
	one, ok = strings.CutPrefix(path, Path+"/")
	return one, ok && one != ""
}

func (g *Gateway) configured(name string) bool {
	for _, u := range g.cfg.Upstreams() {
		if u.Name == name {
			return true
		}
	}
	return false
}

// await returns when no server is starting any more, at last after [patience].
func (g *Gateway) await(one string) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		g.mu.Lock()
		moved := g.moved
		g.mu.Unlock()
		starting := false
		for _, u := range g.cfg.Upstreams() {
			starting = starting || ((one == "" || u.Name == one) && u.starts())
		}
		if !starting {
			return
		}
		select {
		case <-moved:
		case <-timer.C:
			return
		case <-g.ctx.Done():
			return
		}
	}
}

// view returns the view, made if need be.
func (g *Gateway) view(key viewKey) (*view, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if v := g.views[key]; v != nil {
		return v, nil
	}
	if g.closed || len(g.views) >= maxViews {
		return nil, errTooManyViews
	}
	v, err := g.newView(key)
	if err != nil {
		return nil, err
	}
	g.views[key] = v
	return v, nil
}

// Forget drops what a client sees, when it is no client any more.
func (g *Gateway) Forget(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for key, v := range g.views {
		if key.client == name {
			delete(g.views, key)
			v.machine.Close()
		}
	}
}
