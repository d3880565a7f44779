package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Options says what a server is.
type Options struct {
	Info         mcp.Implementation
	Instructions string
	Registry     *Registry
	Limits       Limits
	// Authorizer decides about tool calls, ReadAuthorizer about everything else
	// that gives something away (S4). Nil allows.
	Authorizer     Authorizer
	ReadAuthorizer ReadAuthorizer
	// Asker is who approves what the authorizer wants asked; default [InClient].
	Asker Asker
	// Watch is told when the first client begins to watch a resource and, by stop,
	// when the last one ends: for resources whose changes come from elsewhere. It must
	// return at once and not announce a change itself. Nil watches nothing.
	Watch func(uri string) (stop func())
	// ListTTL is how long clients may keep lists, ReadTTL how long resources;
	// default 0, always ask (server/utilities/caching).
	ListTTL, ReadTTL time.Duration
	// Logger takes what went wrong in handlers; default discards.
	Logger *slog.Logger
}

// Server is the machine behind the front doors.
type Server struct {
	registry     *Registry
	limits       Limits
	log          *slog.Logger
	info         json.RawMessage
	instructions string
	listTTL      string
	readTTL      string
	workers      *workers
	listens      *workers
	lot          lot
	capable      capabilities

	authorizer     Authorizer
	readAuthorizer ReadAuthorizer
	asker          Asker

	states       *sealer
	watched      watched
	stopWatching func()

	mu        sync.Mutex
	listeners map[*listener]struct{}
}

// New returns a server of the registry's content. Close it after its front doors
// are. The error is [ErrUnguarded], naming the tools, or [ErrLimits].
func New(o Options) (*Server, error) {
	l, err := o.Limits.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Asker == nil {
		o.Asker = InClient
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	info, _ := json.Marshal(o.Info) // three strings always marshal
	s := &Server{
		registry:     o.Registry,
		limits:       l,
		log:          o.Logger,
		info:         info,
		instructions: o.Instructions,
		listTTL:      strconv.FormatInt(o.ListTTL.Milliseconds(), 10),
		readTTL:      strconv.FormatInt(o.ReadTTL.Milliseconds(), 10),
		workers:      newWorkers(l.Workers, l.WorkersPerOwner),
		listens:      newWorkers(l.Listens, l.ListensPerOwner),
		lot:          lot{total: l.Parked, perOwner: l.ParkedPerOwner},
		capable:      capabilities{max: l.Capabilities},
		states:       newSealer(l.StateTTL),

		authorizer: o.Authorizer, readAuthorizer: o.ReadAuthorizer, asker: o.Asker,
		listeners: map[*listener]struct{}{},
		watched:   watched{watch: o.Watch, byURI: map[string]*watchedURI{}},
	}
	s.stopWatching = o.Registry.watch(&watcher{listChanged: s.listChanged, updated: s.updated})
	if names := o.Registry.sensitiveTools(); o.Authorizer == nil && len(names) > 0 {
		s.Close()
		return nil, fmt.Errorf("%w: %s", ErrUnguarded, strings.Join(names, ", "))
	}
	return s, nil
}

// Close stops watching the registry. Connections are their front doors' to close.
func (s *Server) Close() { s.stopWatching() }

func (s *Server) ttl(method string) string {
	if method == mcp.MethodResourcesRead {
		return s.readTTL
	}
	return s.listTTL
}

// capabilities is the declared ServerCapabilities object.
func (s *Server) capabilities() json.RawMessage {
	c := map[string]any{}
	changes := map[string]bool{"listChanged": true}
	if s.registry.Declares(Tools) {
		c["tools"] = changes
	}
	if s.registry.Declares(Resources) {
		c["resources"] = map[string]bool{"listChanged": true, "subscribe": true}
	}
	if s.registry.Declares(Prompts) {
		c["prompts"] = changes
	}
	if s.registry.Declares(Completions) {
		c["completions"] = struct{}{}
	}
	if s.registry.Declares(Logging) {
		c["logging"] = struct{}{}
	}
	b, _ := json.Marshal(c) // booleans always marshal
	return b
}

func (s *Server) discover() json.RawMessage {
	b, _ := json.Marshal(struct {
		SupportedVersions []mcp.Version   `json:"supportedVersions"`
		Capabilities      json.RawMessage `json:"capabilities"`
		Instructions      string          `json:"instructions,omitempty"`
	}{mcp.Versions(), s.capabilities(), s.instructions})
	return b
}

// logPanic keeps a panic's text on this side.
func (s *Server) logPanic(ctx context.Context, method, name string, v any) {
	s.log.ErrorContext(ctx, "handler panicked", "method", method, "name", name, "panic", v)
}
