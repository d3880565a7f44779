package spec

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/drawbridge-mcp/drawbridge/secrets"
)

// refPattern matches what may be a reference, for showing.
var refPattern = regexp.MustCompile(`\$\{[^{}]*\}`)

// part is a stretch of a text: literal, a variable or a secret (K1).
type part struct {
	kind partKind
	// text is the literal, or the name.
	text string
	// fallback is a variable's default, nil when there is none.
	fallback *string
}

type partKind int

const (
	literal partKind = iota
	variable
	secret
)

var (
	variableForm = regexp.MustCompile(`^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?:(:-)((?s:.*)))?$`)
	// foreignForm is another program's reference, such as ${input:id}. A shell's
	// ${X:0:3} or ${X:?unset} is not one.
	foreignForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*):[A-Za-z_./~]`)
)

// parts takes a text apart in one pass. What is no reference, such as $5, $$ or
// a shell's ${X%.*}, is literal. The error says what is wrong with something that
// was meant to be a reference, and quotes nothing that might be a value.
func parts(s string) ([]part, error) {
	var list []part
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			list = append(list, part{text: lit.String()})
			lit.Reset()
		}
	}
	for {
		before, rest, found := strings.Cut(s, "${")
		lit.WriteString(before)
		if !found {
			flush()
			return list, nil
		}
		body, after, closed := cutBody(rest)
		p, err := reference(body, closed)
		switch {
		case err != nil:
			return nil, err
		case p != nil:
			flush()
			list = append(list, *p)
			s = after
		default:
			lit.WriteString("${")
			s = rest
		}
	}
}

// cutBody returns what stands before the closing brace, and what after. It stops
// at the beginning of another reference, so that no text is looked at twice.
func cutBody(rest string) (body, after string, closed bool) {
	for i := range len(rest) {
		switch {
		case rest[i] == '}':
			return rest[:i], rest[i+1:], true
		case strings.HasPrefix(rest[i:], "${"):
			return rest[:i], rest[i:], false
		}
	}
	return rest, "", false
}

// reference reads what stands between the braces; nil when it is none. What is
// not closed is none, but a default that holds another reference is a mistake.
func reference(body string, closed bool) (*part, error) {
	if !closed && !strings.Contains(body, ":-") {
		return nil, nil
	}
	m := variableForm.FindStringSubmatch(body)
	switch {
	case !closed && m != nil && m[2] != "":
		return nil, fmt.Errorf("the default of ${%s} holds another reference, or is not closed", clip(m[1], 64))
	case !closed:
		return nil, nil
	case m != nil && m[2] != "":
		return &part{kind: variable, text: m[1], fallback: &m[3]}, nil
	case m != nil:
		return &part{kind: variable, text: m[1]}, nil
	}
	if name, ok := strings.CutPrefix(body, "secret:"); ok {
		if !secrets.ValidName(name) {
			return nil, errors.New("${secret:…} holds no name of a secret")
		}
		return &part{kind: secret, text: name}, nil
	}
	if strings.HasPrefix(body, "env:") {
		return nil, errors.New("${env:…} holds no name of a variable")
	}
	if m := foreignForm.FindStringSubmatch(body); m != nil {
		return nil, fmt.Errorf("references of the kind ${%s:…} are not known", clip(m[1], 32))
	}
	return nil, nil
}

// texts yields every text of the spec in which a reference may stand, with its
// place as it reads in a sentence.
func (s *Spec) texts() iter.Seq2[string, string] {
	return func(yield func(place, text string) bool) {
		if s.Remote() {
			if !yield("url", s.URL) {
				return
			}
			yieldVars("headers", s.Headers, yield)
			return
		}
		if !yield("command", s.Command) {
			return
		}
		for i, arg := range s.Args {
			if !yield("args["+strconv.Itoa(i)+"]", arg) {
				return
			}
		}
		if !yieldVars("env", s.Env, yield) {
			return
		}
		yield("cwd", s.Dir)
	}
}

func yieldVars(place string, vars []Var, yield func(place, text string) bool) bool {
	for _, v := range vars {
		if !yield(place+"."+clip(v.Name, 64), v.Value) {
			return false
		}
	}
	return true
}

// Secrets returns the names of the secrets that s refers to, each once, in the
// order of their appearance. Nothing is resolved.
func Secrets(s *Spec) []string {
	var names []string
	for _, t := range s.texts() {
		list, _ := parts(t)
		for _, p := range list {
			if p.kind == secret && !slices.Contains(names, p.text) {
				names = append(names, p.text)
			}
		}
	}
	return names
}

// usesReferences reports whether s holds anything that another program might
// expand, whether we would or not (P3).
func usesReferences(s *Spec) bool {
	for _, t := range s.texts() {
		if strings.Contains(t, "${") {
			return true
		}
	}
	return atHome(s.Command) || atHome(s.Dir)
}

// atHome reports whether path begins at the home directory.
func atHome(path string) bool {
	return path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`)
}

// checkReferences refuses malformed references, and says which texts hold any.
func (r *reader) checkReferences() map[string]bool {
	refs := make(map[string]bool)
	for place, t := range r.spec.texts() {
		list, err := parts(t)
		if err != nil {
			r.fail(r.pos, "use ${secret:NAME}, ${env:NAME}, ${NAME} or ${NAME:-default}", "%s: %s", place, err)
			continue
		}
		for _, p := range list {
			switch {
			case p.kind != literal:
				refs[place] = true
				if p.kind == secret && strings.HasPrefix(place, "args[") {
					addNote(&r.notes, r.pos, "secret %s in %s is visible in the list of processes; env hides it", p.text, place)
				}
			case strings.Contains(p.text, "${"):
				addNote(&r.notes, r.pos, "%s holds ${ that begins no reference; it is passed on as it is", place)
			}
		}
	}
	return refs
}
