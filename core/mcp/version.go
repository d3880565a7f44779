package mcp

import "slices"

// Version is a protocol revision, a date such as "2026-07-28". Revisions compare
// as dates, never by equality with one of them (E8).
type Version string

// The revisions we speak (E1).
const (
	V20260728 Version = "2026-07-28"
	V20251125 Version = "2025-11-25"
	V20250618 Version = "2025-06-18"
	V20250326 Version = "2025-03-26"
	V20241105 Version = "2024-11-05"
)

// Latest is the newest modern revision, LatestLegacy the newest with a handshake.
const (
	Latest       = V20260728
	LatestLegacy = V20251125
)

// Versions lists the revisions we speak, newest first (E1).
func Versions() []Version {
	return []Version{V20260728, V20251125, V20250618, V20250326, V20241105}
}

// LegacyVersions lists the handshake revisions we speak, newest first.
func LegacyVersions() []Version { return Versions()[1:] }

// Supported reports whether we speak v.
func (v Version) Supported() bool { return slices.Contains(Versions(), v) }

// Valid reports whether v has the form of a revision, a calendar date.
func (v Version) Valid() bool {
	if len(v) != len("2006-01-02") || v[4] != '-' || v[7] != '-' {
		return false
	}
	for i, c := range []byte(v) {
		if i != 4 && i != 7 && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// Modern reports whether v is a revision without a handshake: 2026-07-28 or later.
func (v Version) Modern() bool { return v.Valid() && v >= V20260728 }

// Legacy reports whether v is a revision with a handshake.
func (v Version) Legacy() bool { return v.Valid() && v < V20260728 }

// Choose returns the newest revision that both we and the peer speak; false when
// there is none (E1).
func Choose(theirs []Version) (Version, bool) {
	for _, v := range Versions() {
		if slices.Contains(theirs, v) {
			return v, true
		}
	}
	return "", false
}
