package demo

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/drawbridge-mcp/drawbridge/core/server"
)

// checked runs a tool only with arguments that its input schema takes
// (server/tools "Servers MUST validate all tool inputs"). What is wrong goes back as
// an isError result, for the model to correct.
func checked(schema string, run server.Handler) server.Handler {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	must("schema", err)
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	must("schema", c.AddResource("demo:///tool", doc))
	compiled, err := c.Compile("demo:///tool")
	must("schema", err)
	return func(ctx context.Context, call *server.Call) (any, error) {
		args, err := jsonschema.UnmarshalJSON(bytes.NewReader(call.Arguments()))
		if err != nil {
			return nil, errors.New("the arguments are not valid JSON")
		}
		if err := compiled.Validate(args); err != nil {
			return nil, errors.New("the arguments do not fit the tool: " + firstCause(err))
		}
		return run(ctx, call)
	}
}

// firstCause is the innermost reason of a validation error, with where it is.
func firstCause(err error) string {
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return "they break its schema"
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	why := v.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	if len(v.InstanceLocation) == 0 {
		return why
	}
	return strings.Join(v.InstanceLocation, ".") + ": " + why
}

// noLoader refuses every reference out of the schema (basic/index "$ref Resolution").
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("references to other documents are not followed")
}
