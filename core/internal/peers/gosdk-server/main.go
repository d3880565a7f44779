// Command gosdk-server is a small MCP server made with the official Go SDK.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/drawbridge-mcp/drawbridge/core/internal/peers/httppeer"
)

func main() {
	addr := flag.String("http", "", "serve Streamable HTTP at this address in place of stdio")
	stateful := flag.Bool("stateful", false, "with -http: sessions, hence the legacy era")
	flag.Parse()

	server := newServer()
	if *addr == "" {
		if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			log.Fatal(err)
		}
		return
	}
	h := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: !*stateful},
	)
	if err := httppeer.Serve(*addr, h); err != nil {
		log.Fatal(err)
	}
}

func newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "gosdk-server", Version: "1.8.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Answers its text."}, echo)
	mcp.AddTool(s, &mcp.Tool{Name: "fail", Description: "Fails as a tool does."}, fail)
	mcp.AddTool(s, &mcp.Tool{Name: "slow", Description: "Takes its time, with progress."}, slow)
	mcp.AddTool(s, &mcp.Tool{Name: "ask", Description: "Asks the person for a name."}, ask)
	return s
}

type textArgs struct {
	Text string `json:"text"`
}

type slowArgs struct {
	Milliseconds int `json:"ms"`
	Steps        int `json:"steps"`
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

func echo(_ context.Context, _ *mcp.CallToolRequest, a textArgs) (*mcp.CallToolResult, any, error) {
	return text("%s", a.Text), nil, nil
}

func fail(_ context.Context, _ *mcp.CallToolRequest, a textArgs) (*mcp.CallToolResult, any, error) {
	return nil, nil, errors.New(a.Text)
}

func slow(ctx context.Context, req *mcp.CallToolRequest, a slowArgs) (*mcp.CallToolResult, any, error) {
	steps := max(a.Steps, 1)
	for i := range steps {
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(time.Duration(a.Milliseconds) * time.Millisecond / time.Duration(steps)):
		}
		token := req.Params.GetProgressToken()
		if token == nil {
			continue
		}
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(i + 1), Total: float64(steps),
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return text("done"), nil, nil
}

// ask returns an input request; for a legacy client the SDK turns it into an
// elicitation/create and calls again with the answer.
func ask(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	answer, ok := req.Params.InputResponses["name"].(*mcp.ElicitResult)
	if !ok {
		return &mcp.CallToolResult{
			InputRequests: mcp.InputRequestMap{"name": &mcp.ElicitParams{
				Message: "What is your name?",
				RequestedSchema: map[string]any{
					"type":       "object",
					"properties": map[string]any{"name": map[string]any{"type": "string", "title": "Name"}},
					"required":   []string{"name"},
				},
			}},
			RequestState: "asked once",
		}, nil, nil
	}
	if answer.Action != "accept" {
		return text("no name: %s", answer.Action), nil, nil
	}
	return text("Hello, %v!", answer.Content["name"]), nil, nil
}
