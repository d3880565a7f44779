package approval

import (
	"strings"
	"testing"
)

// A3, field case 106: everything that a person judges a tool by is in the pin.
func TestPinCoversWhatAPersonJudges(t *testing.T) {
	base := tool(t, search, "spec")
	for name, raw := range map[string]string{
		"name":          strings.Replace(search, `"search"`, `"Search"`, 1),
		"title":         strings.Replace(search, `"description"`, `"title":"T","description"`, 1),
		"description":   strings.Replace(search, "Finds", "Sends", 1),
		"input schema":  strings.Replace(search, `"q":{`, `"bcc":{},"q":{`, 1),
		"output schema": strings.Replace(search, `"inputSchema"`, `"outputSchema":{"type":"object"},"inputSchema"`, 1),
		"annotations":   strings.Replace(search, `"inputSchema"`, `"annotations":{"readOnlyHint":true},"inputSchema"`, 1),
	} {
		if d := tool(t, raw, "spec"); d.Pin == base.Pin || d.Text == base.Text {
			t.Errorf("%s is not covered", name)
		}
	}
	if d := tool(t, search, "another"); d.Pin == base.Pin || d.Text != base.Text {
		t.Error("the server's configuration is not covered, or shown as the tool's")
	}
	long := `{"name":"n","inputSchema":{"const":9007199254740993}}`
	if tool(t, long, "s").Pin == tool(t, strings.Replace(long, "93}", "92}", 1), "s").Pin {
		t.Error("neighbouring large numbers have one pin")
	}
	// What moves between members must not cancel out.
	if tool(t, `{"name":"n","title":"ab"}`, "s").Pin == tool(t, `{"name":"n","description":"ab"}`, "s").Pin {
		t.Error("a title passes for a description")
	}
}

// Servers give the same definition in another order or spelling every time.
func TestPinIsSpelledManyWays(t *testing.T) {
	base := tool(t, search, "spec").Pin
	for _, raw := range []string{
		`{"inputSchema":{"properties":{"q":{"type":"string"}},"type":"object"},"description":"Finds things.","name":"search"}`,
		strings.ReplaceAll(search, ":", " :\n\t"),
		strings.Replace(search, "Finds", `\u0046inds`, 1),
		strings.Replace(search, `"name"`, `"_meta":{"x":1},"icons":[],"name"`, 1),
	} {
		if tool(t, raw, "spec").Pin != base {
			t.Errorf("another pin: %s", raw)
		}
	}
}

// A schema that is no valid JSON of one meaning is pinned by its bytes.
func TestPinOfOddDefinitions(t *testing.T) {
	twice := `{"name":"n","inputSchema":{"a":1,"a":2}}`
	swapped := `{"name":"n","inputSchema":{"a":2,"a":1}}`
	if tool(t, twice, "s").Pin == tool(t, swapped, "s").Pin {
		t.Error("of two members of one name only one is covered")
	}
}

func TestDiffShowsTheChange(t *testing.T) {
	before := tool(t, search, "spec").Text
	after := tool(t, strings.Replace(search, "Finds", "Sends", 1), "spec").Text
	diff := Change{before, after}.Diff()
	if !strings.Contains(diff, `-  "description": "Finds things."`) || !strings.Contains(diff, `+  "description": "Sends things."`) || !strings.Contains(diff, `   "name": "search"`) {
		t.Errorf("%s", diff)
	}
	same := Change{before, before}
	if !same.ServerOnly() || same.Diff() != "" {
		t.Error("a change of the server alone has a diff")
	}
}
