package approval

import "github.com/aymanbagabas/go-udiff"

// Change is a definition that is no longer the one a person knew (A3).
type Change struct {
	Before, After string
}

// ServerOnly reports that the tool is the same and its server's configuration is
// not: another command, URL or set of variables.
func (c Change) ServerOnly() bool { return c.Before == c.After }

// Diff is the change in the unified format with the whole definition around it.
// It is foreign text. It is "" when only the server's configuration changed.
func (c Change) Diff() string {
	if c.ServerOnly() {
		return ""
	}
	edits := udiff.Lines(c.Before+"\n", c.After+"\n")
	const whole = 1 << 20 // lines of context: all of them
	out, err := udiff.ToUnified("known", "now", c.Before+"\n", edits, whole)
	if err != nil {
		return c.After // edits that came from Lines always apply
	}
	return out
}
