package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/server"
)

const (
	// pageSize makes the tool list come in pages. The tools for people and the
	// two fixtures that the suite looks for on a first page fit in one.
	pageSize = 20
	// clockTick is how often watchers of the clock are told that it moved.
	clockTick = 5 * time.Second
)

// Demo is one running demo server.
type Demo struct {
	registry *server.Registry
	server   *server.Server
	stop     context.CancelFunc
	work     sync.WaitGroup

	mu      sync.Mutex
	counter int
}

// New starts a demo server. Close it after its front door is.
func New() *Demo {
	d := &Demo{registry: server.NewRegistry()}
	d.registry.Declare(server.Logging)
	for _, t := range append(d.tools(), d.fixtures()...) {
		d.add(t)
	}
	d.addResources()
	d.addPrompts()
	var err error
	d.server, err = server.New(server.Options{
		Info:         mcp.Implementation{Name: "drawbridge-demo", Title: "Drawbridge demo", Version: "1.0.0"},
		Instructions: "A server to try things with. Every tool shows one thing that MCP servers can do; nothing it does lasts.",
		Registry:     d.registry,
		// The handlers mostly wait; many clients may try things at once.
		Limits:  server.Limits{PageSize: pageSize, Workers: 256},
		ListTTL: time.Minute,
	})
	must("server", err)
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	d.work.Go(func() { d.tick(ctx) })
	return d
}

// Server is the machine to put a front door before.
func (d *Demo) Server() *server.Server { return d.server }

// Close stops the clock and the server.
func (d *Demo) Close() {
	d.stop()
	d.work.Wait()
	d.server.Close()
}

func (d *Demo) tick(ctx context.Context) {
	t := time.NewTicker(clockTick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			d.registry.ResourceUpdated(clockURI)
		}
	}
}

// count changes the counter, tells its watchers, and returns it.
func (d *Demo) count(by int) int {
	d.mu.Lock()
	d.counter += by
	n := d.counter
	d.mu.Unlock()
	if by != 0 {
		d.registry.ResourceUpdated(counterURI)
	}
	return n
}

// tool is one tool as it is written down here.
type tool struct {
	name, title, description string
	input, output, hints     string // JSON; input "" takes no arguments
	run                      server.Handler
}

// add registers a tool with its arguments checked against its schema. A definition
// that does not hold is a mistake in this package.
func (d *Demo) add(t tool) {
	if t.input == "" {
		t.input = `{"type":"object","properties":{},"additionalProperties":false}`
	}
	def, err := json.Marshal(struct {
		Name        string          `json:"name"`
		Title       string          `json:"title,omitempty"`
		Description string          `json:"description"`
		Input       json.RawMessage `json:"inputSchema"`
		Output      json.RawMessage `json:"outputSchema,omitempty"`
		Annotations json.RawMessage `json:"annotations,omitempty"`
	}{t.name, t.title, t.description, json.RawMessage(t.input), json.RawMessage(t.output), json.RawMessage(t.hints)})
	if err == nil {
		err = d.registry.AddTool(server.Tool{Definition: def, Handle: checked(t.input, t.run)})
	}
	must(t.name, err)
}

func must(what string, err error) {
	if err != nil {
		panic(fmt.Sprintf("demo: %s: %v", what, err))
	}
}

// fixed returns a handler with a fixed result.
func fixed(content ...server.Content) server.Handler {
	return func(context.Context, *server.Call) (any, error) {
		return server.ToolResult{Content: content}, nil
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
