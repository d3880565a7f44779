package demo

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/server"
)

const (
	askName    = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	askOK      = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`
	askColor   = `{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}`
	askContext = `{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}`
	askUser    = `{"type":"object","properties":{
		"username":{"type":"string","description":"User's response"},
		"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`
	askDefaults = `{"type":"object","properties":{
		"name":{"type":"string","description":"User name","default":"John Doe"},
		"age":{"type":"integer","description":"User age","default":30},
		"score":{"type":"number","description":"User score","default":95.5},
		"status":{"type":"string","description":"User status","enum":["active","inactive","pending"],"default":"active"},
		"verified":{"type":"boolean","description":"Verification status","default":true}},"required":[]}`
	askEnums = `{"type":"object","properties":{
		"untitledSingle":{"type":"string","description":"One of three","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","description":"One of three with titles","oneOf":[
			{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
		"legacyEnum":{"type":"string","description":"One of three with titles, the old way",
			"enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti":{"type":"array","description":"Some of three","items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","description":"Some of three with titles","items":{"anyOf":[
			{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}},
		"required":[]}`
)

// askingFixtures are the suite's tools that ask the client for something. Each works
// in both eras.
func askingFixtures() []tool {
	message := `{"type":"object","properties":{"message":{"type":"string","description":"The message to show the user"}},"required":["message"]}`
	question := `{"type":"object","properties":{"prompt":{"type":"string","description":"The prompt to send to the model"}},"required":["prompt"]}`
	const p = "test_input_required_result_"
	return []tool{
		{name: "test_sampling", description: "Asks the client's model.", input: question, run: testSampling},
		{name: "test_elicitation", description: "Asks the user.", input: message, run: testElicitation},
		{name: "test_elicitation_sep1034_defaults", description: "Asks the user, with a default of every kind.", run: elicitAll("Please review and update the form fields with defaults", askDefaults)},
		{name: "test_elicitation_sep1330_enums", description: "Asks the user to choose, in all five ways.", run: elicitAll("Please select options from the enum fields", askEnums)},
		{name: "test_missing_capability", description: "Needs the client's model.", run: asks("question", sample("Say hello.", 20))},
		{name: "test_streaming_elicitation", description: "Reports progress, then asks the user.", run: testStreaming},
		{name: p + "elicitation", description: "Asks for a name.", run: testName},
		{name: p + "sampling", description: "Asks the client's model for a capital.", run: asks("capital_question", sample("What is the capital of France?", 100))},
		{name: p + "list_roots", description: "Asks for the client's roots.", run: asks("client_roots", listRoots)},
		{name: p + "request_state", description: "Asks with a state that comes back.", run: testState},
		{name: p + "tampered_state", description: "Asks with a state that must come back unchanged.", run: testState},
		{name: p + "multiple_inputs", description: "Asks for three things at once.", run: testMany},
		{name: p + "multi_round", description: "Asks twice.", run: testRounds},
		{name: p + "capabilities", description: "Asks only for what the client can give.", run: testCapabilities},
	}
}

// asks gets one input and answers with what the client said.
func asks(key string, in server.Input) server.Handler {
	return func(ctx context.Context, call *server.Call) (any, error) {
		answers, err := call.Ask(ctx, server.Inputs{key: in})
		if err != nil {
			return nil, err
		}
		return "The client answered: " + string(answers[key]), nil
	}
}

func testSampling(ctx context.Context, call *server.Call) (any, error) {
	var a struct{ Prompt string }
	if err := call.Bind(&a); err != nil {
		return nil, err
	}
	answers, err := call.Ask(ctx, server.Inputs{"sample": sample(a.Prompt, 100)})
	if err != nil {
		return nil, err
	}
	text, err := sampled(answers["sample"])
	return "LLM response: " + text, err
}

func testElicitation(ctx context.Context, call *server.Call) (any, error) {
	var a struct{ Message string }
	if err := call.Bind(&a); err != nil {
		return nil, err
	}
	r, err := call.Elicit(ctx, "user", elicit(a.Message, askUser).Params)
	return fmt.Sprintf("User response: action=%s, content=%s", r.Action, orEmpty(r.Content)), err
}

func elicitAll(message, schema string) server.Handler {
	return func(ctx context.Context, call *server.Call) (any, error) {
		r, err := call.Elicit(ctx, "form", elicit(message, schema).Params)
		return fmt.Sprintf("Elicitation completed: action=%s, content=%s", r.Action, orEmpty(r.Content)), err
	}
}

func orEmpty(content json.RawMessage) string {
	if content == nil {
		return "{}"
	}
	return string(content)
}

func testStreaming(ctx context.Context, call *server.Call) (any, error) {
	call.Progress(1, 2, "About to ask")
	return elicitAll("May the tool go on?", askOK)(ctx, call)
}

func testName(ctx context.Context, call *server.Call) (any, error) {
	r, err := call.Elicit(ctx, "user_name", elicit("What is your name?", askName).Params)
	if err != nil {
		return nil, err
	}
	return greet(r), nil
}

func greet(r mcp.ElicitResult) string {
	var c struct{ Name string }
	_ = json.Unmarshal(r.Content, &c)
	if r.Action != mcp.Accept || c.Name == "" {
		return "Hello, whoever you are!"
	}
	return "Hello, " + c.Name + "!"
}

// testState keeps something over the round; the server seals it, and refuses a state
// that came back changed.
func testState(ctx context.Context, call *server.Call) (any, error) {
	if call.Kept() == nil {
		call.Keep(json.RawMessage(`"waiting for confirm"`))
	}
	r, err := call.Elicit(ctx, "confirm", elicit("Please confirm", askOK).Params)
	if err != nil {
		return nil, err
	}
	return fmt.Sprintf("state-ok, action=%s", r.Action), nil
}

func testMany(ctx context.Context, call *server.Call) (any, error) {
	call.Keep(json.RawMessage(`"three asked"`))
	answers, err := call.Ask(ctx, server.Inputs{
		"user_name":    elicit("What is your name?", askName),
		"greeting":     sample("Generate a greeting", 50),
		"client_roots": listRoots,
	})
	if err != nil {
		return nil, err
	}
	return fmt.Sprintf("The client answered %d requests.", len(answers)), nil
}

func testRounds(ctx context.Context, call *server.Call) (any, error) {
	call.Keep(json.RawMessage(`"rounds"`))
	first, err := call.Elicit(ctx, "step1", elicit("Step 1: What is your name?", askName).Params)
	if err != nil {
		return nil, err
	}
	second, err := call.Elicit(ctx, "step2", elicit("Step 2: What is your favorite color?", askColor).Params)
	if err != nil {
		return nil, err
	}
	return fmt.Sprintf("%s Color: %s", greet(first), orEmpty(second.Content)), nil
}

func testCapabilities(ctx context.Context, call *server.Call) (any, error) {
	inputs := server.Inputs{}
	for key, in := range map[string]server.Input{
		"user_name": elicit("What is your name?", askName), "greeting": sample("Generate a greeting", 50), "client_roots": listRoots,
	} {
		if call.Can(in) {
			inputs[key] = in
		}
	}
	if len(inputs) == 0 {
		return "The client can be asked for nothing.", nil
	}
	answers, err := call.Ask(ctx, inputs)
	return fmt.Sprintf("The client answered %d requests.", len(answers)), err
}
