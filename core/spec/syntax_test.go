package spec

import (
	"errors"
	"strings"
	"testing"
)

// P2, case 92: a broken file says line and column, and what to do.
func TestSyntaxErrors(t *testing.T) {
	cases := map[string]struct {
		file, sentence string
		pos            Pos
	}{
		"missing comma":       {"{\n  \"mcpServers\": {\n    \"a\": {}\n    \"b\": {}\n}}", "a comma or a closing bracket is missing", Pos{4, 5}},
		"after wide letters":  {"{\"äöü😀\" 1}", "a colon is missing after a name", Pos{1, 9}},
		"after a mark":        {"\ufeff{\"a\" 1}", "a colon is missing after a name", Pos{1, 6}},
		"half written":        {"{\"mcpServers\": {\"a\": {\"comm", "the file ends in the middle of a value", Pos{1, 28}},
		"open object":         {"{\"mcpServers\": {", "the file ends in the middle of a value", Pos{1, 17}},
		"open comment":        {"{ /* no end", "the file ends in the middle of a value", Pos{1, 3}},
		"bare name":           {"{\n mcpServers: {}}", "a value was expected here", Pos{2, 2}},
		"single quotes":       {"{'a': 1}", "a text is in single quotes", Pos{1, 2}},
		"number as name":      {"{1: 1}", "a name must be in double quotes", Pos{1, 2}},
		"python":              {"{\"a\": None}", "a value was expected here", Pos{1, 7}},
		"two values":          {"{}\n{}", "something follows the end of the JSON object", Pos{2, 1}},
		"bad escape":          {"{\"a\": \"C:\\Users\"}", "a text is not a valid JSON string", Pos{1, 7}},
		"two commas":          {"{\"a\": 1,,}", "a value was expected here", Pos{1, 9}},
		"a list":              {"[]", "the file must hold an object, not a list", Pos{1, 1}},
		"servers is a list":   {"{\"mcpServers\": []}", `"mcpServers" must be an object, not a list`, Pos{1, 16}},
		"servers stand twice": {"{\"mcpServers\": {},\n\"mcpServers\": {}}", `"mcpServers" stands twice in the file, first at 1:16`, Pos{2, 1}},
		"UTF-16":              {"\xff\xfe{\x00}\x00", "the file is UTF-16", Pos{1, 1}},
		"Latin-1":             {"{\n\"\xe4\": 1}", "the text is not UTF-8", Pos{2, 2}},
		"too deep":            {strings.Repeat("[", 3_000_000), "nested more than 200 deep", Pos{1, 201}},
		"deep in a comment":   {"{} // " + strings.Repeat("[", 300) + "\n/*" + strings.Repeat("{", 300) + "*/ 1", "something follows the end of the JSON object", Pos{2, 306}},
		"deep in a string":    {"{\"\\\"" + strings.Repeat("[", 300) + "\" 1}", "a colon is missing after a name", Pos{1, 307}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.file), User)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("got %v", err)
			}
			if syntax.Sentence != c.sentence || syntax.Pos != c.pos {
				t.Errorf("said %q at %v", syntax.Sentence, syntax.Pos)
			}
			if syntax.Action == "" {
				t.Error("nothing to do about it")
			}
		})
	}
}

// P5: the parser below quotes what it could not read; we do not.
func TestSyntaxErrorsQuoteNothing(t *testing.T) {
	for _, file := range []string{
		`{"mcpServers": {"a": {"command": "x", "env": {"T": ghp_S3CRET}}}}`,
		`{"mcpServers": {"a": {"command": "x", "env": {"T": "ghp_S3CRET\q"}}}}`,
		`{"mcpServers": {"a": {"command": "x", "env": {"T": "ghp_S3CRET`,
		`{"mcpServers": {"a": {"command": "x", "env": {"T": "x" ghp_S3CRET}}}}`,
	} {
		_, err := Parse([]byte(file), User)
		if err == nil || strings.Contains(err.Error(), "S3CRET") {
			t.Errorf("%s: %v", file, err)
		}
	}
}
