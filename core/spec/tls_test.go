package spec

import (
	"strings"
	"testing"
)

// Acceptance 78 and 79, T7: no key of a spec weakens TLS. What other programs call
// such a key is named as unknown, each of them, and changes nothing.
func TestNoKeyWeakensTLS(t *testing.T) {
	keys := []string{"insecureSkipVerify", "rejectUnauthorized", "verify", "verify_fun", "serverName", "server_name_indication", "tls", "ca", "NODE_TLS_REJECT_UNAUTHORIZED"}
	plainOne := one(t, `{"url": "https://h/mcp"}`)
	for _, place := range []string{`%`, `"drawbridge": {%}`} {
		var members []string
		for _, k := range keys {
			members = append(members, `"`+k+`": false`)
		}
		e := one(t, `{"url": "https://h/mcp", `+strings.Replace(place, "%", strings.Join(members, ", "), 1)+`}`)
		if e.Err != nil {
			t.Fatal(e.Err)
		}
		notes := strings.Join(texts(e.Notes), "\n")
		for _, k := range keys {
			if !strings.Contains(notes, k+`" is not `) {
				t.Errorf("%s: %s is not named:\n%s", place, k, notes)
			}
		}
		if !Equal(e.Spec, plainOne.Spec) {
			t.Errorf("%s: a key changed the server: %v", place, e.Spec)
		}
	}
}
