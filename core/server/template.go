package server

import (
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// Template is a resource template. Its variables are those of RFC 6570 level 1,
// {name}, which match within one path segment, and {+name}, which matches across.
type Template struct {
	Definition json.RawMessage
	// Handle answers resources/read for a URI that matches, with the variables
	// in the call's Vars.
	Handle Handler
	// Complete answers completion/complete for the variables, like a prompt's.
	Complete Handler
	// Match, if set, decides instead of the uriTemplate which URIs are the
	// template's, for templates that use more of RFC 6570.
	Match func(uri string) (vars map[string]string, ok bool)

	uri   string
	names []string
	re    *regexp.Regexp
}

func (t *Template) definition() json.RawMessage { return t.Definition }

func (t *Template) prepare() error {
	if err := member(t.Definition, "uriTemplate", &t.uri); err != nil {
		return err
	}
	if t.Handle == nil {
		return errors.New("it has no handler")
	}
	if t.Match != nil {
		return nil
	}
	var re strings.Builder
	re.WriteString("^")
	rest := t.uri
	for {
		literal, after, ok := strings.Cut(rest, "{")
		re.WriteString(regexp.QuoteMeta(literal))
		if !ok {
			break
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed || name == "" {
			return errors.New("its uriTemplate has an open brace")
		}
		pattern := `([^/?#]+)`
		if strings.HasPrefix(name, "+") {
			name, pattern = name[1:], `(.+)`
		}
		if strings.ContainsAny(name, "#./;?&,*:") {
			return errors.New("its uriTemplate has an expression beyond {name} and {+name}")
		}
		t.names = append(t.names, name)
		re.WriteString(pattern)
		rest = tail
	}
	re.WriteString("$")
	var err error
	t.re, err = regexp.Compile(re.String())
	return err
}

func (t *Template) match(uri string) (map[string]string, bool) {
	if t.Match != nil {
		return t.Match(uri)
	}
	m := t.re.FindStringSubmatch(uri)
	if m == nil {
		return nil, false
	}
	vars := make(map[string]string, len(t.names))
	for i, name := range t.names {
		v, err := url.PathUnescape(m[i+1])
		if err != nil {
			v = m[i+1]
		}
		vars[name] = v
	}
	return vars, true
}
