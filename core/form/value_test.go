package form

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCheckSaysWhatIsWrong(t *testing.T) {
	typed := func(s string) Value { return Typed(s) }
	for _, c := range []struct {
		property string
		v        Value
		want     string // a part of the message, "" for valid
	}{
		{`{"type":"string"}`, Value{}, ""},
		{`{"type":"string","minLength":3}`, typed("ab"), "At least 3"},
		{`{"type":"string","minLength":3}`, typed("äöü"), ""},
		{`{"type":"string","maxLength":2}`, typed("東京都"), "At most 2 characters; these are 3"},
		{`{"type":"string","maxLength":1e30}`, typed("x"), ""},
		{`{"type":"string","minLength":-1}`, typed("x"), ""},
		{`{"type":"string","pattern":"^a+$"}`, typed("b"), "pattern ^a+$"},
		{`{"type":"string","pattern":"(?!x)"}`, typed("b"), ""}, // not RE2: the server's to check
		{`{"type":"string","format":"email"}`, typed("user@example.com"), ""},
		{`{"type":"string","format":"email"}`, typed("user"), "email"},
		{`{"type":"string","format":"email"}`, typed("U <user@example.com>"), "email"},
		{`{"type":"string","format":"uri"}`, typed("https://example.com/x?y"), ""},
		{`{"type":"string","format":"uri"}`, typed("urn:isbn:1"), ""},
		{`{"type":"string","format":"uri"}`, typed("example.com"), "complete address"},
		{`{"type":"string","format":"uri"}`, typed("https://a b"), "complete address"},
		{`{"type":"string","format":"date"}`, typed("2026-02-28"), ""},
		{`{"type":"string","format":"date"}`, typed("2026-02-30"), "date"},
		{`{"type":"string","format":"date-time"}`, typed("2026-07-28T14:30:00.5+02:00"), ""},
		{`{"type":"string","format":"date-time"}`, typed("2026-07-28 14:30"), "zone"},
		{`{"type":"string","format":"colour"}`, typed("x"), ""},
		{`{"type":"number"}`, typed(" 1.5 "), ""},
		{`{"type":"number"}`, typed("1,5"), "Enter a number"},
		{`{"type":"number"}`, typed("NaN"), "Enter a number"},
		{`{"type":"number"}`, typed("0x10"), "Enter a number"},
		{`{"type":"number"}`, typed("1e999999999"), "Enter a number"},
		{`{"type":"integer"}`, typed("1.5"), "whole"},
		{`{"type":"integer"}`, typed("007"), "whole"},
		{`{"type":"integer","maximum":9007199254740992}`, typed("9007199254740993"), "At most 9007199254740992"},
		{`{"type":"integer","minimum":18}`, typed("17"), "At least 18"},
		{`{"type":"number","exclusiveMinimum":0}`, typed("0"), "More than 0"},
		{`{"type":"number","minimum":0,"exclusiveMinimum":true}`, typed("0"), "More than 0"},
		{`{"type":"number","minimum":0,"exclusiveMinimum":false}`, typed("0"), ""},
		{`{"type":"number","minimum":5,"exclusiveMinimum":0}`, typed("1"), "At least 5"},
		{`{"type":"number","exclusiveMaximum":1}`, typed("1.0"), "Less than 1"},
		{`{"type":"number","multipleOf":0.1}`, typed("0.3"), ""},
		{`{"type":"number","multipleOf":0.1}`, typed("0.35"), "multiple of 0.1"},
		{`{"type":"number","multipleOf":0}`, typed("1"), ""},
		{`{"type":"array","minItems":1,"maxItems":2,"items":{"enum":["a","b","c"]}}`, Value{Set: true}, "at least 1"},
		{`{"type":"array","minItems":1,"maxItems":2,"items":{"enum":["a","b","c"]}}`, Value{Set: true, Picks: []int{0, 1, 2}}, "at most 2"},
		{`{"enum":["a"]}`, Value{Set: true, Picks: []int{4}}, "Choose one"},
		{`{"type":"array"}`, typed(`[1]`), ""},
		{`{"type":"array"}`, typed(`{}`), "array"},
		{`{"type":"object"}`, typed(`[]`), "object"},
		{`{"type":"object"}`, typed(`{"a":`), "not finished"},
		{`{}`, typed("{\n \"a\": x}"), "line 2, column 7"},
	} {
		got := one(t, c.property).Check(c.v)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s with %+v: %q, want %q", c.property, c.v, got, c.want)
		}
	}
}

func TestRequiredFieldsMayNotBeLeftOut(t *testing.T) {
	f := Parse(json.RawMessage(`{"type":"object","required":["t","c","b","m","n"],"properties":{
		"t":{"type":"string"},"c":{"enum":["a"]},"b":{"type":"boolean"},"m":{"type":"array","items":{"enum":["a"]}},"n":{"type":"string","default":""}}}`))
	problems, ok := f.Check(f.Defaults())
	want := []string{"This is required.", "Choose one.", "", "", ""}
	for i, p := range problems {
		if p != want[i] {
			t.Errorf("%s: %q, want %q", f.Fields[i].Name, p, want[i])
		}
	}
	if ok {
		t.Error("the form must not be complete")
	}
	if _, err := f.Encode(f.Defaults()); err == nil {
		t.Error("an incomplete form was written")
	}
	if got := string(f.Draft(f.Defaults())); got != `{"b":false,"m":[],"n":""}` {
		t.Errorf("draft is %s", got)
	}
}

func TestEncodeLeavesOutWhatIsEmptyAndKeepsNumbersExact(t *testing.T) {
	f := Parse(json.RawMessage(`{"type":"object","properties":{
		"s":{"type":"string"},"i":{"type":"integer"},"n":{"type":"number"},"b":{"type":"boolean"},"e":{"enum":[1,"<&>"]},
		"m":{"type":"array","items":{"enum":["x","y"]}},"j":{}}}`))
	for _, c := range []struct {
		vs   Values
		want string
	}{
		{Values{{}, {}, {}, {}, {}, {}, {}}, `{}`},
		{
			Values{
				Typed("a<b>\"\n東京都"), Typed("9007199254740993"), Typed(" 0.10 "),
				{Set: true, On: true},
				{Set: true, Picks: []int{1}},
				{Set: true, Picks: []int{1, 0}},
				Typed(" {\"k\": 1.0} "),
			},
			`{"s":"a<b>\"\n東京都","i":9007199254740993,"n":0.10,"b":true,"e":"<&>","m":["y","x"],"j":{"k": 1.0}}`,
		},
		{Values{{Set: true}, Typed("1e3"), Typed("1e3"), {Set: true}, {Set: true, Picks: []int{0}}, {Set: true}, {}}, `{"s":"","i":1000,"n":1e3,"b":false,"e":1,"m":[]}`},
		{Values{{}, Typed("-0"), {}, {}, {}, {}, {}}, `{"i":0}`},
	} {
		got, err := f.Encode(c.vs)
		if err != nil || string(got) != c.want {
			t.Errorf("got %s, %v; want %s", got, err, c.want)
		}
	}
}

func TestDecodeTakesAllOrNothing(t *testing.T) {
	f := Parse(json.RawMessage(enums))
	for _, c := range []struct{ raw, problem string }{
		{`{"lang":"de","tags":["#0F0","#F00"]}`, ""},
		{`{}`, ""},
		{`{"lang":"fr"}`, "does not offer"},
		{`{"tags":["#F00","#F00"]}`, "does not offer"},
		{`{"tags":"#F00"}`, "list of choices"},
		{`{"tags":null}`, "list of choices"},
		{`{"other":1}`, "not a field"},
		{`[]`, "JSON object"},
		{``, "nothing here"},
		{`{"lang":}`, "line 1, column 9"},
	} {
		vs, err := f.Decode(json.RawMessage(c.raw))
		if c.problem == "" {
			if err != nil || string(f.Draft(vs)) != c.raw {
				t.Errorf("%s: %v, %s", c.raw, err, f.Draft(vs))
			}
		} else if err == nil || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %q", c.raw, err, c.problem)
		}
	}
}

func TestLooksSecret(t *testing.T) {
	for s, want := range map[string]bool{
		"password": true, "db_password": true, "dbPassword": true, "PASSWORD": true, "apiKey": true, "API key": true, "api-key": true,
		"APIKey": true, "Access token": true, "GITHUB_TOKEN": true, "pin": true, "cardNumber": true, "secretKey": true, "client_secret": true,
		"name": false, "max_tokens": false, "tokenizer": false, "spinner": false, "keyboard": false, "key": false, "secretary": false,
		"description": false, "": false,
	} {
		if got := LooksSecret(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
	if !one(t, `{"type":"string","description":"Enter your password, please"}`).Secret || !one(t, `{"type":"string","format":"password"}`).Secret {
		t.Error("a description or format that asks for a password must be noticed")
	}
	if one(t, `{"type":"string","description":"a page token from before"}`).Secret {
		t.Error("a page token is no secret")
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"lang":"de","tags":["#0F0"]}`, `{"i":1e400,"j":[1,{"a":null}]}`, `{"n":-0.0}`, `{"x":1}`, `[`} {
		f.Add([]byte(s))
	}
	form := Parse(json.RawMessage(`{"type":"object","properties":{"lang":{"enum":["en","de"]},"tags":{"type":"array","items":{"enum":["#F00","#0F0"]}},
		"i":{"type":"integer"},"n":{"type":"number"},"s":{"type":"string"},"b":{"type":"boolean"},"j":{}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		vs, err := form.Decode(raw)
		if err != nil {
			return
		}
		out, err := form.Encode(vs)
		if err != nil {
			return // a number out of all proportion
		}
		again, err := form.Decode(out)
		if err != nil {
			t.Fatalf("%s became %s, which does not fit: %v", raw, out, err)
		}
		if twice, _ := form.Encode(again); string(twice) != string(out) {
			t.Fatalf("%s became %s", out, twice)
		}
	})
}
