package gateway

import (
	"context"
	"encoding/json"

	"github.com/drawbridge-mcp/drawbridge/core/client"
)

// Session is a server's session as far as the gateway uses it; [*client.Session] is
// one.
type Session interface {
	Do(ctx context.Context, c client.Call) (json.RawMessage, error)
	Status() client.Status
	Tools() []client.ToolEntry
	Items(k client.ListKind) []json.RawMessage
	ListsRev() uint64
	Follow(uri string, changed func(error)) (stop func())
}

var _ Session = (*client.Session)(nil)

// Upstream is one configured server at one moment.
type Upstream struct {
	Name string
	// Session is nil while none runs.
	Session Session
	// Starting says that the server may soon have lists that it has not now.
	Starting bool
	// Fingerprint is its specification's (P6).
	Fingerprint string
	// Trusted says that the person trusts what its tools claim about themselves.
	Trusted bool
}

// starts reports whether the server may soon list more than it does now.
func (u Upstream) starts() bool {
	if u.Session == nil {
		return u.Starting
	}
	st := u.Session.Status()
	switch st.State {
	case client.Starting, client.Initializing:
		return true
	case client.Ready:
		return st.Lists[client.Tools].Count < 0
	}
	return false
}

// find returns the upstream of that name; false when there is none that runs.
func (g *Gateway) find(name string) (Upstream, bool) {
	for _, u := range g.cfg.Upstreams() {
		if u.Name == name {
			return u, u.Session != nil
		}
	}
	return Upstream{}, false
}
