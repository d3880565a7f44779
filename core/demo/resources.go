package demo

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/server"
)

const (
	readmeURI  = "demo://readme"
	clockURI   = "demo://clock"
	counterURI = "demo://counter"
)

const readme = `# The Drawbridge demo server

This server exists to be tried. It speaks protocol revision 2026-07-28 and the four
before it, and shows one of everything:

- **Tools** that answer text, pictures, sound, links and structured content, that take
  a while, that fail, and that ask you something.
- **Resources**: this text, a clock and a counter that change, a picture, and notes.
- **Prompts** with arguments that complete while you type.

Nothing it does leaves this machine, and nothing is kept when it stops.
`

// notes are what the notes template serves.
var notes = map[string]string{
	"moat":       "Fill it with water, not with tickets.",
	"portcullis": "Goes down faster than it goes up.",
	"drawbridge": "Up by default.",
}

var noteNames = []string{"drawbridge", "moat", "portcullis"}

// resource is one resource, or template, as it is written down here.
type resource struct {
	uri, name, title, description, mime string
	read                                func(call *server.Call) server.Contents
	complete                            server.Handler // templates only
}

func (r resource) definition(key string) json.RawMessage {
	fields := map[string]string{key: r.uri, "name": r.name, "description": r.description, "mimeType": r.mime}
	if r.title != "" {
		fields["title"] = r.title
	}
	b, err := json.Marshal(fields)
	must(r.uri, err)
	return b
}

func (r resource) handler() server.Handler {
	return func(_ context.Context, call *server.Call) (any, error) {
		c := r.read(call)
		if c.URI == "" {
			return nil, call.NotFound()
		}
		return server.ReadResult{Contents: []server.Contents{c}}, nil
	}
}

func content(mime, text string) func(*server.Call) server.Contents {
	return func(call *server.Call) server.Contents {
		return server.Contents{URI: call.Name, MIMEType: mime, Text: text}
	}
}

func shows(side int) func(*server.Call) server.Contents {
	return func(call *server.Call) server.Contents {
		return server.Contents{URI: call.Name, MIMEType: "image/png", Blob: base64.StdEncoding.EncodeToString(picture(side))}
	}
}

func (d *Demo) addResources() {
	for _, r := range []resource{
		{uri: readmeURI, name: "readme", title: "About this server", description: "What the demo server shows.", mime: "text/markdown", read: content("text/markdown", readme)},
		{uri: clockURI, name: "clock", title: "A clock", description: "The time here. Watchers are told every five seconds.", mime: "text/plain", read: func(call *server.Call) server.Contents {
			return server.Contents{URI: call.Name, MIMEType: "text/plain", Text: time.Now().Format(time.RFC3339)}
		}},
		{uri: counterURI, name: "counter", title: "A counter", description: "Changes when the tool count_up is called.", mime: "text/plain", read: func(call *server.Call) server.Contents {
			return server.Contents{URI: call.Name, MIMEType: "text/plain", Text: itoa(d.count(0))}
		}},
		{uri: "demo://picture", name: "picture", title: "A picture", description: "A drawbridge at dusk.", mime: "image/png", read: shows(160)},
		{uri: "test://static-text", name: "static-text", description: "A text that never changes.", mime: "text/plain", read: content("text/plain", "This is the content of the static text resource.")},
		{uri: "test://static-binary", name: "static-binary", description: "An image that never changes.", mime: "image/png", read: shows(1)},
		{uri: "test://watched-resource", name: "watched-resource", description: "A text that may be watched.", mime: "text/plain", read: content("text/plain", "Watched resource content")},
	} {
		must(r.uri, d.registry.AddResource(server.Resource{Definition: r.definition("uri"), Handle: r.handler()}))
	}
	for _, r := range []resource{
		{uri: "demo://notes/{name}", name: "notes", title: "Notes", description: "A note by its name; the name completes.", mime: "text/plain", read: note, complete: completeFrom(noteNames...)},
		{uri: "test://template/{id}/data", name: "template", description: "Data for any id.", mime: "application/json", read: templateData, complete: completeFrom("1", "12", "123")},
	} {
		must(r.uri, d.registry.AddTemplate(server.Template{Definition: r.definition("uriTemplate"), Handle: r.handler(), Complete: r.complete}))
	}
}

func note(call *server.Call) server.Contents {
	text, ok := notes[call.Vars["name"]]
	if !ok {
		return server.Contents{}
	}
	return server.Contents{URI: call.Name, MIMEType: "text/plain", Text: text}
}

func templateData(call *server.Call) server.Contents {
	id := call.Vars["id"]
	text, err := json.Marshal(struct {
		ID   string `json:"id"`
		Test bool   `json:"templateTest"`
		Data string `json:"data"`
	}{id, true, fmt.Sprintf("Data for ID: %s", id)})
	must("template data", err)
	return server.Contents{URI: call.Name, MIMEType: "application/json", Text: string(text)}
}

// completeFrom offers the candidates that begin with what was typed.
func completeFrom(candidates ...string) server.Handler {
	return func(_ context.Context, call *server.Call) (any, error) {
		return server.Prefixed(call.Completion().Value, candidates...), nil
	}
}
