// Command mcpgo-server is a small MCP server made with mark3labs/mcp-go.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/drawbridge-mcp/drawbridge/core/internal/peers/httppeer"
)

func main() {
	addr := flag.String("http", "", "serve Streamable HTTP at this address in place of stdio")
	stateful := flag.Bool("stateful", false, "with -http: give out sessions")
	flag.Parse()

	s := newServer()
	if *addr == "" {
		if err := server.ServeStdio(s); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := httppeer.Serve(*addr, server.NewStreamableHTTPServer(s, server.WithStateLess(!*stateful))); err != nil {
		log.Fatal(err)
	}
}

func newServer() *server.MCPServer {
	s := server.NewMCPServer("mcpgo-server", "1.2.1", server.WithToolCapabilities(true), server.WithElicitation())
	s.AddTool(mcp.NewTool("echo", mcp.WithDescription("Answers its text."), mcp.WithString("text")), echo)
	s.AddTool(mcp.NewTool("fail", mcp.WithDescription("Fails as a tool does."), mcp.WithString("text")), fail)
	s.AddTool(mcp.NewTool("slow", mcp.WithDescription("Takes its time, with progress."), mcp.WithNumber("ms"), mcp.WithNumber("steps")), slow)
	s.AddTool(mcp.NewTool("ask", mcp.WithDescription("Asks the person for a name.")), ask)
	return s
}

func echo(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(req.GetString("text", "")), nil
}

func fail(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultError(req.GetString("text", "")), nil
}

func slow(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	steps := max(req.GetInt("steps", 1), 1)
	wait := time.Duration(req.GetInt("ms", 0)) * time.Millisecond / time.Duration(steps)
	for i := range steps {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
		if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
			continue
		}
		err := server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": req.Params.Meta.ProgressToken, "progress": i + 1, "total": steps,
		})
		if err != nil {
			return nil, err
		}
	}
	return mcp.NewToolResultText("done"), nil
}

// ask returns an input request; for a legacy client the library turns it into an
// elicitation/create and calls again with the answer.
func ask(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	answer := server.ElicitationResponse(req.Params.InputResponses, "name")
	switch {
	case answer == nil:
		return server.NewInputRequestBuilder("asked once").Elicit("name", mcp.ElicitationParams{
			Mode:    mcp.ElicitationModeForm,
			Message: "What is your name?",
			RequestedSchema: map[string]any{
				"type":       "object",
				"properties": map[string]any{"name": map[string]any{"type": "string", "title": "Name"}},
				"required":   []string{"name"},
			},
		}).ToolResult(), nil
	case answer.Action != mcp.ElicitationResponseActionAccept:
		return mcp.NewToolResultText(fmt.Sprintf("no name: %s", answer.Action)), nil
	default:
		content, _ := answer.Content.(map[string]any)
		return mcp.NewToolResultText(fmt.Sprintf("Hello, %v!", content["name"])), nil
	}
}
