// Command gosdk-bench measures sessions of the Go SDK's client against a server.
// See the program client of core/internal/bench, which does the same with
// Drawbridge's client.
//
//	gosdk-bench [-mode calls|idle|ready] [-legacy] [flags] URL
//	gosdk-bench [-mode calls|idle|ready] [-legacy] [flags] COMMAND [ARG]...
//
// It prints one JSON object.
package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// theirs opens sessions with the SDK's defaults, and a handler for changes, since
// without one the SDK does not listen for them.
type theirs struct {
	legacy bool
	target []string
}

func newConnector(legacy bool, target []string) connector { return theirs{legacy, target} }

func (t theirs) open(ctx context.Context) (session, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "gosdk-bench", Version: "0"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {},
	})
	var to mcp.Transport
	if strings.HasPrefix(t.target[0], "http://") {
		to = &mcp.StreamableClientTransport{Endpoint: t.target[0]}
	} else {
		to = &mcp.CommandTransport{Command: exec.Command(t.target[0], t.target[1:]...)}
	}
	opts := &mcp.ClientSessionOptions{}
	if t.legacy {
		opts.ProtocolVersion = "2025-11-25"
	}
	s, err := client.Connect(ctx, to, opts)
	if err != nil {
		return nil, err
	}
	if v := s.InitializeResult().ProtocolVersion; v != "2026-07-28" != t.legacy {
		s.Close()
		return nil, fmt.Errorf("the session speaks %s", v)
	}
	for _, err := range s.Tools(ctx, nil) {
		if err != nil {
			s.Close()
			return nil, err
		}
	}
	return running{s}, nil
}

// running is a session.
type running struct{ *mcp.ClientSession }

func (r running) close() { r.Close() }

func (r running) call(ctx context.Context, text string) (string, error) {
	result, err := r.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: map[string]string{"text": text}})
	if err != nil {
		return "", err
	}
	if len(result.Content) != 1 {
		return "", fmt.Errorf("answered %d contents", len(result.Content))
	}
	answer, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return "", fmt.Errorf("answered %T", result.Content[0])
	}
	return answer.Text, nil
}
