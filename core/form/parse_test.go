package form

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// enums is the input of field case 60.
const enums = `{"type":"object","properties":{
	"lang":{"type":"string","enum":["en","de"],"enumNames":["English","Deutsch"]},
	"prio":{"oneOf":[{"const":"low","title":"Low"},{"const":"high","title":"High"}]},
	"tags":{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"#F00","title":"Red"},{"const":"#0F0","title":"Green"}]},"default":["#F00"]},
	"st":{"$ref":"#/$defs/S"},
	"plain":{"type":"array","items":{"type":"string","enum":["x","y"]}},
	"short":{"type":"string","enum":["en","de"],"enumNames":["English"]}},
	"$defs":{"S":{"type":"string","enum":["a","b"]}},"required":["lang"]}`

// one parses a schema of the one property x.
func one(t *testing.T, property string) *Field {
	t.Helper()
	f := Parse(json.RawMessage(`{"type":"object","properties":{"x":` + property + `},"$defs":{"S":{"type":"string"}}}`))
	if f.Raw || len(f.Fields) != 1 {
		t.Fatalf("property %s gave %+v", property, f)
	}
	return f.Fields[0]
}

// Field case 60: every shape of a choice shows titles and sends values.
func TestParseReadsEveryShapeOfChoice(t *testing.T) {
	f := Parse(json.RawMessage(enums))
	type shown struct {
		Name     string
		Kind     Kind
		Required bool
		Options  string
	}
	var got []shown
	for _, fd := range f.Fields {
		var opts []string
		for _, o := range fd.Options {
			opts = append(opts, o.Title+"="+string(o.Value))
		}
		got = append(got, shown{fd.Name, fd.Kind, fd.Required, strings.Join(opts, " ")})
	}
	want := []shown{
		{"lang", Choice, true, `English="en" Deutsch="de"`},
		{"prio", Choice, false, `Low="low" High="high"`},
		{"tags", Multi, false, `Red="#F00" Green="#0F0"`},
		{"st", Choice, false, `a="a" b="b"`},
		{"plain", Multi, false, `x="x" y="y"`},
		{"short", Choice, false, `en="en" de="de"`},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := string(f.Draft(f.Defaults())); got != `{"tags":["#F00"]}` {
		t.Errorf("defaults are %s", got)
	}
}

func TestParseFindsTheKindOfAField(t *testing.T) {
	for _, c := range []struct {
		property string
		want     Kind
	}{
		{`{"type":"string"}`, Text},
		{`{"type":"number"}`, Number},
		{`{"type":"integer"}`, Integer},
		{`{"type":"boolean"}`, Bool},
		{`{"type":["string","null"]}`, Text},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}`, Integer},
		{`{"oneOf":[{"type":"null"},{"$ref":"#/$defs/S"}]}`, Text},
		{`{"allOf":[{"$ref":"#/$defs/S"}],"description":"d"}`, Text},
		{`{"const":"only"}`, Choice},
		{`{"enum":[1,2.5,null,true]}`, Choice},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, JSON},
		{`{"type":"array","items":{"type":"string"}}`, JSON},
		{`{"type":["string","number"]}`, JSON},
		{`{"anyOf":[{"type":"string"},{"type":"number"}]}`, JSON},
		{`{"type":"strin"}`, JSON},
		{`{}`, JSON},
		{`true`, JSON},
		{`["coin"]`, JSON},
		{`null`, JSON},
		{`{"$ref":"https://example.com/schema.json"}`, JSON},
		{`{"$ref":"file:///etc/passwd"}`, JSON},
		{`{"$ref":"#/$defs/none"}`, JSON},
		{`{"$ref":"#/properties/x"}`, JSON}, // refers to itself
		{`{"enum":[]}`, JSON},
	} {
		if got := one(t, c.property).Kind; got != c.want {
			t.Errorf("%s is kind %d, want %d", c.property, got, c.want)
		}
	}
}

// Field case 52: an odd schema never hides its tool; it is written as JSON.
func TestParseFallsBackToJSON(t *testing.T) {
	many := `{"type":"object","properties":{`
	for i := range 300 {
		many += fmt.Sprintf(`"p%d":{},`, i)
	}
	many = strings.TrimSuffix(many, ",") + `}}`
	for _, c := range []struct {
		name, schema string
		raw          bool
		fields       int
	}{
		{"missing", ``, true, 0},
		{"null", `null`, true, 0},
		{"empty", `{}`, true, 0},
		{"true", `true`, true, 0},
		{"any of", `{"anyOf":[{"type":"object"}]}`, true, 0},
		{"a string", `{"type":"string"}`, true, 0},
		{"required inside properties", `{"type":"object","properties":{"required":["coin"]}}`, false, 1},
		{"properties an array", `{"type":"object","properties":[]}`, true, 0},
		{"no type but properties", `{"properties":{"a":{"type":"string"}}}`, false, 1},
		{"no arguments", `{"type":"object"}`, false, 0},
		{"no arguments either", `{"type":"object","properties":{},"additionalProperties":false}`, false, 0},
		{"patterns only", `{"type":"object","patternProperties":{"^x":{}}}`, true, 0},
		{"required without a property", `{"type":"object","properties":{},"required":["a","a",1]}`, false, 1},
		{"root reference", `{"$ref":"#/definitions/A","definitions":{"A":{"type":"object","properties":{"a":{}}}}}`, false, 1},
		{"root refers to itself", `{"$ref":"#"}`, true, 0},
		{"not JSON", `{"type":`, true, 0},
		{"two values", `{} {}`, true, 0},
		{"too many fields", many, true, 0},
		{"too long", `{"type":"object","description":"` + strings.Repeat("x", maxSchema) + `"}`, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Parse(json.RawMessage(c.schema))
			if f.Raw != c.raw || len(f.Fields) != c.fields || f.Raw != (f.Why != "") {
				t.Errorf("got raw=%v fields=%d why=%q", f.Raw, len(f.Fields), f.Why)
			}
		})
	}
}

func TestParseKeepsTheOrderOfTheBytes(t *testing.T) {
	f := Parse(json.RawMessage(`{"type":"object","properties":{"z":{},"a":{},"m":{},"a":{"type":"string"}}}`))
	var got []string
	for _, fd := range f.Fields {
		got = append(got, fd.Name)
	}
	if d := cmp.Diff([]string{"z", "a", "m"}, got); d != "" {
		t.Error(d)
	}
	if f.Fields[1].Kind != Text {
		t.Error("the last of two properties of one name must count")
	}
}

func TestParseLetsTheWordsBesideAReferenceWin(t *testing.T) {
	f := Parse(json.RawMessage(`{"type":"object","properties":{"x":{"$ref":"#/$defs/a~1b~0c%20d","title":"Mine","default":"q"}},
		"$defs":{"a/b~c d":{"type":"string","title":"Theirs","description":"D"}}}`))
	fd := f.Fields[0]
	if fd.Kind != Text || fd.Title != "Mine" || fd.Description != "D" || string(fd.Default) != `"q"` {
		t.Errorf("got %+v", fd)
	}
}

func TestParseBoundsItsWork(t *testing.T) {
	// Many fields that each walk over a large definition.
	big := `{"type":"string","description":"` + strings.Repeat("x", 200<<10) + `"}`
	s := `{"type":"object","$defs":{"B":` + big + `},"properties":{`
	for i := range 200 {
		s += fmt.Sprintf(`"p%d":{"$ref":"#/$defs/B"},`, i)
	}
	f := Parse(json.RawMessage(strings.TrimSuffix(s, ",") + `}}`))
	if len(f.Fields) != 200 {
		t.Fatalf("%d fields", len(f.Fields))
	}
	if f.Fields[0].Kind != Text || f.Fields[199].Kind != JSON {
		t.Errorf("first is kind %d, last %d; the budget should end in between", f.Fields[0].Kind, f.Fields[199].Kind)
	}
}

func TestParseIgnoresADefaultThatDoesNotFit(t *testing.T) {
	for _, property := range []string{
		`{"type":"string","default":3}`, `{"type":"integer","default":"3"}`, `{"type":"boolean","default":"true"}`,
		`{"enum":["a"],"default":"b"}`, `{"type":"array","items":{"enum":["a"]},"default":["a","b"]}`,
		`{"type":"array","items":{"enum":["a"]},"default":"a"}`, `{"type":["string","null"],"default":null}`,
	} {
		if d := one(t, property).Default; d != nil {
			t.Errorf("%s kept the default %s", property, d)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		enums, `{}`, `{"type":"object","properties":{"a":{"type":"integer","minimum":1,"exclusiveMinimum":true,"default":9007199254740993}}}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`, `{"properties":{"a":{"type":"string","pattern":"(","format":"uri","default":""}}}`,
		`{"type":"object","properties":{"n":{"type":"number","default":1e400,"multipleOf":0.1}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		form := Parse(schema)
		if form.Raw {
			if form.Why == "" || len(form.Fields) != 0 {
				t.Fatalf("raw form %+v", form)
			}
			return
		}
		draft := form.Draft(form.Defaults())
		if !json.Valid(draft) {
			t.Fatalf("draft is not JSON: %s", draft)
		}
		// What the form wrote, it can hold, and then writes again.
		vs, err := form.Decode(draft)
		if err != nil {
			t.Fatalf("cannot hold %s: %v", draft, err)
		}
		if again := form.Draft(vs); string(again) != string(draft) {
			t.Fatalf("%s became %s", draft, again)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		Parse(json.RawMessage(enums))
	}
}
