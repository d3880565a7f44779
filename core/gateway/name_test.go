package gateway

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// G1, field cases 56 and 84.
func TestExposedName(t *testing.T) {
	const long = "billing_cost_management_get_cost_and_usage_with_resources"
	for _, c := range []struct{ server, tool, want string }{
		{"github", "create_issue", "github__create_issue"},
		{"My-Server", "Tool-1", "My-Server__Tool-1"},
		{"a", "_b", "a__b__"},
		{"a_", "b", "a__b__"},
		{"a__b", "c", "a_b__c__"},
		{"a", "b__c", "a__b_c__"},
		{"a", "files/read.all", "a__files-read-all__"},
		{"a", "読む", "a__-__"},
		{"a", "", "a____"},
		{"awslabs.billing-cost-management-mcp-server", long, "awslabs-bi__billing_cost_manageme__"},
		{"s", long, "s__billing_cost_management_get_co__"},
	} {
		got := ExposedName(c.server, c.tool)
		if plain, hashed := got == c.want, strings.HasSuffix(c.want, separator) && strings.HasPrefix(got, c.want) && len(got) == len(c.want)+digestLength; !plain && !hashed {
			t.Errorf("%q, %q: %q, want %q", c.server, c.tool, got, c.want)
		}
	}
}

var legal = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// G1: legal, short enough, the same every time, and never the name of another.
func TestExposedNamesAreLegalAndUnique(t *testing.T) {
	part := rapid.OneOf(rapid.StringMatching(`[ab_]{0,4}`), rapid.StringMatching(`[a-c_.-]{0,60}`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		type pair struct{ server, tool string }
		seen := map[string]pair{}
		for range 20 {
			p := pair{part.Draw(t, "server"), part.Draw(t, "tool")}
			name := ExposedName(p.server, p.tool)
			if len(name) > MaxName || !legal.MatchString(name) {
				t.Fatalf("%q of %q is not a legal name", name, p)
			}
			if name != ExposedName(p.server, p.tool) {
				t.Fatalf("%q has two names", p)
			}
			if other, taken := seen[name]; taken && other != p {
				t.Fatalf("%q is the name of %q and of %q", name, other, p)
			}
			seen[name] = p
			// What a hostile server could call its own tools.
			seen[ExposedName(p.server, strings.TrimPrefix(name, p.server+separator))] = pair{p.server, strings.TrimPrefix(name, p.server+separator)}
		}
	})
}
