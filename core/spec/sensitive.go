package spec

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// sensitive returns the values of a resolved spec to mask (K4): the given ones,
// and those that a name or their own look marks as credentials although they were
// written into the file as plain text (case 83). It errs towards masking in places
// where credentials live and away from it elsewhere, or logs would be unreadable.
func sensitive(s *Spec, r *Resolved, values []string) []string {
	add := func(value string) {
		if _, credential, ok := strings.Cut(value, " "); ok && scheme.MatchString(value) {
			values = append(values, strings.TrimSpace(credential))
		}
		values = append(values, value)
	}
	for _, v := range slices.Concat(r.Env, r.Headers) {
		if secretName(v.Name) || looksRandom(v.Value) {
			add(v.Value)
		}
	}
	fromURL(r.URL, add)
	for i, arg := range r.Args {
		fromURL(arg, add)
		name, value, assigned := cutAssignment(arg)
		switch {
		case !secretName(name):
		case assigned:
			add(value)
		case strings.HasPrefix(arg, "-") && i+1 < len(r.Args) && !strings.HasPrefix(r.Args[i+1], "-"):
			add(r.Args[i+1])
		}
	}
	slices.Sort(values)
	return slices.DeleteFunc(slices.Compact(values), harmless)
}

var (
	scheme = regexp.MustCompile(`(?i)^(bearer|basic|token|apikey) `)
	// wordName matches names of which a credential's is a part.
	wordName = regexp.MustCompile(`(?i)token|secret|passw|api[-_]?key|auth|credential|cookie|session|signature`)
	// lastName matches names that end in a credential's.
	lastName = regexp.MustCompile(`(?i)(^|[-_.])(key|pat|pwd|pass|sig|jwt)$|[a-z]Key$|KEY$`)
	random   = regexp.MustCompile(`^[A-Za-z0-9_.+=-]{16,}$`)
)

// secretName reports whether what goes by that name is likely to be a credential.
func secretName(name string) bool { return wordName.MatchString(name) || lastName.MatchString(name) }

// looksRandom reports whether a value looks like a key: long, one word, letters
// and digits.
func looksRandom(value string) bool {
	return random.MatchString(value) && strings.ContainsAny(value, "0123456789") &&
		strings.ContainsFunc(value, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' })
}

// harmless reports whether masking value would only garble text.
func harmless(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "1", "true", "false", "yes", "no", "on", "off", "none", "null":
		return true
	}
	return false
}

// cutAssignment takes apart --name=value, NAME=value and "Name: value".
func cutAssignment(arg string) (name, value string, ok bool) {
	i := strings.IndexAny(arg, "=:")
	if i < 0 || strings.HasPrefix(arg[i:], "://") {
		return arg, "", false
	}
	return arg[:i], strings.TrimSpace(arg[i+1:]), true
}

// fromURL adds a URL's password, and the path segments and query values that look
// like credentials.
func fromURL(raw string, add func(string)) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return
	}
	if password, ok := u.User.Password(); ok {
		add(password)
	} else if u.User != nil {
		add(u.User.Username())
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if looksRandom(segment) {
			add(segment)
		}
	}
	for name, list := range u.Query() {
		for _, v := range list {
			if secretName(name) || looksRandom(v) {
				add(v)
			}
		}
	}
}
