package approval

import (
	"crypto/rand"
	"time"
)

// Scope is how much one decision of a person covers (A2).
type Scope string

// The scopes, from the narrowest.
const (
	// Once covers the call that was shown.
	Once Scope = "once"
	// ThisCall covers calls of the same bytes for [CallFor].
	ThisCall Scope = "this call"
	// UntilQuit covers the tool for this client until the program ends.
	UntilQuit Scope = "until quit"
	// Always covers the tool for this client.
	Always Scope = "always"
	// ReadOnly covers all tools of the server that claim to be read-only, for this
	// client, as long as the person trusts the server's claims.
	ReadOnly Scope = "read-only"
)

// CallFor is how long [ThisCall] holds, and how long a retry may take (A5).
const CallFor = 5 * time.Minute

// Grant is a standing decision of a person, made in the window. It names what it
// was made for and nothing else (A2).
type Grant struct {
	ID     string `json:"id"`
	Effect Effect `json:"effect"` // Allow or Deny
	// Client is whom it covers, "" any.
	Client string `json:"client,omitzero"`
	Server string `json:"server"`
	// Tool and Pin are the tool's; both are "" for what a server claims to be
	// read-only. A denial has no pin: it outlives changes.
	Tool string    `json:"tool,omitzero"`
	Pin  Pin       `json:"pin,omitzero"`
	Made time.Time `json:"made"`
	// Expires is when it ends; zero for never.
	Expires time.Time `json:"expires,omitzero"`
	// Session says that it ends with the program and is written nowhere.
	Session bool `json:"-"`
}

func newGrant(effect Effect, c *Call) Grant {
	return Grant{
		ID: rand.Text()[:12], Effect: effect,
		Client: c.Client, Server: c.Server, Tool: c.Tool, Pin: c.Definition.Pin,
		Made: time.Now().UTC().Truncate(time.Second),
	}
}

// covers reports whether the grant is about the call.
func (g *Grant) covers(c *Call, now time.Time) bool {
	switch {
	case g.Server != c.Server || (g.Client != "" && g.Client != c.Client):
		return false
	case !g.Expires.IsZero() && !now.Before(g.Expires):
		return false
	case g.Tool == "":
		return g.Effect == Allow && c.Trusted && c.claimsReadOnly()
	}
	return g.Tool == c.Tool && (g.Effect == Deny || g.Pin == c.Definition.Pin)
}
