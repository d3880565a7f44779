package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/server"
)

// everyField is an elicitation form with every kind of field there is
// (client/elicitation "Requested Schema").
const everyField = `{"type":"object","properties":{
	"name":{"type":"string","title":"Name","description":"Any text","minLength":1,"maxLength":80},
	"email":{"type":"string","title":"Email","format":"email"},
	"website":{"type":"string","title":"Website","format":"uri"},
	"birthday":{"type":"string","title":"Birthday","format":"date"},
	"meeting":{"type":"string","title":"Next meeting","format":"date-time"},
	"age":{"type":"integer","title":"Age","minimum":0,"maximum":150,"default":30},
	"height":{"type":"number","title":"Height in meters","minimum":0,"maximum":3},
	"newsletter":{"type":"boolean","title":"Send me the newsletter","default":false},
	"color":{"type":"string","title":"Favourite colour","enum":["red","green","blue"],"default":"green"},
	"size":{"type":"string","title":"T-shirt size","oneOf":[{"const":"s","title":"Small"},{"const":"m","title":"Medium"},{"const":"l","title":"Large"}],"default":"m"},
	"fruits":{"type":"array","title":"Fruits you like","items":{"type":"string","enum":["apple","banana","cherry"]},"minItems":1,"maxItems":3,"default":["apple"]},
	"days":{"type":"array","title":"Days that suit you","items":{"anyOf":[{"const":"mon","title":"Monday"},{"const":"wed","title":"Wednesday"},{"const":"fri","title":"Friday"}]}}},
	"required":["name","color"]}`

const exampleURL = "https://example.com/drawbridge-demo"

func askingTools() []tool {
	return []tool{
		{name: "ask_form", title: "Ask me with a form", description: "Asks you to fill in a form with every kind of field.", hints: harmless, run: askForm},
		{name: "ask_url", title: "Ask me to open a page", description: "Asks you to open a web page (" + exampleURL + "), as a sign-in would.", hints: harmless, run: askURL},
		{
			name: "ask_model", title: "Ask the client's model", description: "Has the client's own model answer a question (sampling).", hints: harmless,
			input: `{"type":"object","properties":{"question":{"type":"string","title":"Question","default":"What is a drawbridge?"}},"additionalProperties":false}`,
			run:   askModel,
		},
		{name: "show_roots", title: "Show the client's folders", description: "Asks the client which folders (roots) it works in.", hints: harmless, run: showRoots},
	}
}

func askForm(ctx context.Context, call *server.Call) (any, error) {
	r, err := call.Elicit(ctx, "form", elicit("Tell the demo about yourself. Nothing is kept or sent anywhere.", everyField).Params)
	if err != nil {
		return nil, err
	}
	switch r.Action {
	case mcp.Decline:
		return "You declined. That is fine.", nil
	case mcp.Cancel:
		return "You closed the form without an answer.", nil
	}
	return "You answered: " + orEmpty(r.Content), nil
}

func askURL(ctx context.Context, call *server.Call) (any, error) {
	p, _ := json.Marshal(map[string]string{"mode": "url", "message": "Open this page to go on. It is an example and asks for nothing.", "url": exampleURL})
	r, err := call.Elicit(ctx, "page", p)
	if err != nil {
		return nil, err
	}
	return fmt.Sprintf("You chose: %s.", r.Action), nil
}

func askModel(ctx context.Context, call *server.Call) (any, error) {
	a := struct{ Question string }{"What is a drawbridge?"}
	if err := call.Bind(&a); err != nil {
		return nil, err
	}
	answers, err := call.Ask(ctx, server.Inputs{"answer": sample(a.Question, 200)})
	if err != nil {
		return nil, err
	}
	text, err := sampled(answers["answer"])
	return "The model says: " + text, err
}

func showRoots(ctx context.Context, call *server.Call) (any, error) {
	answers, err := call.Ask(ctx, server.Inputs{"roots": listRoots})
	if err != nil {
		return nil, err
	}
	var r struct {
		Roots []struct{ URI, Name string }
	}
	_ = json.Unmarshal(answers["roots"], &r)
	if len(r.Roots) == 0 {
		return "The client works in no folder.", nil
	}
	var lines []string
	for _, root := range r.Roots {
		lines = append(lines, strings.TrimSpace(root.Name+" "+root.URI))
	}
	return strings.Join(lines, "\n"), nil
}
