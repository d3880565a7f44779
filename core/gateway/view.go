package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/server"
)

var errTooManyViews = errors.New("too many clients")

// The view's limits. A call holds a worker while its server works, so there are many;
// how long it may take is for the server's session to say (T8).
var viewLimits = server.Limits{
	Workers: 1024, WorkersPerOwner: 1024,
	CallTimeout: 24 * time.Hour,
	PageSize:    1 << 20, // some clients read the first page only
}

// view is what one client sees at one endpoint.
type view struct {
	gateway  *Gateway
	client   string
	one      string // the server of /mcp/{server}, "" for all
	registry *server.Registry
	machine  *server.Server

	syncing sync.Mutex
	seen    string // what the upstreams were when they were last read

	mu      sync.Mutex
	offered [kinds]map[string]offer
}

// kind is a kind of thing that is offered.
type kind int

const (
	tools kind = iota
	resources
	templates
	prompts
	kinds
)

var listOf = [kinds]client.ListKind{client.Tools, client.Resources, client.ResourceTemplates, client.Prompts}

// offer is one entry of an upstream as the view offers it.
type offer struct {
	server, name string // as the server has it
	raw          json.RawMessage
	tool         mcp.Tool // of tools
}

func (g *Gateway) newView(key viewKey) (*view, error) {
	v := &view{gateway: g, client: key.client, one: key.server, registry: server.NewRegistry()}
	for k := range v.offered {
		v.offered[k] = map[string]offer{}
	}
	v.registry.Declare(server.Tools, server.Resources, server.Prompts, server.Completions, server.Logging)
	v.registry.ServeUnlisted(v.readUnlisted)
	v.sync()
	o := server.Options{
		Info: g.cfg.Info, Instructions: v.instructions(), Registry: v.registry, Limits: viewLimits,
		Watch: v.watch, Logger: g.cfg.Log, Authorizer: v.authorize,
	}
	var err error
	v.machine, err = server.New(o)
	return v, err
}

// instructions are a single server's own, or how to read the names of all.
func (v *view) instructions() string {
	if v.one == "" {
		return "Drawbridge puts several MCP servers behind this one. Tools and prompts are named server__name after the server they belong to."
	}
	if u, ok := v.gateway.find(v.one); ok {
		return u.Session.Status().Instructions
	}
	return ""
}

// upstreams are those that the client sees here, in order.
func (v *view) upstreams() []Upstream {
	access := v.gateway.cfg.Clients.Access(v.client)
	var list []Upstream
	for _, u := range v.gateway.cfg.Upstreams() {
		if (v.one == "" || u.Name == v.one) && access.Server(u.Name) {
			list = append(list, u)
		}
	}
	return list
}

// sync makes what is offered equal to the upstreams' lists. What a server listed
// before it was lost stays until it is back or gone for good.
func (v *view) sync() {
	v.syncing.Lock()
	defer v.syncing.Unlock()
	access := v.gateway.cfg.Clients.Access(v.client)
	ups := v.upstreams()
	now := state(ups, access)
	if now == v.seen {
		return
	}
	v.seen = now
	var order [kinds][]string
	var want [kinds]map[string]offer
	for k := range want {
		want[k] = map[string]offer{}
	}
	put := func(k kind, exposed string, o offer) {
		if _, taken := want[k][exposed]; taken || exposed == "" {
			return // the first server that has a URI serves it
		}
		want[k][exposed] = o
		order[k] = append(order[k], exposed)
	}
	for _, u := range ups {
		if u.Session == nil {
			continue
		}
		for _, t := range u.Session.Tools() {
			if t.Invalid == "" && access.Tool(u.Name, t.Name) {
				put(tools, v.expose(u.Name, t.Name), offer{server: u.Name, name: t.Name, raw: t.Raw, tool: t.Tool})
			}
		}
		for _, k := range []kind{resources, templates, prompts} {
			for _, raw := range u.Session.Items(listOf[k]) {
				name := text(raw, nameMember[k])
				exposed := name
				if k == prompts && name != "" {
					exposed = v.expose(u.Name, name)
				}
				put(k, exposed, offer{server: u.Name, name: name, raw: raw})
			}
		}
	}
	for k := range kinds {
		v.offer(k, order[k], want[k])
	}
}

// state tells whether lists have to be read again, cheaply.
func state(ups []Upstream, a Access) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v", a)
	for _, u := range ups {
		fmt.Fprintf(&b, "\x00%s\x00%p", u.Name, u.Session)
		if u.Session != nil {
			fmt.Fprintf(&b, "\x00%d", u.Session.ListsRev())
		}
	}
	return b.String()
}

// nameMember is the member by which an entry is asked for.
var nameMember = [kinds]string{"name", "uri", "uriTemplate", "name"}

func (v *view) expose(server, name string) string {
	if v.one != "" {
		return name
	}
	return ExposedName(server, name)
}

// offer replaces what is offered of one kind.
func (v *view) offer(k kind, order []string, want map[string]offer) {
	v.mu.Lock()
	have := v.offered[k]
	v.offered[k] = want
	v.mu.Unlock()
	for name := range have {
		if _, still := want[name]; !still {
			v.remove(k, name)
		}
	}
	for _, name := range order {
		o := want[name]
		if old, ok := have[name]; ok && old.server == o.server && bytes.Equal(old.raw, o.raw) {
			continue
		}
		if err := v.add(k, name, o); err != nil {
			v.gateway.cfg.Log.Warn("an entry cannot be offered", "server", o.server, "error", err)
		}
	}
}

func (v *view) remove(k kind, name string) {
	switch k {
	case tools:
		v.registry.RemoveTool(name)
	case resources:
		v.registry.RemoveResource(name)
	case templates:
		v.registry.RemoveTemplate(name)
	case prompts:
		v.registry.RemovePrompt(name)
	}
}

func (v *view) add(k kind, exposed string, o offer) error {
	def := o.raw
	if exposed != o.name {
		quoted, _ := json.Marshal(exposed)
		var err error
		if def, err = jsonrpc.With(def, "name", quoted); err != nil {
			return err
		}
	}
	relay := func(member string) server.Handler { return v.relay(o.server, o.name, member) }
	switch k {
	case tools:
		return v.registry.AddTool(server.Tool{Definition: def, Handle: relay("name")})
	case resources:
		return v.registry.AddResource(server.Resource{Definition: def, Handle: relay("uri")})
	case templates:
		return v.registry.AddTemplate(server.Template{
			Definition: def, Match: templateOf(o.name), Handle: relay(""), Complete: relay("ref"),
		})
	default:
		return v.registry.AddPrompt(server.Prompt{Definition: def, Handle: relay("name"), Complete: relay("ref")})
	}
}

// find returns what is offered under a name.
func (v *view) find(k kind, exposed string) (offer, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o, ok := v.offered[k][exposed]
	return o, ok
}

func text(obj json.RawMessage, name string) (s string) {
	_ = json.Unmarshal(jsonrpc.Get(obj, name), &s)
	return s
}
