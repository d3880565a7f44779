package server

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

func (c *Call) listTools() (json.RawMessage, *jsonrpc.Error) {
	r := c.conn.server.registry
	r.mu.RLock()
	defer r.mu.RUnlock()
	return listPage(c, &r.tools, "tools")
}

func (c *Call) listPrompts() (json.RawMessage, *jsonrpc.Error) {
	r := c.conn.server.registry
	r.mu.RLock()
	defer r.mu.RUnlock()
	return listPage(c, &r.prompts, "prompts")
}

func (c *Call) listResources() (json.RawMessage, *jsonrpc.Error) {
	r := c.conn.server.registry
	r.mu.RLock()
	defer r.mu.RUnlock()
	return listPage(c, &r.resources, "resources")
}

func (c *Call) listTemplates() (json.RawMessage, *jsonrpc.Error) {
	r := c.conn.server.registry
	r.mu.RLock()
	defer r.mu.RUnlock()
	return listPage(c, &r.templates, "resourceTemplates")
}

// listPage reads the cursor. A null one is absent; an empty one, which we never
// give, is taken as the start rather than refused.
func listPage[T interface{ definition() json.RawMessage }](c *Call, t *table[T], name string) (json.RawMessage, *jsonrpc.Error) {
	cursor := ""
	if raw := c.fields["cursor"]; raw != nil && json.Unmarshal(raw, &cursor) != nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Invalid cursor")
	}
	return page(t, name, cursor, c.conn.server.limits.PageSize)
}

// text reads a string member of the params; "" when it is none.
func (c *Call) text(name string) string {
	s := ""
	_ = json.Unmarshal(c.fields[name], &s)
	return s
}

// findTool: an unknown name is -32602 by both revisions' server/tools "Error
// Handling"; the reference's -32601 would read as "no tools here" (E2).
func (c *Call) findTool() (Handler, *jsonrpc.Error) {
	if c.fields == nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "tools/call requires params")
	}
	c.Name = c.text("name")
	t, ok := c.conn.server.registry.tool(c.Name)
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Unknown tool: %.200s", c.Name)
	}
	return authorized(t), c.checkArguments()
}

func (c *Call) findPrompt() (Handler, *jsonrpc.Error) {
	c.Name = c.text("name")
	p, ok := c.conn.server.registry.prompt(c.Name)
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Unknown prompt: %.200s", c.Name)
	}
	return p.Handle, c.checkArguments()
}

func (c *Call) checkArguments() *jsonrpc.Error {
	if c.Arguments()[0] != '{' {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "arguments must be an object")
	}
	return nil
}

// NotFound is the error for a resource that does not exist: -32602 in the modern
// era, -32002 before it (server/resources "Error Handling").
func (c *Call) NotFound() *jsonrpc.Error {
	e := jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Resource not found")
	if !c.Caller.Modern() {
		e.Code = mcp.CodeResourceNotFound
	}
	e.Data, _ = json.Marshal(map[string]string{"uri": c.Name})
	return e
}

func (c *Call) findResource() (Handler, *jsonrpc.Error) {
	c.Name = c.text("uri")
	if c.Name == "" {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "resources/read needs a uri")
	}
	h, vars, ok := c.conn.server.registry.resource(c.Name)
	if !ok {
		return nil, c.NotFound()
	}
	c.Vars = vars
	return h, nil
}

// Completion is what completion/complete is about.
type Completion struct {
	// Argument is the prompt's argument or the template's variable, Value what
	// was typed of it.
	Argument, Value string
	// Context holds arguments that were resolved before.
	Context map[string]string
}

// Completion reads the params of completion/complete.
func (c *Call) Completion() Completion {
	arg := fieldsOf(c.fields["argument"])
	var x Completion
	_ = json.Unmarshal(arg["name"], &x.Argument)
	_ = json.Unmarshal(arg["value"], &x.Value)
	_ = json.Unmarshal(fieldsOf(c.fields["context"])["arguments"], &x.Context)
	return x
}

// maxCompletions is the specification's bound on values in one answer.
const maxCompletions = 100

func (c *Call) findCompletion() (Handler, *jsonrpc.Error) {
	ref := fieldsOf(c.fields["ref"])
	get := func(name string) (s string) {
		_ = json.Unmarshal(ref[name], &s)
		return s
	}
	if c.Completion().Argument == "" {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "completion/complete needs an argument")
	}
	var h Handler
	switch get("type") {
	case "ref/prompt":
		c.Name = get("name")
		p, ok := c.conn.server.registry.prompt(c.Name)
		if !ok {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Unknown prompt: %.200s", c.Name)
		}
		h = p.Complete
	case "ref/resource":
		c.Name = get("uri")
		if t, ok := c.conn.server.registry.template(c.Name); ok {
			h = t.Complete
		} else if _, _, ok := c.conn.server.registry.resource(c.Name); !ok {
			return nil, c.NotFound()
		}
	default:
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "completion/complete needs a ref to a prompt or a resource")
	}
	return completing(h), nil
}

// completing puts a handler's []string into a CompleteResult.
func completing(h Handler) Handler {
	return func(ctx context.Context, call *Call) (any, error) {
		var v any = []string{}
		if h != nil {
			var err error
			if v, err = h(ctx, call); err != nil {
				return nil, err
			}
		}
		values, ok := v.([]string)
		if !ok {
			return v, nil
		}
		total := len(values)
		values = append([]string{}, values[:min(total, maxCompletions)]...) // [], never null
		return map[string]any{"completion": map[string]any{
			"values": values, "total": total, "hasMore": total > len(values),
		}}, nil
	}
}

// Prefixed returns the candidates that begin with what was typed, whatever the case.
func Prefixed(typed string, candidates ...string) []string {
	var out []string
	for _, s := range candidates {
		if strings.HasPrefix(strings.ToLower(s), strings.ToLower(typed)) {
			out = append(out, s)
		}
	}
	return out
}

func (c *Call) setLevel() (json.RawMessage, *jsonrpc.Error) {
	l := Level(c.text("level"))
	if !l.valid() {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Invalid log level")
	}
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	if c.conn.legacy != nil {
		c.conn.legacy.LogLevel = l
	}
	return json.RawMessage(`{}`), nil
}
