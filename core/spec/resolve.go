package spec

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// SecretGetter reads secrets by name. It may block until a person unlocked the
// keyring.
type SecretGetter interface {
	Get(ctx context.Context, name string) (string, error)
}

// Resolved is a spec with what its references stand for. It lives as long as a
// connection attempt, prints in its spec's redacted form alone, and is never
// stored.
type Resolved struct {
	// Spec is what it was made from.
	Spec *Spec

	Command string
	Args    []string
	Env     []Var
	// Dir is absolute, or "" when the spec names none.
	Dir     string
	URL     string
	Headers []Var

	// Sensitive are the values to mask wherever text leaves the process (K4): the
	// resolved secrets, and what else of the spec looks like a credential.
	Sensitive []string
}

// ReferenceError says which reference of one server cannot be resolved. It holds
// names and never a value; what is below it is the secret store's own error.
type ReferenceError struct {
	// Kind is one of the Err… variables below.
	Kind error
	// Name is the variable's or the secret's.
	Name string
	// Place is where it stands, such as "env.U".
	Place string

	cause error
}

// The kinds of a ReferenceError, for errors.Is.
var (
	ErrUnset    = errors.New("variable is not set")
	ErrSecret   = errors.New("secret cannot be had")
	ErrUnusable = errors.New("value cannot be used")
)

// Error gives one sentence, such as "variable NOPE is not set (in env.U)".
func (e *ReferenceError) Error() string {
	switch e.Kind {
	case ErrUnset:
		return fmt.Sprintf("variable %s is not set (in %s)", e.Name, e.Place)
	case ErrSecret:
		return fmt.Sprintf("secret %s cannot be had (in %s): %v", e.Name, e.Place, e.cause)
	}
	return fmt.Sprintf("%s cannot be used: %v", e.Place, e.cause)
}

// Unwrap gives the kind and the cause.
func (e *ReferenceError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.cause}
}

// Resolve expands the references of s in one pass: what a reference stands for is
// not expanded again (K1, case 96). Variables come from lookup and are all looked
// up before the first secret is asked for, so that a server that cannot start
// anyway prompts nobody. A leading ~ in command and cwd is the home directory, to
// which a relative cwd is relative too.
//
// The error is a [*ReferenceError], a [*BlockedError] for a workspace spec that
// uses references at all (P3), or ctx's.
func Resolve(ctx context.Context, s *Spec, lookup func(string) (string, bool), get SecretGetter) (*Resolved, error) {
	if s.Source != User && usesReferences(s) {
		return nil, &BlockedError{Source: s.Source}
	}
	e := &expander{lookup: lookup, known: make(map[string]string)}
	for place, t := range s.texts() {
		e.variables(place, t)
	}
	home := e.home(s)
	for place, t := range s.texts() {
		e.secrets(ctx, get, place, t)
	}
	if e.err != nil {
		return nil, e.err
	}
	r := &Resolved{Spec: s}
	if s.Remote() {
		r.URL, r.Headers = e.expand(s.URL), e.vars(s.Headers)
	} else {
		r.Command, r.Env = fromHome(e.expand(s.Command), s.Command, home), e.vars(s.Env)
		for _, arg := range s.Args {
			r.Args = append(r.Args, e.expand(arg))
		}
		if s.Dir != "" {
			r.Dir = fromHome(e.expand(s.Dir), s.Dir, home)
			if !filepath.IsAbs(r.Dir) {
				r.Dir = filepath.Join(home, r.Dir)
			}
		}
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	r.Sensitive = sensitive(s, r, e.sensitive)
	return r, nil
}

// expander holds what the references of one spec stand for.
type expander struct {
	lookup func(string) (string, bool)
	// known holds the values of secrets by name.
	known map[string]string
	// sensitive are secrets, and variables whose name says that they are.
	sensitive []string
	err       error // the first
}

// variables looks up the variables of t.
func (e *expander) variables(place, t string) {
	list, err := parts(t)
	if err != nil && e.err == nil {
		e.err = &ReferenceError{Kind: ErrUnusable, Place: place, cause: err}
	}
	for _, p := range list {
		if p.kind != variable {
			continue
		}
		value, ok := e.value(p)
		switch {
		case !ok && e.err == nil:
			e.err = &ReferenceError{Kind: ErrUnset, Name: clip(p.text, 64), Place: place}
		case ok && secretName(p.text):
			e.sensitive = append(e.sensitive, value)
		}
	}
}

// value looks a variable up. As in a shell, ${X:-d} is d when X is empty too.
func (e *expander) value(p part) (string, bool) {
	v, ok := e.lookup(p.text)
	if p.fallback != nil && v == "" {
		return *p.fallback, true
	}
	return v, ok
}

// home returns the home directory if s needs it.
func (e *expander) home(s *Spec) string {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	place := ""
	switch {
	case s.Remote():
		return ""
	case atHome(s.Command):
		place = "command"
	case s.Dir != "" && !filepath.IsAbs(s.Dir):
		place = "cwd"
	default:
		return ""
	}
	home, ok := e.lookup(name)
	if (!ok || home == "") && e.err == nil {
		e.err = &ReferenceError{Kind: ErrUnset, Name: name, Place: place}
	}
	return home
}

func (e *expander) secrets(ctx context.Context, get SecretGetter, place, t string) {
	list, _ := parts(t)
	for _, p := range list {
		if _, known := e.known[p.text]; p.kind != secret || known || e.err != nil {
			continue
		}
		if get == nil {
			e.err = &ReferenceError{ErrSecret, p.text, place, errors.New("there is no secret store")}
			return
		}
		value, err := get.Get(ctx, p.text)
		switch {
		case ctx.Err() != nil:
			e.err = fmt.Errorf("read secret %s: %w", p.text, context.Cause(ctx))
		case err != nil:
			e.err = &ReferenceError{ErrSecret, p.text, place, err}
		default:
			e.known[p.text] = value
			e.sensitive = append(e.sensitive, value)
		}
	}
}

func (e *expander) expand(t string) string {
	list, _ := parts(t) // checked by variables
	var b strings.Builder
	for _, p := range list {
		switch p.kind {
		case literal:
			b.WriteString(p.text)
		case variable:
			v, _ := e.value(p)
			b.WriteString(v)
		case secret:
			b.WriteString(e.known[p.text])
		}
	}
	return b.String()
}

func (e *expander) vars(vars []Var) []Var {
	list := make([]Var, 0, len(vars))
	for _, v := range vars {
		list = append(list, Var{v.Name, e.expand(v.Value)})
	}
	return list
}

// fromHome replaces the ~ that raw began with.
func fromHome(expanded, raw, home string) string {
	if !atHome(raw) {
		return expanded
	}
	return filepath.Join(home, strings.TrimLeft(expanded[1:], `/\`))
}

// check refuses values that could not be sent, without quoting them.
func (r *Resolved) check() error {
	bad := func(place, why string) error {
		return &ReferenceError{Kind: ErrUnusable, Place: place, cause: errors.New(why)}
	}
	if r.Spec.Remote() {
		if sentence := badURL(r.URL); sentence != "" {
			return bad("url", strings.TrimPrefix(sentence, "url "))
		}
		for _, h := range r.Headers {
			if !httpguts.ValidHeaderFieldValue(h.Value) {
				return bad("headers."+clip(h.Name, 64), "it holds a line break or a control character")
			}
		}
		return nil
	}
	if r.Command == "" {
		return bad("command", "it is empty")
	}
	filled := &Spec{Type: Stdio, Command: r.Command, Args: r.Args, Env: r.Env, Dir: r.Dir}
	for place, t := range filled.texts() {
		if strings.ContainsRune(t, 0) {
			return bad(place, "it holds a zero byte")
		}
	}
	return nil
}

// String gives the redacted form of the spec.
func (r Resolved) String() string {
	if r.Spec == nil {
		return "{}"
	}
	return r.Spec.String()
}

// Format gives the redacted form for every verb.
func (r Resolved) Format(f fmt.State, _ rune) { fmt.Fprint(f, r.String()) }

// MarshalJSON gives the redacted form.
func (r Resolved) MarshalJSON() ([]byte, error) { return []byte(r.String()), nil }

// LogValue gives the redacted form.
func (r Resolved) LogValue() slog.Value { return slog.StringValue(r.String()) }
