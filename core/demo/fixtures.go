package demo

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/server"
)

// pause waits, or ends early with the call.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// step is the fixtures' time between two notifications, which clients must see
// arrive one after the other.
const step = 50 * time.Millisecond

// fixtures are the tools that the official conformance suite asks for. The first two
// are looked for on the first page of the list.
func (d *Demo) fixtures() []tool {
	pixel := server.Image(picture(1), "image/png")
	embedded := server.Embedded(server.Contents{URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource content."})
	mixed := server.Embedded(server.Contents{URI: "test://mixed-content-resource", MIMEType: "application/json", Text: `{"test":"data","value":123}`})
	simple := []tool{
		{name: "json_schema_2020_12_tool", description: "Has an input schema with the vocabulary of JSON Schema 2020-12.", input: schema2020, run: fixed(server.Text("The arguments fit the schema."))},
		{name: "test_x_mcp_header", description: "Has its region argument mirrored into a header.", input: headerSchema, run: echoRegion},
		{name: "test_simple_text", description: "Answers a text.", run: fixed(server.Text("This is a simple text response for testing."))},
		{name: "test_image_content", description: "Answers an image.", run: fixed(pixel)},
		{name: "test_audio_content", description: "Answers a sound.", run: fixed(server.Audio(tone(440, 0.1), "audio/wav"))},
		{name: "test_embedded_resource", description: "Answers an embedded resource.", run: fixed(embedded)},
		{name: "test_multiple_content_types", description: "Answers a text, an image and a resource.", run: fixed(server.Text("Multiple content types test:"), pixel, mixed)},
		{name: "test_tool_with_logging", description: "Logs three messages.", run: logThrice},
		{name: "test_logging_tool", description: "Logs messages to clients that ask for them.", run: logThrice},
		{name: "test_tool_with_progress", description: "Reports progress three times.", run: progressThrice},
		{name: "test_error_handling", description: "Fails, always.", run: func(context.Context, *server.Call) (any, error) {
			return server.Failed("This tool intentionally returns an error for testing"), nil
		}},
		{name: "test_reconnection", description: "Closes its stream before it answers; the client resumes it.", run: reconnect},
		{name: "test_trigger_tool_change", description: "Changes the list of tools.", run: d.changeTools("test_dynamic_tool")},
		{name: "test_trigger_prompt_change", description: "Changes the list of prompts.", run: d.changePrompts},
	}
	return append(simple, askingFixtures()...)
}

const headerSchema = `{"type":"object","properties":{
	"region":{"type":"string","description":"Where to run","x-mcp-header":"Region"},
	"query":{"type":"string","description":"What to run"}},
	"required":["region"]}`

const schema2020 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
	"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
	"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
		"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
	"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
	"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
	"then":{"required":["phone"]},"else":{"required":["email"]},
	"additionalProperties":false}`

func echoRegion(_ context.Context, call *server.Call) (any, error) {
	var a struct{ Region, Query string }
	if err := call.Bind(&a); err != nil {
		return nil, err
	}
	return "Region: " + a.Region, nil
}

func logThrice(ctx context.Context, call *server.Call) (any, error) {
	for i, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			if err := pause(ctx, step); err != nil {
				return nil, err
			}
		}
		call.Log("info", "demo", text)
	}
	return "Three messages were logged.", nil
}

func progressThrice(ctx context.Context, call *server.Call) (any, error) {
	for i, done := range []float64{0, 50, 100} {
		if i > 0 {
			if err := pause(ctx, step); err != nil {
				return nil, err
			}
		}
		call.Progress(done, 100, "")
	}
	return "Progress was reported three times.", nil
}

func reconnect(ctx context.Context, call *server.Call) (any, error) {
	call.HangUp()
	if err := pause(ctx, 2*step); err != nil {
		return nil, err
	}
	return "Reconnection test completed. Whoever reads this resumed the stream.", nil
}

// changeTools adds a tool, or removes it if it is there.
func (d *Demo) changeTools(name string) server.Handler {
	return func(context.Context, *server.Call) (any, error) {
		if d.registry.RemoveTool(name) {
			return "The tool " + name + " is gone.", nil
		}
		d.add(tool{name: name, title: "Now you see it", description: "Comes and goes; call the tool that made it once more and it is gone.", run: fixed(server.Text("Here I am."))})
		return "There is a new tool: " + name + ".", nil
	}
}

func (d *Demo) changePrompts(context.Context, *server.Call) (any, error) {
	const name = "test_dynamic_prompt"
	if d.registry.RemovePrompt(name) {
		return "The prompt " + name + " is gone.", nil
	}
	d.addPrompt(prompt{name: name, description: "Comes and goes.", run: says(server.Text("Here I am."))})
	return "There is a new prompt: " + name + ".", nil
}

// elicit is an elicitation in form mode.
func elicit(message, schema string) server.Input {
	p, _ := json.Marshal(map[string]any{"message": message, "requestedSchema": json.RawMessage(schema)})
	return server.Input{Method: mcp.MethodElicit, Params: p}
}

// sample asks the client's model.
func sample(text string, maxTokens int) server.Input {
	p, _ := json.Marshal(map[string]any{
		"messages":  []any{map[string]any{"role": "user", "content": server.Text(text)}},
		"maxTokens": maxTokens,
	})
	return server.Input{Method: mcp.MethodSample, Params: p}
}

var listRoots = server.Input{Method: mcp.MethodRootsList, Params: json.RawMessage(`{}`)}

// sampled is the text of a client's sampling result.
func sampled(answer json.RawMessage) (string, error) {
	var r struct {
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(answer, &r)
	var one struct {
		Text string `json:"text"`
	}
	var many []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(r.Content, &one) == nil && one.Text != "" {
		return one.Text, nil
	}
	if json.Unmarshal(r.Content, &many) == nil && len(many) > 0 {
		return many[0].Text, nil
	}
	return "", errors.New("the client's model answered without text")
}
