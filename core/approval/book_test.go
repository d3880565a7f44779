package approval

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A1: the order of the sources of a decision.
func TestOrderOfDecisions(t *testing.T) {
	b := NewBook()
	c := call(t)
	expect(t, b, c, Ask, ByNewTool)
	b.Allow(c, Once)
	expect(t, b, c, Ask, ByDefault)
	b.Allow(c, Always)
	expect(t, b, c, Allow, ByGrant)
	policy(t, b, `{"rules": [{"effect": "ask", "tool": "sea*"}]}`, true)
	expect(t, b, c, Ask, ByRule)
	policy(t, b, `{"rules": [{"effect": "allow"}, {"effect": "deny", "server": "files"}, {"effect": "ask"}]}`, true)
	expect(t, b, c, Deny, ByRule)
	changed := call(t, definedAs(tool(t, strings.Replace(search, "Finds", "Sends", 1), "spec")))
	expect(t, b, changed, Deny, ByRule)
	policy(t, b, `{}`, true)
	expect(t, b, changed, Ask, ByChange)
	policy(t, b, `{"default": "deny"}`, true)
	expect(t, b, call(t, of("other")), Deny, ByDefault)
	expect(t, b, c, Allow, ByGrant)
	b.DenyAlways("files", "search")
	expect(t, b, c, Deny, ByGrant)
	expect(t, b, changed, Deny, ByGrant)
	b.AskAgain("files", "search")
	policy(t, b, ``, true)
	expect(t, b, c, Ask, ByDefault)
}

// A2: a grant is for what it names.
func TestGrantNamesWhatItCovers(t *testing.T) {
	b := NewBook()
	b.Allow(call(t), Always)
	for _, other := range []*Call{
		call(t, by("cursor")), call(t, named("search2")), call(t, of("files2")),
		call(t, definedAs(tool(t, search, "another spec"))),
	} {
		if v := b.Decide(other); v.Effect != Ask {
			t.Errorf("%s %s/%s: %s", other.Client, other.Server, other.Tool, v.Effect)
		}
	}
	expect(t, b, call(t, with(`{"q":"y"}`)), Allow, ByGrant)
	g := b.Grants()
	if len(g) != 1 || b.Revoke("no such id") || !b.Revoke(g[0].ID) {
		t.Fatalf("grants %v", g)
	}
	expect(t, b, call(t), Ask, ByDefault)
}

// A3, field case 106: a change voids the grant, and another decision does not bring
// it back.
func TestChangeVoidsTheGrant(t *testing.T) {
	b := NewBook()
	c := call(t)
	changed := call(t, definedAs(tool(t, strings.Replace(search, "Finds", "Sends", 1), "spec")))
	b.Allow(c, Always)
	v := b.Decide(changed)
	if v.Reason != ByChange || v.Change == nil || !strings.Contains(v.Change.Diff(), "+  \"description\": \"Sends") {
		t.Fatalf("%+v", v)
	}
	b.Allow(changed, Once)
	if len(b.Grants()) != 0 {
		t.Errorf("%v", b.Grants())
	}
	expect(t, b, c, Ask, ByChange)
	// A rule of the file does not let a changed tool through either.
	policy(t, b, `{"rules": [{"effect": "allow", "tool": "search"}]}`, true)
	expect(t, b, c, Ask, ByChange)
	expect(t, b, changed, Allow, ByRule)
}

// A rule of the file is for the definition it met first.
func TestRuleKnowsTheToolItMet(t *testing.T) {
	b := NewBook()
	policy(t, b, `{"rules": [{"effect": "allow"}]}`, true)
	c := call(t)
	expect(t, b, c, Allow, ByRule)
	b.Met(c)
	expect(t, b, c, Allow, ByRule)
	changed := call(t, definedAs(tool(t, search, "another command")))
	expect(t, b, changed, Ask, ByChange)
	b.Met(changed)
	expect(t, b, changed, Ask, ByChange)
}

// A2: "this call again" binds the exact bytes, and ends.
func TestThisCallBindsTheBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBook()
		c := call(t)
		b.Allow(c, ThisCall)
		for range 3 {
			expect(t, b, c, Allow, ByCall)
		}
		expect(t, b, call(t, with(`{"q": "x"}`)), Ask, ByDefault)
		expect(t, b, call(t, by("cursor")), Ask, ByDefault)
		time.Sleep(CallFor)
		expect(t, b, c, Ask, ByDefault)
	})
}

// A5: one retry.
func TestRetryPassesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBook()
		c := call(t)
		b.AllowRetry(c)
		if v := b.Preview(c); v.Effect != Allow {
			t.Errorf("%+v", v)
		}
		expect(t, b, c, Allow, ByCall)
		expect(t, b, c, Ask, ByDefault)
		b.AllowRetry(c)
		time.Sleep(CallFor)
		expect(t, b, c, Ask, ByDefault)
	})
}

// A6: a yes pays once; standing grants hold only within a budget.
func TestPriceIsAskedAbout(t *testing.T) {
	b := NewBook()
	b.Allow(call(t, priced), Always)
	expect(t, b, call(t, priced), Ask, ByPrice)
	expect(t, b, call(t, inBudget), Allow, ByGrant)
	b.Allow(call(t, priced), ThisCall)
	expect(t, b, call(t, priced), Ask, ByPrice)
	b.AllowRetry(call(t, priced))
	expect(t, b, call(t, priced), Allow, ByCall)
	expect(t, b, call(t, priced), Ask, ByPrice)
}

// A1: a server's claims count for something only if the person trusts them, and
// then only as far as a grant says; claims of harm always count.
func TestClaims(t *testing.T) {
	claims := func(annotations string) func(*Call) {
		return definedAs(tool(t, strings.Replace(search, `"inputSchema"`, `"annotations":`+annotations+`,"inputSchema"`, 1), "spec"))
	}
	b := NewBook()
	readOnly := claims(`{"readOnlyHint":true}`)
	expect(t, b, call(t, readOnly, trusted), Ask, ByNewTool)
	b.Allow(call(t, readOnly, trusted, named("a")), ReadOnly)
	expect(t, b, call(t, readOnly, trusted), Allow, ByReadOnly)
	expect(t, b, call(t, readOnly), Ask, ByNewTool)
	expect(t, b, call(t, trusted), Ask, ByNewTool)
	expect(t, b, call(t, claims(`{"readOnlyHint":true,"destructiveHint":true}`), trusted), Ask, ByNewTool)
	expect(t, b, call(t, claims(`{"readOnlyHint":true,"sensitive":true}`), trusted), Ask, ByNewTool)
	expect(t, b, call(t, readOnly, trusted, by("cursor")), Ask, ByNewTool)

	policy(t, b, `{"rules": [{"effect": "allow", "tool": "sea*"}]}`, true)
	expect(t, b, call(t), Allow, ByRule)
	expect(t, b, call(t, claims(`{"destructiveHint":true}`)), Ask, ByClaim)
	policy(t, b, `{"rules": [{"effect": "allow", "tool": "search"}]}`, true)
	expect(t, b, call(t, claims(`{"destructiveHint":true}`)), Allow, ByRule)
}

// A9: what another program writes into the policy file.
func TestOutsideChanges(t *testing.T) {
	b := NewBook()
	c := call(t)
	allow, deny := `{"rules": [{"effect": "allow"}]}`, `{"rules": [{"effect": "deny"}]}`
	policy(t, b, allow, false)
	expect(t, b, c, Ask, Unconfirmed)
	if before, now, ok := b.Pending(); !ok || before != "" || now != allow {
		t.Errorf("pending %q %q %v", before, now, ok)
	}
	if b.Confirm("something else") {
		t.Error("confirmed what was not shown")
	}
	policy(t, b, allow, true)
	expect(t, b, c, Allow, ByRule)
	policy(t, b, deny, false) // tightening holds at once
	expect(t, b, c, Deny, ByRule)
	policy(t, b, deny, true)
	policy(t, b, ``, false) // and what it forbade stays forbidden
	expect(t, b, c, Deny, ByRule)
	policy(t, b, ``, true)
	expect(t, b, c, Ask, ByNewTool)
	if _, _, ok := b.Pending(); ok {
		t.Error("still pending")
	}
	if err := b.SetPolicy([]byte(`{"rules": [`)); err == nil {
		t.Error("a broken file is taken")
	}
	expect(t, b, c, Ask, ByNewTool)
}

// A client that is no longer one leaves nothing behind.
func TestForgetAClient(t *testing.T) {
	b := NewBook()
	b.Allow(call(t), Always)
	b.Allow(call(t, by("cursor")), ThisCall)
	b.Allow(call(t, by("cursor")), UntilQuit)
	b.Forget("cursor")
	expect(t, b, call(t, by("cursor")), Ask, ByDefault)
	expect(t, b, call(t), Allow, ByGrant)
}
