package spec

import (
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// choose settles how the server is spoken to: command XOR url, never a silent
// preference (P1, acceptance 96 and 97).
func (r *reader) choose() {
	s := r.spec
	switch {
	case r.hasCommand && r.hasURL:
		r.fail(r.pos, "remove one of the two", "both command and url are set")
	case !r.hasCommand && !r.hasURL:
		action := "add a command or a url"
		if r.meant != "" {
			action = "rename " + quote(r.misnamed) + " to " + quote(r.meant)
		}
		r.fail(r.pos, action, "neither command nor url is set")
	case r.hasCommand && s.Command == "":
		r.fail(r.pos, "name the program to start", "command is empty")
	case r.hasURL && s.URL == "":
		r.fail(r.pos, "give the server's address", "url is empty")
	}
	s.Type = Stdio
	if r.hasURL && !r.hasCommand {
		s.Type = HTTP
	}
	r.checkType()
	if s.Remote() {
		r.unused(len(s.Args) > 0, "args")
		r.unused(len(s.Env) > 0, "env")
		r.unused(s.Dir != "", "cwd")
	} else {
		r.unused(len(s.Headers) > 0, "headers")
	}
}

// checkType compares the entry's type, in the words of all programs, with what
// command and url imply.
func (r *reader) checkType() {
	s := r.spec
	switch word := strings.ToLower(r.typeWord); word {
	case "":
	case "stdio", "local":
		if s.Remote() {
			r.fail(r.typePos, `remove "type"`, "type says %s but there is a url", quote(word))
		}
	case "http", "streamable-http", "streamablehttp", "streamable_http", "remote", "sse":
		switch {
		case !s.Remote():
			r.fail(r.typePos, `remove "type"`, "type says %s but there is a command", quote(word))
		case word == "sse":
			s.Type = SSE
		}
	default:
		r.fail(r.typePos, `use "stdio", "http" or "sse", or remove "type"`, "type %s is not known", quote(r.typeWord))
	}
}

func (r *reader) unused(set bool, key string) {
	if set {
		addNote(&r.notes, r.pos, "%s has no effect on a server of type %s", quote(key), r.spec.Type)
	}
}

// check looks at what would fail at every connect.
func (r *reader) check() {
	s := r.spec
	for _, v := range s.Env {
		if v.Name == "" || strings.ContainsAny(v.Name, "=\x00") {
			r.fail(r.pos, "correct the name", "env has a variable that cannot be named %s", quote(v.Name))
		}
	}
	for _, h := range s.Headers {
		if !httpguts.ValidHeaderFieldName(h.Name) {
			r.fail(r.pos, "correct the name", "%s cannot be the name of a header", quote(h.Name))
		}
		if !httpguts.ValidHeaderFieldValue(h.Value) {
			r.fail(r.pos, "remove line breaks and control characters", "headers.%s cannot be sent", clip(h.Name, 64))
		}
	}
	refs := r.checkReferences()
	if s.Remote() && s.URL != "" && !refs["url"] {
		if sentence := badURL(s.URL); sentence != "" {
			r.fail(r.pos, "write https:// and the server's address", "%s", sentence)
		}
	}
	if s.AllowInsecureHTTP {
		if strings.HasPrefix(strings.ToLower(s.URL), "http:") {
			addNote(&r.notes, r.pos, "plain http is allowed to any address")
		} else {
			addNote(&r.notes, r.pos, "%s has no effect on this server", quote("allowInsecureHttp"))
		}
	}
}

// badURL says why a URL cannot be a server's address, "" when it can. It quotes
// nothing of it.
func badURL(raw string) string {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return "url is not a valid URL"
	case u.Scheme != "http" && u.Scheme != "https":
		return "url must begin with http:// or https://"
	case u.Hostname() == "":
		return "url has no host"
	}
	return ""
}
