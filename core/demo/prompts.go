package demo

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/server"
)

// prompt is one prompt as it is written down here.
type prompt struct {
	name, title, description string
	args                     []promptArg
	run                      server.Handler
}

type promptArg struct {
	Name        string   `json:"name"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description"`
	Required    bool     `json:"required,omitempty"`
	offers      []string // what completes it
}

// addPrompt registers a prompt with its required arguments checked.
func (d *Demo) addPrompt(p prompt) {
	def, err := json.Marshal(struct {
		Name        string      `json:"name"`
		Title       string      `json:"title,omitempty"`
		Description string      `json:"description"`
		Arguments   []promptArg `json:"arguments,omitempty"`
	}{p.name, p.title, p.description, p.args})
	must(p.name, err)
	x := server.Prompt{Definition: def, Handle: p.get}
	if len(p.args) > 0 {
		x.Complete = p.complete
	}
	must(p.name, d.registry.AddPrompt(x))
}

func (p prompt) get(ctx context.Context, call *server.Call) (any, error) {
	given := arguments(call)
	for _, a := range p.args {
		if a.Required && given[a.Name] == "" {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the prompt needs the argument %q", a.Name)
		}
	}
	return p.run(ctx, call)
}

func (p prompt) complete(_ context.Context, call *server.Call) (any, error) {
	asked := call.Completion()
	for _, a := range p.args {
		if a.Name == asked.Argument {
			return server.Prefixed(asked.Value, a.offers...), nil
		}
	}
	return []string{}, nil
}

// arguments are a prompt's, which are strings all.
func arguments(call *server.Call) map[string]string {
	args := map[string]string{}
	_ = json.Unmarshal(call.Arguments(), &args)
	return args
}

// says returns a handler with fixed messages of the user.
func says(content ...server.Content) server.Handler {
	return func(context.Context, *server.Call) (any, error) { return messages(content...), nil }
}

func messages(content ...server.Content) server.PromptResult {
	var r server.PromptResult
	for _, c := range content {
		r.Messages = append(r.Messages, server.Message{Role: "user", Content: c})
	}
	return r
}

// filled returns a handler whose one message has the named arguments put in.
func filled(format string, names ...string) server.Handler {
	return func(_ context.Context, call *server.Call) (any, error) {
		args := arguments(call)
		values := make([]any, len(names))
		for i, name := range names {
			values[i] = args[name]
		}
		return messages(server.Text(fmt.Sprintf(format, values...))), nil
	}
}

func (d *Demo) addPrompts() {
	for _, p := range []prompt{
		{
			name: "summarize", title: "Summarize a text", description: "Asks for a summary in a style of your choice.",
			args: []promptArg{
				{Name: "text", Title: "Text", Description: "What to summarize", Required: true},
				{Name: "style", Title: "Style", Description: "How to say it", offers: []string{"a haiku", "a headline", "bullet points", "one sentence", "plain words"}},
			},
			run: summarize,
		},
		{
			name: "plan_trip", title: "Plan a trip", description: "Asks for a plan for some days in a city.",
			args: []promptArg{
				{Name: "city", Title: "City", Description: "Where to go", Required: true, offers: []string{"Amsterdam", "Athens", "Bruges", "Cairo", "Kyoto", "Lima", "Lisbon", "London"}},
				{Name: "days", Title: "Days", Description: "For how long", Required: true, offers: []string{"1", "2", "3", "5", "7", "10", "14"}},
			},
			run: filled("Plan a trip to %s for %s days. Keep it short.", "city", "days"),
		},
		{name: "test_simple_prompt", description: "A prompt without arguments.", run: says(server.Text("This is a simple prompt for testing."))},
		{
			name: "test_prompt_with_arguments", description: "A prompt with two arguments.",
			args: []promptArg{
				{Name: "arg1", Description: "First test argument", Required: true, offers: []string{"test1", "test2", "hello"}},
				{Name: "arg2", Description: "Second test argument", Required: true, offers: []string{"test3", "world"}},
			},
			run: filled("Prompt with arguments: arg1='%s', arg2='%s'", "arg1", "arg2"),
		},
		{
			name: "test_prompt_with_embedded_resource", description: "A prompt with a resource in it.",
			args: []promptArg{{Name: "resourceUri", Description: "URI of the resource to embed", Required: true, offers: []string{"test://static-text", "test://watched-resource"}}},
			run: func(_ context.Context, call *server.Call) (any, error) {
				return messages(
					server.Embedded(server.Contents{URI: arguments(call)["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}),
					server.Text("Please process the embedded resource above."),
				), nil
			},
		},
		{name: "test_prompt_with_image", description: "A prompt with an image in it.", run: says(server.Image(picture(1), "image/png"), server.Text("Please analyze the image above."))},
		{name: "test_input_required_result_prompt", description: "A prompt that asks the user first.", run: askingPrompt},
	} {
		d.addPrompt(p)
	}
}

func summarize(_ context.Context, call *server.Call) (any, error) {
	args := arguments(call)
	style := args["style"]
	if style == "" {
		style = "one sentence"
	}
	return messages(server.Text(fmt.Sprintf("Summarize this as %s:\n\n%s", style, args["text"]))), nil
}

func askingPrompt(ctx context.Context, call *server.Call) (any, error) {
	r, err := call.Elicit(ctx, "user_context", elicit("What context should the prompt use?", askContext).Params)
	if err != nil {
		return nil, err
	}
	var c struct{ Context string }
	_ = json.Unmarshal(r.Content, &c)
	return messages(server.Text("Use this context: " + c.Context)), nil
}
