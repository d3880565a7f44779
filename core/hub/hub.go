package hub

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/spec"
)

// ErrNoServer says that no server has that name.
var ErrNoServer = errors.New("there is no server of that name")

// Masker hides known secret values (K4).
type Masker interface {
	Add(values ...string)
	Mask(s string) string
}

// Config is what a hub needs.
type Config struct {
	// SpecPath is the servers.json to follow.
	SpecPath string
	// ErasPath is where verdicts of command servers are kept; "" keeps none.
	ErasPath string
	// Secrets resolves ${secret:NAME}.
	Secrets spec.SecretGetter
	// CheckKeyring tells, without asking anybody, whether the keyring can be
	// used; nil means that it always can.
	CheckKeyring func(ctx context.Context) error
	Mask         Masker
	Log          *slog.Logger
	Version      string
	// Executable is our own binary, for the demo server's spec.
	Executable string
	// Gateway is where AI clients connect; nil serves none.
	Gateway *GatewayConfig
	// LookupEnv resolves ${VAR}; nil means the process environment.
	LookupEnv func(string) (string, bool)
}

// Hub is the running core. It is made by New and lives while Run does.
type Hub struct {
	cfg      Config
	verdicts *era.Verdicts
	breakers *breaker.Table
	watcher  *spec.Watcher
	gate     *gate // nil without a gateway

	mu        sync.Mutex
	servers   map[string]*server
	removed   map[string]*server // the last of each name that may not be gone yet
	order     []string
	state     FileState
	keyring   Keyring
	questions questions
	rev       uint64
	moved     chan struct{} // closed and replaced when rev moves
	snap      *Snapshot     // of rev snapRev
	snapRev   uint64
	wg        sync.WaitGroup
}

// New returns a hub that does nothing until Run.
func New(cfg Config) *Hub {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{
		cfg: cfg, verdicts: era.NewVerdicts(), breakers: breaker.NewTable(0, 0),
		servers: map[string]*server{}, removed: map[string]*server{}, moved: make(chan struct{}), rev: 1,
	}
	if h.cfg.LookupEnv == nil {
		h.cfg.LookupEnv = os.LookupEnv
	}
	h.questions.byID = map[string]*question{}
	if cfg.Gateway != nil {
		h.gate = h.newGate(*cfg.Gateway)
	}
	return h
}

// info is how we name ourselves to servers.
func (h *Hub) info() mcp.Implementation {
	return mcp.Implementation{Name: "drawbridge", Title: "Drawbridge", Version: h.cfg.Version}
}

// Run follows the spec file and keeps the servers running until ctx ends. It
// returns once every process it started is gone.
func (h *Hub) Run(ctx context.Context) error {
	defer h.wg.Wait()
	if h.cfg.ErasPath != "" {
		h.verdicts.OnError = func(err error) { h.cfg.Log.Warn("the eras of command servers are not kept", "error", err) }
		if err := h.verdicts.Persist(h.cfg.ErasPath); err != nil {
			h.verdicts.OnError(err)
		}
	}
	if h.gate != nil {
		h.wg.Go(func() { h.gate.run(ctx) })
	}
	return h.follow(ctx)
}

// changed says that a snapshot taken from now on differs.
func (h *Hub) changed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.touch()
}

// touch is changed for holders of h.mu.
func (h *Hub) touch() {
	h.rev++
	close(h.moved)
	h.moved = make(chan struct{})
}

// find returns a server by name.
func (h *Hub) find(name string) (*server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v, ok := h.servers[name]
	if !ok {
		return nil, ErrNoServer
	}
	return v, nil
}

// repaint is the least time between two snapshots of one watcher.
const repaint = 100 * time.Millisecond

// Watch calls fn with the current snapshot and then with every later state,
// merged to about ten a second, until ctx ends. fn runs on the caller's goroutine.
func (h *Hub) Watch(ctx context.Context, fn func(*Snapshot)) {
	var seen uint64
	for {
		snap, rev, moved := h.current()
		if rev != seen {
			seen = rev
			fn(snap)
			t := time.NewTimer(repaint)
			select {
			case <-t.C:
				continue
			case <-ctx.Done():
				t.Stop()
				return
			}
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return
		}
	}
}

// Snapshot returns the current state.
func (h *Hub) Snapshot() *Snapshot {
	s, _, _ := h.current()
	return s
}

// current returns the snapshot, its revision, and the channel that is closed when
// a newer one can be had, all under one lock so that nothing falls between.
func (h *Hub) current() (*Snapshot, uint64, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.snap == nil || h.snapRev != h.rev {
		s := &Snapshot{Config: h.state, Keyring: h.keyring, Questions: h.questions.views()}
		for _, name := range h.order {
			s.Servers = append(s.Servers, h.servers[name].view())
		}
		if h.gate != nil {
			s.Gateway, s.Asks = h.gate.state, h.gate.asks()
		}
		h.snap, h.snapRev = s, h.rev
	}
	return h.snap, h.rev, h.moved
}
