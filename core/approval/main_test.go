package approval

import (
	"encoding/json"
	"testing"

	"go.uber.org/goleak"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tool makes a definition of a server with the given spec fingerprint.
func tool(t testing.TB, raw, fingerprint string) Definition {
	t.Helper()
	def, err := mcp.ParseTool(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return Define(def, fingerprint)
}

const search = `{"name":"search","description":"Finds things.","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}`

// a call of search on the server "files" by the client "claude".
func call(t testing.TB, change ...func(*Call)) *Call {
	t.Helper()
	c := &Call{
		Client: "claude", Server: "files", Tool: "search",
		Definition: tool(t, search, "spec"), Arguments: json.RawMessage(`{"q":"x"}`),
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func definedAs(d Definition) func(*Call) { return func(c *Call) { c.Definition = d } }
func by(client string) func(*Call)       { return func(c *Call) { c.Client = client } }
func named(name string) func(*Call)      { return func(c *Call) { c.Tool = name } }
func of(server string) func(*Call)       { return func(c *Call) { c.Server = server } }
func with(arguments string) func(*Call) {
	return func(c *Call) { c.Arguments = json.RawMessage(arguments) }
}
func trusted(c *Call)  { c.Trusted = true }
func priced(c *Call)   { c.Priced = true }
func inBudget(c *Call) { c.Priced, c.InBudget = true, true }

func policy(t testing.TB, b *Book, text string, confirm bool) {
	t.Helper()
	if err := b.SetPolicy([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if confirm && !b.Confirm(text) {
		t.Fatal("not confirmed")
	}
}

func expect(t testing.TB, b *Book, c *Call, effect Effect, reason Reason) {
	t.Helper()
	if v := b.Decide(c); v.Effect != effect || v.Reason != reason {
		t.Errorf("%s/%s: %s (%s), want %s (%s)", c.Server, c.Tool, v.Effect, v.Reason, effect, reason)
	}
}
