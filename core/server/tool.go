package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Handler answers one request. It runs in a worker (S3); ctx ends when the client
// cancels or goes, and when the time limit is over.
//
// The result is marshalled as JSON, a json.RawMessage is taken as it is; of a tool
// a string becomes one text item. A raw result may carry any resultType, so an
// upstream's answer passes through.
//
// Errors: a [*jsonrpc.Error] becomes the response; [*InputRequired] and
// [*MissingCapability] are answered as the client's era has them; any other error
// of a tool becomes an isError result with its text, of everything else an internal
// error without it.
type Handler func(ctx context.Context, call *Call) (any, error)

// Tool is a tool: its definition as it is listed, and what runs it.
type Tool struct {
	Definition json.RawMessage
	Handle     Handler

	name      string
	sensitive bool // S5: it needs an authorizer
	headers   []headerParam
}

func (t *Tool) definition() json.RawMessage { return t.Definition }

func (t *Tool) prepare() error {
	def, err := mcp.ParseTool(t.Definition)
	if err != nil {
		return err
	}
	if t.Handle == nil {
		return errors.New("it has no handler")
	}
	t.name = def.Name
	t.sensitive = is(def.Annotations.DestructiveHint) || is(def.Annotations.Sensitive)
	t.headers = headerParams(def.InputSchema)
	return nil
}

func is(hint *bool) bool { return hint != nil && *hint }

// Resource is a resource with a fixed URI.
type Resource struct {
	Definition json.RawMessage
	// Handle answers resources/read with a ReadResourceResult.
	Handle Handler

	uri string
}

func (x *Resource) definition() json.RawMessage { return x.Definition }

// Prompt is a prompt.
type Prompt struct {
	Definition json.RawMessage
	// Handle answers prompts/get with a GetPromptResult.
	Handle Handler
	// Complete answers completion/complete for the prompt's arguments: with
	// []string, or a raw CompleteResult. Nil offers nothing.
	Complete Handler

	name string
}

func (p *Prompt) definition() json.RawMessage { return p.Definition }
