package spec

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

const (
	redacted = "[redacted]"
	// maxShown bounds a list in a redacted spec, and maxShownText a text.
	maxShown     = 32
	maxShownText = 512
)

// Redacted is what of a spec may be shown, logged and put into errors: names and
// counts, never values (P5).
type Redacted struct {
	Name   string
	Source Source
	// Command is the program without anything that looks like arguments.
	Command string
	// Args is how many arguments there are.
	Args int
	// Env and Headers are names, in order.
	Env []string
	Dir string
	// URL is without userinfo, query and fragment.
	URL     string
	Headers []string
}

// Redact returns what may be shown of s.
func (s Spec) Redact() Redacted {
	return Redacted{
		Name: clip(s.Name, maxName), Source: s.Source,
		Command: redactCommand(s.Command), Args: len(s.Args), Env: names(s.Env), Dir: clip(s.Dir, maxShownText),
		URL: RedactURL(s.URL), Headers: names(s.Headers),
	}
}

func names(vars []Var) []string {
	list := make([]string, 0, len(vars))
	for _, v := range vars {
		list = append(list, clip(v.Name, maxName))
	}
	return list
}

// redactCommand cuts off what begins like an option: a whole command line is
// often pasted where only the program belongs.
func redactCommand(command string) string {
	for _, cut := range []string{" -", "\t-", "\n"} {
		if program, _, found := strings.Cut(command, cut); found {
			command = program + " " + redacted
		}
	}
	return clip(command, maxShownText)
}

// RedactURL removes userinfo, query and fragment of a URL. What cannot be taken
// apart with certainty is replaced as a whole.
func RedactURL(raw string) string {
	if raw == "" {
		return ""
	}
	// A reference is no legal part of a host. Its name may be shown, its default
	// may not.
	hidden := false
	raw = refPattern.ReplaceAllStringFunc(raw, func(ref string) string {
		name, _, found := strings.Cut(ref, ":-")
		if found {
			ref = name + "}"
		}
		hidden = hidden || strings.ContainsAny(ref, "/@?#")
		return ref
	})
	u, err := url.Parse(refPattern.ReplaceAllString(raw, "x"))
	if hidden || err != nil || u.Host == "" || u.Opaque != "" {
		return redacted
	}
	raw, _, _ = strings.Cut(raw, "#")
	raw, _, _ = strings.Cut(raw, "?")
	scheme, rest, _ := strings.Cut(raw, "://")
	authority, path, slash := strings.Cut(rest, "/")
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	if slash {
		path = "/" + redactPath(path)
	}
	return clip(scheme+"://"+authority+path, maxShownText)
}

// redactPath hides the segments of a path that look like a key: hosted servers put
// them there.
func redactPath(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if looksRandom(s) {
			segments[i] = redacted
		}
	}
	return strings.Join(segments, "/")
}

// String gives the redacted spec in the shape of the file.
func (r Redacted) String() string {
	b, _ := r.MarshalJSON()
	return string(b)
}

// MarshalJSON gives the redacted spec in the shape of the file.
func (r Redacted) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	field := func(key, value string) {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(jsonString(key) + ":" + value)
	}
	word := func(key, value string) {
		if value != "" {
			field(key, jsonString(value))
		}
	}
	vars := func(key string, names []string) {
		if len(names) == 0 {
			return
		}
		var list strings.Builder
		for i, name := range names {
			if i > 0 {
				list.WriteByte(',')
			}
			if i == maxShown {
				list.WriteString(jsonString("…") + ":" + jsonString(fmt.Sprintf("%d more", len(names)-i)))
				break
			}
			list.WriteString(jsonString(name) + ":" + jsonString(redacted))
		}
		field(key, "{"+list.String()+"}")
	}
	word("name", r.Name)
	word("source", string(r.Source))
	word("command", r.Command)
	if r.Args > 0 {
		list := strings.Repeat(","+jsonString(redacted), min(r.Args, maxShown))[1:]
		if r.Args > maxShown {
			list += "," + jsonString(fmt.Sprintf("… %d more", r.Args-maxShown))
		}
		field("args", "["+list+"]")
	}
	vars("env", r.Env)
	word("cwd", r.Dir)
	word("url", r.URL)
	vars("headers", r.Headers)
	return []byte("{" + b.String() + "}"), nil
}

func jsonString(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string and a Builder cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// String gives the redacted form.
func (s Spec) String() string { return s.Redact().String() }

// Format gives the redacted form for every verb, %#v included.
func (s Spec) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// MarshalJSON gives the redacted form: a spec is written to a file by editing
// that file, never by marshalling.
func (s Spec) MarshalJSON() ([]byte, error) { return s.Redact().MarshalJSON() }

// LogValue gives the redacted form.
func (s Spec) LogValue() slog.Value { return slog.StringValue(s.String()) }

// String gives the redacted form.
func (v Var) String() string { return v.Name + "=" + redacted }

// Format gives the redacted form for every verb.
func (v Var) Format(f fmt.State, _ rune) { fmt.Fprint(f, v.String()) }

// MarshalJSON gives the redacted form.
func (v Var) MarshalJSON() ([]byte, error) { return []byte(jsonString(v.String())), nil }

// LogValue gives the redacted form.
func (v Var) LogValue() slog.Value { return slog.StringValue(v.String()) }
