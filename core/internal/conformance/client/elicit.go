package main

import (
	"context"
	"errors"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/form"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// accept stands in for a person who sends a form off as it was shown, with the
// schema's defaults filled in.
func accept(_ context.Context, e client.Elicitation) (mcp.ElicitResult, error) {
	if e.Mode == "url" {
		return mcp.ElicitResult{Action: mcp.Decline}, nil
	}
	f := form.Parse(e.RequestedSchema)
	if f.Raw {
		return mcp.ElicitResult{}, errors.New("not a form: " + f.Why)
	}
	content, err := f.Encode(f.Defaults())
	if err != nil {
		return mcp.ElicitResult{}, err
	}
	return mcp.ElicitResult{Action: mcp.Accept, Content: content}, nil
}
