package approval

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/drawbridge-mcp/drawbridge/core/spec"
)

// Rule says what happens to the calls it matches. An empty pattern matches
// everything; in a pattern * stands for any characters, none included.
type Rule struct {
	Effect Effect `json:"effect"`
	Client string `json:"client,omitzero"`
	Server string `json:"server,omitzero"`
	Tool   string `json:"tool,omitzero"`
	// Note is the person's own remark.
	Note string `json:"note,omitzero"`
}

// String is the rule as it is named in verdicts and in the history.
func (r Rule) String() string {
	s := string(r.Effect) + " " + orAny(r.Server) + "/" + orAny(r.Tool)
	if r.Client != "" {
		s += " for " + r.Client
	}
	return s
}

func orAny(pattern string) string {
	if pattern == "" {
		return "*"
	}
	return pattern
}

func (r Rule) matches(c *Call) bool {
	return match(r.Client, c.Client) && match(r.Server, c.Server) && match(r.Tool, c.Tool)
}

// match reports whether a pattern covers the whole name.
func match(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	first, rest, more := strings.Cut(pattern, "*")
	name, ok := strings.CutPrefix(name, first)
	if !ok || !more {
		return ok && name == ""
	}
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], after
	}
}

// Policy is the content of policy.json: what a person wrote by hand. The zero
// Policy asks about everything.
type Policy struct {
	// Default is what happens where no rule and no grant says anything: [Ask], or
	// [Deny] for a person who wants no asks. Empty means Ask.
	Default Effect `json:"default,omitzero"`
	// Rules are looked through as a whole: of those that match, the strictest wins,
	// so their order means nothing.
	Rules []Rule `json:"rules,omitzero"`
}

// A policy file's bounds: one a person writes has a few dozen rules.
const (
	maxPolicy = 1 << 20 // bytes
	maxRules  = 1000
)

// PolicyError says what is wrong with a policy file, and where.
type PolicyError struct {
	// Line and Column count from 1; 0 when it is about the file as a whole.
	Line, Column int
	Problem      string
}

func (e *PolicyError) Error() string {
	if e.Line == 0 {
		return "policy: " + e.Problem
	}
	return "policy: line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Column) + ": " + e.Problem
}

// ParsePolicy reads a policy file, which is JSON with comments and trailing commas.
// Unlike a spec file it is taken as a whole or not at all, and an unknown key is an
// error: a misspelt deny rule must not pass for one that is in force. The error is
// a [*PolicyError] or a [*spec.SyntaxError].
func ParsePolicy(file []byte) (*Policy, error) {
	p := new(Policy)
	if len(file) > maxPolicy {
		return nil, &PolicyError{Problem: "the file is larger than 1 MiB"}
	}
	plain, err := spec.Standardize(file)
	if err != nil || plain == nil {
		return p, err
	}
	if err := json.Unmarshal(plain, p, json.RejectUnknownMembers(true)); err != nil {
		return nil, policyError(plain, err)
	}
	if p.Default != "" && p.Default != Ask && p.Default != Deny {
		return nil, &PolicyError{Problem: `"default" must be "ask" or "deny"; what is allowed is said by rules`}
	}
	if len(p.Rules) > maxRules {
		return nil, &PolicyError{Problem: fmt.Sprintf("more than %d rules", maxRules)}
	}
	for i, r := range p.Rules {
		if !r.Effect.valid() {
			return nil, &PolicyError{Problem: fmt.Sprintf(`rule %d: "effect" must be "allow", "ask" or "deny"`, i+1)}
		}
	}
	return p, nil
}

// policyError says where a decoder stopped, in words of ours.
func policyError(text []byte, err error) error {
	e := &PolicyError{Problem: "it has another form than a policy has"}
	var offset int64
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &semantic):
		offset = semantic.ByteOffset
		at := string(semantic.JSONPointer)
		switch {
		case errors.Is(semantic.Err, json.ErrUnknownName):
			e.Problem = strconv.Quote(semantic.JSONPointer.LastToken()) + " is not known here"
		case at != "":
			e.Problem = strconv.Quote(at) + " has the wrong type"
		}
	case errors.As(err, &syntactic):
		offset = syntactic.ByteOffset
		if errors.Is(syntactic.Err, jsontext.ErrDuplicateName) {
			e.Problem = strconv.Quote(syntactic.JSONPointer.LastToken()) + " is there twice"
		}
	}
	before := text[:min(int(offset), len(text))]
	e.Line = 1 + bytes.Count(before, []byte{'\n'})
	e.Column = len(before) - bytes.LastIndexByte(before, '\n')
	return e
}

// strictest is the strictest of the rules that match; ok is false when none does.
func (p *Policy) strictest(c *Call) (rule Rule, ok bool) {
	for _, r := range p.Rules {
		if r.matches(c) && (!ok || stricter(r.Effect, rule.Effect) != rule.Effect) {
			rule, ok = r, true
		}
	}
	return rule, ok
}

func (p *Policy) fallback() Effect {
	if p.Default == "" {
		return Ask
	}
	return p.Default
}
