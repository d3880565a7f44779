package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"golang.org/x/net/http/httpguts"
)

// annotation is the schema keyword of a mirrored parameter (streamable-http
// "Custom Headers from Tool Parameters").
const annotation = "x-mcp-header"

// maxSchemaDepth bounds the walk through a schema.
const maxSchemaDepth = 64

// paramHeader is one parameter that is mirrored into a header.
type paramHeader struct {
	name string   // without the Mcp-Param- prefix
	path []string // the chain of properties keys
}

// paramHeadersOf reads the annotations of an input schema. The error says which
// constraint is broken; such a tool must not be offered over HTTP.
func paramHeadersOf(schema json.RawMessage) ([]paramHeader, error) {
	if !bytes.Contains(schema, []byte(annotation)) {
		return nil, nil
	}
	w := headerWalk{seen: map[string]bool{}}
	if err := w.schema(schema, nil, true, 0); err != nil {
		return nil, err
	}
	return w.found, nil
}

type headerWalk struct {
	seen  map[string]bool
	found []paramHeader
}

// schema visits one schema. reachable says that only properties keys lead to it
// from the root.
func (w *headerWalk) schema(raw json.RawMessage, path []string, reachable bool, depth int) error {
	if depth > maxSchemaDepth {
		return errors.New("the input schema is nested too deeply")
	}
	members, err := jsonrpc.Members(raw)
	if err != nil {
		return w.array(raw, path, depth)
	}
	for _, m := range members {
		switch m.Name {
		case annotation:
			if err := w.annotated(members, m.Value, path, reachable); err != nil {
				return err
			}
		case "properties":
			props, err := jsonrpc.Members(m.Value)
			if err != nil {
				continue
			}
			for _, p := range props {
				if err := w.schema(p.Value, append(slices.Clone(path), p.Name), reachable, depth+1); err != nil {
					return err
				}
			}
		case "default", "const", "enum", "examples":
			// Data, not schemas.
		default:
			if err := w.schema(m.Value, path, false, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// array visits the schemas in a list; anything else is no schema.
func (w *headerWalk) array(raw json.RawMessage, path []string, depth int) error {
	var list []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, sub := range list {
		if err := w.schema(sub, path, false, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *headerWalk) annotated(schema []jsonrpc.Member, value json.RawMessage, path []string, reachable bool) error {
	var name string
	switch {
	case json.Unmarshal(value, &name) != nil || !httpguts.ValidHeaderFieldName(name):
		return errors.New("an x-mcp-header is no header name")
	case !reachable || len(path) == 0:
		return fmt.Errorf("x-mcp-header %q is on a parameter that cannot be reached by property names alone", name)
	case w.seen[strings.ToLower(name)]:
		return fmt.Errorf("x-mcp-header %q is used twice", name)
	}
	var typ string
	for _, m := range schema {
		if m.Name == "type" {
			_ = json.Unmarshal(m.Value, &typ)
		}
	}
	if typ != "string" && typ != "integer" && typ != "boolean" {
		return fmt.Errorf("x-mcp-header %q is on a parameter that is no string, integer or boolean", name)
	}
	w.seen[strings.ToLower(name)] = true
	w.found = append(w.found, paramHeader{name, path})
	return nil
}

// paramHeaders returns the mirrored parameters of a call, unencoded. An absent or
// null value has no header.
func (s *Session) paramHeaders(tool string, args json.RawMessage) []transport.Header {
	s.mu.Lock()
	var hs []paramHeader
	for _, t := range s.st.lists[Tools].tools {
		if t.Name == tool && t.Invalid == "" {
			hs = t.headers
			break
		}
	}
	s.mu.Unlock()
	var out []transport.Header
	for _, h := range hs {
		if v, ok := headerValue(args, h.path); ok {
			out = append(out, transport.Header{Name: mcp.HeaderParamPrefix + h.name, Value: v})
		}
	}
	return out
}

// headerValue reads the value at a path as its header text ("Value Encoding").
func headerValue(args json.RawMessage, path []string) (string, bool) {
	for _, key := range path {
		if args = jsonrpc.Get(args, key); args == nil {
			return "", false
		}
	}
	switch args[0] {
	case '"':
		var s string
		err := json.Unmarshal(args, &s)
		return s, err == nil
	case 't', 'f':
		return string(args), true
	case 'n', '{', '[':
		return "", false
	}
	if r, ok := new(big.Rat).SetString(string(args)); ok && len(args) < 64 && !strings.ContainsAny(string(args), "eE") && r.IsInt() {
		return r.Num().String(), true
	}
	return string(args), true
}
