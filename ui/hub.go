package ui

import (
	"context"
	"encoding/json"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// Hub is what the window needs of the core. Methods other than Log, Tools,
// Resources, Prompts, Follow, Follows and Answer may take time and are called off the UI goroutine.
type Hub interface {
	// Watch calls fn with the current snapshot, then with every later one,
	// merged to about ten a second, until ctx ends. fn is called on one
	// goroutine of the hub's, never two at a time.
	Watch(ctx context.Context, fn func(*hub.Snapshot))
	// SetWanted turns a server on or off, in the spec file.
	SetWanted(ctx context.Context, server string, on bool) error
	// Do carries out a row's action: reconnect, probe again, reload.
	Do(ctx context.Context, server string, action hub.ActionKind) error
	// Tools returns a server's tools, usable ones and others, in its order.
	Tools(server string) []hub.Tool
	// Call calls a tool with raw JSON arguments; cancelling ctx cancels it.
	Call(ctx context.Context, server, tool string, args json.RawMessage, progress func(hub.Progress)) (*hub.Outcome, error)
	// Resources returns a server's resources and templates, in its order.
	Resources(server string) []hub.Resource
	// Read reads a resource; cancelling ctx cancels it.
	Read(ctx context.Context, server, uri string, progress func(hub.Progress)) (*hub.Outcome, error)
	// Prompts returns a server's prompts, in its order.
	Prompts(server string) []hub.Prompt
	// GetPrompt has a server fill in a prompt with a JSON object of texts;
	// cancelling ctx cancels it.
	GetPrompt(ctx context.Context, server, prompt string, args json.RawMessage, progress func(hub.Progress)) (*hub.Outcome, error)
	// Complete asks what an argument could be.
	Complete(ctx context.Context, server string, c hub.Completing) ([]string, error)
	// Follow asks a server to tell about changes of a resource, or no longer to.
	Follow(server, uri string, on bool) error
	// Follows returns what is followed of a server.
	Follows(server string) []hub.Follow
	// Answer answers a question; only the first answer counts.
	Answer(question string, a hub.Answer)
	// Allow lets a waiting call run, and what the scope covers; Deny refuses it. by
	// names who decided.
	Allow(ask string, scope hub.Scope, by string) error
	Deny(ask, by string) error
	// Log returns the log lines after seq, oldest first, at most max.
	Log(server string, after uint64, max int) []hub.LogLine
	// AddDemo adds the demo server to the spec file and turns it on.
	AddDemo(ctx context.Context) error
}
