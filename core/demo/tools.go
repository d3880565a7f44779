package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/server"
)

const (
	harmless = `{"readOnlyHint":true,"openWorldHint":false}`
	changes  = `{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}`
)

// tools are the tools for people, the plainest first.
func (d *Demo) tools() []tool {
	return append([]tool{
		{
			name: "echo", title: "Echo", description: "Answers with the text you give it.", hints: harmless,
			input: `{"type":"object","properties":{"text":{"type":"string","title":"Text","description":"What to say back","maxLength":10000}},"required":["text"],"additionalProperties":false}`,
			run:   echo,
		},
		{
			name: "add", title: "Add two numbers", description: "Adds two numbers and answers with structured content.", hints: harmless,
			input:  `{"type":"object","properties":{"a":{"type":"number","title":"First number"},"b":{"type":"number","title":"Second number"}},"required":["a","b"],"additionalProperties":false}`,
			output: `{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]}`,
			run:    add,
		},
		{
			name: "roll_dice", title: "Roll dice", description: "Rolls some dice. The answer differs each time.", hints: harmless,
			input:  `{"type":"object","properties":{"count":{"type":"integer","title":"How many","minimum":1,"maximum":20,"default":2},"sides":{"type":"integer","title":"Sides","enum":[4,6,8,10,12,20],"default":6}},"additionalProperties":false}`,
			output: `{"type":"object","properties":{"rolls":{"type":"array","items":{"type":"integer"}},"total":{"type":"integer"}},"required":["rolls","total"]}`,
			run:    rollDice,
		},
		{
			name: "weather", title: "Weather (made up)", description: "Tells a weather report that is invented here: nothing is looked up. Shows structured content with a schema.", hints: harmless,
			input:  `{"type":"object","properties":{"city":{"type":"string","title":"City","minLength":1,"maxLength":100},"unit":{"type":"string","title":"Unit","enum":["celsius","fahrenheit"],"default":"celsius"}},"required":["city"],"additionalProperties":false}`,
			output: `{"type":"object","properties":{"city":{"type":"string"},"temperature":{"type":"number"},"unit":{"type":"string"},"sky":{"type":"string"}},"required":["city","temperature","unit","sky"]}`,
			run:    weather,
		},
		{
			name: "slow_task", title: "Slow task", description: "Takes a while and reports its progress. Cancel it to see it stop.", hints: harmless,
			input: `{"type":"object","properties":{"seconds":{"type":"number","title":"Seconds","minimum":0,"maximum":120,"default":10},"steps":{"type":"integer","title":"Steps","minimum":1,"maximum":100,"default":10}},"additionalProperties":false}`,
			run:   slowTask,
		},
		{
			name: "show_picture", title: "Show a picture", description: "Answers with an image, drawn for the occasion.", hints: harmless,
			input: `{"type":"object","properties":{"size":{"type":"integer","title":"Size in pixels","minimum":16,"maximum":512,"default":160}},"additionalProperties":false}`,
			run:   showPicture,
		},
		{
			name: "play_tone", title: "Play a tone", description: "Answers with a short sound.", hints: harmless,
			input: `{"type":"object","properties":{"hertz":{"type":"number","title":"Frequency in Hz","minimum":100,"maximum":2000,"default":440}},"additionalProperties":false}`,
			run:   playTone,
		},
		{
			name: "show_links", title: "Point to resources", description: "Answers with links to this server's resources, and one resource in full.", hints: harmless,
			run: d.showLinks,
		},
		{
			name: "fail", title: "Fail", description: "Fails with the message you give it, as a tool does whose work went wrong.", hints: harmless,
			input: `{"type":"object","properties":{"message":{"type":"string","title":"Message","default":"Something went wrong, as asked."}},"additionalProperties":false}`,
			run:   fail,
		},
		{
			name: "write_log", title: "Write to the log", description: "Sends a log message of every level.", hints: harmless,
			run: writeLog,
		},
		{
			name: "count_up", title: "Count up", description: "Adds to the counter at " + counterURI + "; whoever watches that resource is told.", hints: changes,
			input: `{"type":"object","properties":{"by":{"type":"integer","title":"By","minimum":-100,"maximum":100,"default":1}},"additionalProperties":false}`,
			run:   d.countUp,
		},
		{
			name: "change_tools", title: "Change the list of tools", description: "Adds a tool to this list, or takes it away again.", hints: changes,
			run: d.changeTools("surprise"),
		},
	}, askingTools()...)
}

func echo(_ context.Context, call *server.Call) (any, error) {
	var a struct{ Text string }
	err := call.Bind(&a)
	return server.ToolResult{Content: []server.Content{server.Text(a.Text)}}, err
}

func add(_ context.Context, call *server.Call) (any, error) {
	var a struct{ A, B float64 }
	if err := call.Bind(&a); err != nil {
		return nil, err
	}
	sum := a.A + a.B
	return server.ToolResult{
		Content:    []server.Content{server.Text(fmt.Sprintf("%v + %v = %v", a.A, a.B, sum))},
		Structured: map[string]float64{"sum": sum},
	}, nil
}

func rollDice(_ context.Context, call *server.Call) (any, error) {
	a := struct{ Count, Sides int }{2, 6}
	if err := call.Bind(&a); err != nil {
		return nil, err
	}
	rolls, total := make([]int, a.Count), 0
	for i := range rolls {
		rolls[i] = rand.IntN(a.Sides) + 1
		total += rolls[i]
	}
	return server.ToolResult{
		Content:    []server.Content{server.Text(fmt.Sprintf("%v, together %d", rolls, total))},
		Structured: map[string]any{"rolls": rolls, "total": total},
	}, nil
}

func weather(_ context.Context, call *server.Call) (any, error) {
	a := struct{ City, Unit string }{Unit: "celsius"}
	if err := call.Bind(&a); err != nil {
		return nil, err
	}
	skies := []string{"clear", "cloudy", "rain", "fog", "snow"}
	seed := 0
	for _, r := range a.City {
		seed = (seed*31 + int(r)) % 1000003
	}
	degrees := float64(seed%35 - 5)
	if a.Unit == "fahrenheit" {
		degrees = degrees*9/5 + 32
	}
	sky := skies[seed%len(skies)]
	return server.ToolResult{
		Content:    []server.Content{server.Text(fmt.Sprintf("%s: %s, %.0f° %s (invented)", a.City, sky, degrees, a.Unit))},
		Structured: map[string]any{"city": a.City, "temperature": degrees, "unit": a.Unit, "sky": sky},
	}, nil
}

func slowTask(ctx context.Context, call *server.Call) (any, error) {
	a := struct {
		Seconds float64
		Steps   int
	}{10, 10}
	if err := call.Bind(&a); err != nil {
		return nil, err
	}
	for i := range a.Steps {
		call.Progress(float64(i), float64(a.Steps), fmt.Sprintf("Step %d of %d", i+1, a.Steps))
		if err := pause(ctx, time.Duration(a.Seconds/float64(a.Steps)*float64(time.Second))); err != nil {
			return nil, err
		}
	}
	call.Progress(float64(a.Steps), float64(a.Steps), "Done")
	return fmt.Sprintf("Done: %d steps in %v seconds.", a.Steps, a.Seconds), nil
}

func showPicture(_ context.Context, call *server.Call) (any, error) {
	a := struct{ Size int }{160}
	if err := call.Bind(&a); err != nil {
		return nil, err
	}
	return server.ToolResult{Content: []server.Content{server.Text("A drawbridge at dusk."), server.Image(picture(a.Size), "image/png")}}, nil
}

func playTone(_ context.Context, call *server.Call) (any, error) {
	a := struct{ Hertz float64 }{440}
	if err := call.Bind(&a); err != nil {
		return nil, err
	}
	return server.ToolResult{Content: []server.Content{server.Audio(tone(a.Hertz, 0.5), "audio/wav")}}, nil
}

func (d *Demo) showLinks(context.Context, *server.Call) (any, error) {
	return server.ToolResult{Content: []server.Content{
		server.Text("Two links, and a resource in full:"),
		{Type: "resource_link", URI: readmeURI, Name: "readme", Title: "About this server", MIMEType: "text/markdown"},
		{Type: "resource_link", URI: counterURI, Name: "counter", Title: "A counter", MIMEType: "text/plain"},
		server.Embedded(server.Contents{URI: counterURI, MIMEType: "text/plain", Text: itoa(d.count(0))}),
	}}, nil
}

func fail(_ context.Context, call *server.Call) (any, error) {
	a := struct{ Message string }{"Something went wrong, as asked."}
	if err := call.Bind(&a); err != nil {
		return nil, err
	}
	return nil, errors.New(a.Message)
}

func writeLog(_ context.Context, call *server.Call) (any, error) {
	for _, level := range []server.Level{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} {
		call.Log(level, "demo", "A message of level "+string(level))
	}
	return "A message of each level was written; the client gets those it asked for.", nil
}

func (d *Demo) countUp(_ context.Context, call *server.Call) (any, error) {
	a := struct{ By int }{1}
	if err := call.Bind(&a); err != nil {
		return nil, err
	}
	return "The counter is at " + itoa(d.count(a.By)) + ".", nil
}
