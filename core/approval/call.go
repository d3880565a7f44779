package approval

import (
	"crypto/sha256"
	"encoding/json"
)

// Call is one tool call to decide on. Every field is what the gateway derived; a
// client's word about itself is in none of them.
type Call struct {
	// Client is the configured client that calls, never its clientInfo (G5).
	Client string
	// Server and Tool name the tool as its server does.
	Server, Tool string
	Definition   Definition
	// Arguments are the bytes that will be sent if the call is allowed (A4).
	Arguments json.RawMessage
	// Trusted says that the person trusts this server's annotations.
	Trusted bool
	// Priced says that the call costs something, InBudget that a budget which the
	// person set still covers it (A6).
	Priced, InBudget bool
}

// claimsReadOnly reports whether the tool says that it changes nothing, and nothing
// to the contrary.
func (c *Call) claimsReadOnly() bool {
	return is(c.Definition.Hints.ReadOnlyHint) && !c.claimsHarm()
}

// claimsHarm reports whether the tool says that it destroys something or is
// sensitive (S5). Claims only ever add caution (A1).
func (c *Call) claimsHarm() bool {
	return is(c.Definition.Hints.DestructiveHint) || is(c.Definition.Hints.Sensitive)
}

// unpaid reports whether the call costs something that nobody has agreed to yet.
func (c *Call) unpaid() bool { return c.Priced && !c.InBudget }

func is(b *bool) bool { return b != nil && *b }

// exact names this very call: who, what, which definition, which bytes.
type exact struct {
	client, server, tool string
	pin                  Pin
	arguments            [sha256.Size]byte
}

func (c *Call) exact() exact {
	return exact{c.Client, c.Server, c.Tool, c.Definition.Pin, sha256.Sum256(c.Arguments)}
}
