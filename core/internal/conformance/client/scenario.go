package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/form"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// given is what a scenario hands to its client.
type given struct {
	ToolCalls []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

// scenarios are those that ask for something in particular. All others are about
// connecting, and then using what is there.
var scenarios = map[string]func(context.Context, *client.Session, given) error{
	"tools_call":                       addNumbers,
	"request-metadata":                 listTools,
	"sep-2322-client-request-state":    callAllAtOnce,
	"http-custom-headers":              callAsGiven,
	"json-schema-ref-no-deref":         readSchemas,
	"json-schema-2020-12-preservation": echoSchema,
}

// useEverything lists what the server has and uses it once: every tool that can
// be offered, every resource and every prompt.
func useEverything(ctx context.Context, s *client.Session, _ given) error {
	for _, t := range s.Tools() {
		if t.Invalid != "" {
			continue
		}
		arguments, err := fill(t.InputSchema)
		if err != nil {
			return fmt.Errorf("tool %s: %w", t.Name, err)
		}
		if _, err := s.CallTool(ctx, t.Name, arguments, nil); err != nil {
			return fmt.Errorf("call %s: %w", t.Name, err)
		}
	}
	for _, each := range []struct {
		kind   client.ListKind
		method string
	}{{client.Resources, mcp.MethodResourcesRead}, {client.Prompts, mcp.MethodPromptsGet}} {
		param := mcp.TargetParam(each.method)
		for _, item := range s.Items(each.kind) {
			raw := jsonrpc.Get(item, param)
			var target string
			if err := json.Unmarshal(raw, &target); err != nil {
				return fmt.Errorf("%s: %w", each.method, err)
			}
			fields, err := json.Marshal(map[string]json.RawMessage{param: raw})
			if err != nil {
				return err
			}
			if _, err := s.Do(ctx, client.Call{Method: each.method, Fields: fields, Target: target}); err != nil {
				return fmt.Errorf("%s %s: %w", each.method, target, err)
			}
		}
	}
	return nil
}

// fill makes arguments of a tool's schema, as the window's form would: defaults,
// and something short wherever a value is required.
func fill(schema json.RawMessage) (json.RawMessage, error) {
	f := form.Parse(schema)
	if f.Raw {
		return nil, errors.New("not a form: " + f.Why)
	}
	values := f.Defaults()
	for i, fd := range f.Fields {
		if !fd.Required || values[i].Set {
			continue
		}
		switch fd.Kind {
		case form.Choice:
			values[i] = form.Value{Set: true, Picks: []int{0}}
		case form.Number, form.Integer:
			values[i] = form.Typed("1")
		case form.JSON:
			values[i] = form.Typed("null")
		default:
			values[i] = form.Typed("text")
		}
	}
	return f.Encode(values)
}

func addNumbers(ctx context.Context, s *client.Session, _ given) error {
	_, err := s.CallTool(ctx, "add_numbers", json.RawMessage(`{"a":5,"b":3}`), nil)
	return err
}

// listTools asks for the tools of a server that declares none.
func listTools(ctx context.Context, s *client.Session, _ given) error {
	_, err := s.Do(ctx, client.Call{Method: mcp.MethodToolsList})
	return err
}

// callAllAtOnce calls every tool at the same time: what one call was asked for must
// not get into another.
func callAllAtOnce(ctx context.Context, s *client.Session, _ given) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, t := range s.Tools() {
		g.Go(func() error {
			_, err := s.CallTool(ctx, t.Name, json.RawMessage(`{}`), nil)
			return err
		})
	}
	return g.Wait()
}

func callAsGiven(ctx context.Context, s *client.Session, g given) error {
	for _, c := range g.ToolCalls {
		if _, err := s.CallTool(ctx, c.Name, c.Arguments, nil); err != nil {
			return fmt.Errorf("call %s: %w", c.Name, err)
		}
	}
	return nil
}

// readSchemas makes a form of every tool, which the server offers none of to be
// called.
func readSchemas(_ context.Context, s *client.Session, _ given) error {
	for _, t := range s.Tools() {
		if f := form.Parse(t.InputSchema); f.Raw {
			return fmt.Errorf("tool %s: %s", t.Name, f.Why)
		}
	}
	return nil
}

// echoSchema hands a tool's schema back to the server as it was kept.
func echoSchema(ctx context.Context, s *client.Session, _ given) error {
	for _, t := range s.Tools() {
		if t.Name != "json_schema_2020_12_tool" {
			continue
		}
		arguments, err := json.Marshal(map[string]json.RawMessage{"schema": t.InputSchema})
		if err != nil {
			return err
		}
		_, err = s.CallTool(ctx, "json_schema_echo", arguments, nil)
		return err
	}
	return errors.New("the tool with the schema is not listed")
}
