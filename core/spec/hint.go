package spec

import "strings"

// hints says which keys exist in one place, and what people write instead.
type hints struct {
	known []string
	// alias maps another program's key, in lower case, to ours.
	alias map[string]string
}

var (
	rootHints = hints{
		known: []string{rootKey},
		alias: map[string]string{"servers": rootKey, "mcp": rootKey, "context_servers": rootKey, "mcp_servers": rootKey},
	}
	serverHints = hints{
		known: []string{"command", "args", "env", "cwd", "url", "headers", "type", "disabled", extraKey},
		alias: map[string]string{
			"serverurl": "url", "httpurl": "url", "uri": "url", "endpoint": "url",
			"cmd": "command", "arguments": "args", "environment": "env",
			"workingdirectory": "cwd", "dir": "cwd", "transport": "type",
		},
	}
	extraHints = hints{
		known: append([]string{"disabled", "allowInsecureHttp"}, tuningKeys()...),
		alias: map[string]string{"timeout": "callTimeout", "maxbytes": "maxMessageBytes"},
	}
)

// meant returns our key that key is a near miss of, "" when there is none.
func (h hints) meant(key string) string {
	lower := strings.ToLower(key)
	if k := h.alias[lower]; k != "" {
		return k
	}
	for _, k := range h.known {
		// Short keys are near to everything.
		if distance(strings.ToLower(k), lower) <= min(2, len(k)/3, len(lower)/3) {
			return k
		}
	}
	return ""
}

// suggest returns "; did you mean …?" for a near miss, else "".
func (h hints) suggest(key string) string {
	if k := h.meant(key); k != "" {
		return "; did you mean " + quote(k) + "?"
	}
	return ""
}

// distance counts the single-byte edits, swaps of neighbours included, that turn
// a into b. Texts too long to be a slip of one of our keys are far apart.
func distance(a, b string) int {
	if len(a) > 32 || len(b) > 32 {
		return 32
	}
	var older []int
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, prev = prev, row
	}
	return prev[len(b)]
}
