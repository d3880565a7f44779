package form

import "testing"

func TestHintSaysWhatAFieldTakes(t *testing.T) {
	for property, want := range map[string]string{
		`{"type":"string"}`: "",
		`{"type":"string","minLength":3,"maxLength":50}`:                    "3 to 50 characters",
		`{"type":"string","minLength":0,"maxLength":50}`:                    "at most 50 characters",
		`{"type":"string","minLength":2,"maxLength":2}`:                     "exactly 2 characters",
		`{"type":"string","format":"email"}`:                                "email address",
		`{"type":"string","format":"date"}`:                                 "date, such as 2026-07-28",
		`{"type":"integer","minimum":0,"maximum":100}`:                      "whole number, 0 to 100",
		`{"type":"number","exclusiveMinimum":0}`:                            "number, more than 0",
		`{"type":"number","exclusiveMinimum":0,"maximum":1}`:                "number, more than 0 and at most 1",
		`{"type":"number","multipleOf":0.5}`:                                "number, a multiple of 0.5",
		`{"type":"array","items":{"enum":["a"]},"minItems":1,"maxItems":2}`: "choose 1 to 2",
		`{"type":"array","items":{"type":"string"}}`:                        "JSON array: [ … ]",
		`{"type":"object"}`:                                                 "JSON object: { … }",
		`{"enum":["a"]}`:                                                    "",
		`{"type":["a","b"]}`:                                                "any JSON value",
		`{"type":"boolean"}`:                                                "",
		`{"type":"string","x":1}`:                                           "",
	} {
		if got := one(t, property).Hint(); got != want {
			t.Errorf("%s: %q, want %q", property, got, want)
		}
	}
}
