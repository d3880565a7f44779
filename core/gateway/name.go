package gateway

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
)

// MaxName is the length of an exposed name: what model APIs take, less the prefix
// mcp__drawbridge__ that clients put before it (G1, field case 84).
const MaxName = 64 - len("mcp__drawbridge__")

// separator stands between the server's and the tool's part of a name.
const separator = "__"

// digestLength is how many characters of the digest a name carries: 60 bits, so
// that nobody finds a tool name whose digest is another's.
const digestLength = 12

// ExposedName is the name under which /mcp offers a tool of a server: at most
// [MaxName] characters of A-Z, a-z, 0-9, underscore and hyphen (G1).
//
// It is a pure function of the two names, and no two pairs share one. A name is
// server__tool where that can be read back in one way only. Otherwise it is
// server__tool__digest, cut and cleaned, which has one separator more and so is
// never the plain name of another tool. The upstream always gets the original.
func ExposedName(server, tool string) string {
	if plain(server) && plain(tool) && len(server)+len(separator)+len(tool) <= MaxName {
		return server + separator + tool
	}
	const room = MaxName - 2*len(separator) - digestLength
	s, t := clean(server), clean(tool)
	// The tool says more than the server; the server keeps at least a third.
	s = s[:min(len(s), max(room-len(t), room/3))]
	t = t[:min(len(t), room-len(s))]
	return s + separator + t + separator + digest(server, tool)
}

// plain reports whether a part can stand in a name as it is: legal characters, and
// no underscore that could be taken for a part of the separator.
func plain(part string) bool {
	return part != "" && clean(part) == part
}

// clean replaces each run of illegal characters by a hyphen, makes runs of
// underscores one, and drops them at the ends.
func clean(part string) string {
	var b strings.Builder
	for _, r := range part {
		switch {
		case r == '_':
			if !strings.HasSuffix(b.String(), "_") {
				b.WriteByte('_')
			}
		case r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z':
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "_")
}

// digest names the pair: the length keeps ("ab", "c") and ("a", "bc") apart.
func digest(server, tool string) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(server)) + ":" + server + tool))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:digestLength])
}
