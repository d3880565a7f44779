package gateway

import (
	"context"
	"strings"

	"github.com/drawbridge-mcp/drawbridge/core/server"
)

// templateOf says which URIs may be a template's: those that begin like it and hold
// its fixed parts in their order. Whether one is, its server decides.
func templateOf(template string) func(uri string) (map[string]string, bool) {
	var fixed []string
	rest := template
	for {
		part, after, more := strings.Cut(rest, "{")
		fixed = append(fixed, part)
		if !more {
			break
		}
		_, rest, _ = strings.Cut(after, "}")
	}
	return func(uri string) (map[string]string, bool) {
		uri, ok := strings.CutPrefix(uri, fixed[0])
		for _, part := range fixed[1:] {
			i := strings.Index(uri, part)
			if !ok || i < 0 {
				return nil, false
			}
			uri = uri[i+len(part):]
		}
		last := fixed[len(fixed)-1]
		return nil, ok && (uri == "" || (len(fixed) > 1 && last == ""))
	}
}

// readUnlisted reads a URI that no server lists, such as one that a tool has just
// returned: the first server that knows it answers.
func (v *view) readUnlisted(ctx context.Context, c *server.Call) (any, error) {
	var last error = c.NotFound()
	for _, u := range v.upstreams() {
		if u.Session == nil || !u.Session.Status().Capabilities.Has("resources") {
			continue
		}
		result, err := v.relay(u.Name, c.Name, "uri")(ctx, c)
		if err == nil || ctx.Err() != nil {
			return result, err
		}
		if v.one != "" {
			last = err
		}
	}
	return nil, last
}

// templated is the first server that has a template for the URI, "" for none.
func (v *view) templated(uri string) string {
	ups := v.upstreams()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, u := range ups {
		for _, o := range v.offered[templates] {
			if _, ok := templateOf(o.name)(uri); ok && o.server == u.Name {
				return u.Name
			}
		}
	}
	return ""
}

// watch follows a resource at its server for as long as a client watches it.
func (v *view) watch(uri string) (stop func()) {
	name := ""
	if o, ok := v.find(resources, uri); ok {
		name = o.server
	} else if v.one != "" {
		name = v.one
	} else {
		name = v.templated(uri)
	}
	u, ok := v.gateway.find(name)
	if !ok {
		return func() {}
	}
	return u.Session.Follow(uri, func(err error) {
		if err != nil {
			return // the server announces no changes of it
		}
		v.registry.ResourceUpdated(uri)
	})
}
