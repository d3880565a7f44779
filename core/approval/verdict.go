package approval

// Effect is what happens to a call.
type Effect string

// The effects. Ask is not final: a person decides.
const (
	Allow Effect = "allow"
	Ask   Effect = "ask"
	Deny  Effect = "deny"
)

func (e Effect) valid() bool { return e == Allow || e == Ask || e == Deny }

// stricter is the one of two effects that lets less through.
func stricter(a, b Effect) Effect {
	for _, e := range []Effect{Deny, Ask} {
		if a == e || b == e {
			return e
		}
	}
	return Allow
}

// Reason says why a verdict is what it is.
type Reason string

// The reasons, in the order in which they are looked for (A1).
const (
	ByRule      Reason = "rule"      // a rule of the policy file
	ByGrant     Reason = "grant"     // a grant given in the window
	ByCall      Reason = "this call" // this very call was allowed, for a while or once
	ByChange    Reason = "changed"   // the tool is not the one the person knew
	ByPrice     Reason = "price"     // it costs, and no budget covers it
	ByNewTool   Reason = "new tool"  // nobody has decided about this tool yet
	ByDefault   Reason = "default"   // nothing says otherwise
	Unconfirmed Reason = "policy"    // a rule allows it, but the person has not confirmed that rule (A9)
	ByClaim     Reason = "claim"     // a rule for many tools allows it, but it claims to be destructive or sensitive
	ByReadOnly  Reason = "read-only" // a grant for what a trusted server claims to be read-only
)

// Verdict is the outcome of looking a call up.
type Verdict struct {
	Effect Effect
	Reason Reason
	// By names the rule or grant that decided, "" where none did.
	By string
	// Change is the difference to the definition that the person knew, nil for none.
	Change *Change
}
