package era

import "github.com/drawbridge-mcp/drawbridge/core/mcp"

// Era is which of the two kinds of protocol a server speaks (basic/versioning
// "Terminology").
type Era int

// The eras. Unknown is what a server is before anything is proven.
const (
	Unknown Era = iota
	Modern      // per-request metadata, no handshake: 2026-07-28 and later
	Legacy      // the initialize handshake: 2025-11-25 and earlier
)

// String gives "unknown", "modern" or "legacy".
func (e Era) String() string {
	switch e {
	case Modern:
		return "modern"
	case Legacy:
		return "legacy"
	}
	return "unknown"
}

// Of returns the era of a revision; Unknown when v is none. The verdict that is
// cached and shown is the era of the version that was chosen (E2).
func Of(v mcp.Version) Era {
	switch {
	case v.Modern():
		return Modern
	case v.Legacy():
		return Legacy
	}
	return Unknown
}
