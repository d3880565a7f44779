package spec

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// case 93's file: comments, unknown keys everywhere, 4-space indent, order z, a.
const case93 = `{
    // mine
    "inputs": [{"id": "tok"}],
    "mcpServers": {
        "z": {
            "command": "x", /* y */ "args": ["--u", "http://h//p"],
            "alwaysAllow": ["t"],
            "x-foo": 1, // odd
        },
        // "old": {"command": "gone"},
        "a": {"command": "y"},
    },
}
`

// P2, case 93: toggling one server adds or changes one value, and no other byte.
func TestSetDisabled(t *testing.T) {
	for name, c := range map[string]struct {
		file, server string
		off          bool
		old, new     string // what is replaced; old "" means nothing changes
	}{
		"many lines":          {case93, "z", true, "// odd\n", "// odd\n            \"drawbridge\": {\"disabled\": true},\n"},
		"one line":            {case93, "a", true, `{"command": "y"}`, `{"command": "y", "drawbridge": {"disabled": true}}`},
		"already":             {case93, "a", false, "", ""},
		"other's switch":      {`{"mcpServers":{"a":{"command":"x","disabled":true}}}`, "a", false, `"disabled":true`, `"disabled":true, "drawbridge": {"disabled": false}`},
		"ours again":          {`{"mcpServers":{"a":{"command":"x","drawbridge":{"disabled": true /* why */}}}}`, "a", false, `"disabled": true`, `"disabled": false`},
		"ours beside tuning":  {"{\"mcpServers\":{\"a\":{\"command\":\"x\",\"drawbridge\":{\n\t\"queue\": 3\n}}}}", "a", true, "3\n", "3,\n\t\"disabled\": true\n"},
		"ours, empty":         {`{"mcpServers":{"a":{"command":"x","drawbridge":{}}}}`, "a", true, `{}`, `{"disabled": true}`},
		"ours, null":          {`{"mcpServers":{"a":{"command":"x","drawbridge":null}}}`, "a", true, `null`, `{"disabled": true}`},
		"invalid server":      {`{"mcpServers":{"a":{"command":1}}}`, "a", true, `1}`, `1, "drawbridge": {"disabled": true}}`},
		"empty server":        {`{"mcpServers":{"a":{}}}`, "a", true, `{}`, `{"drawbridge": {"disabled": true}}`},
		"CRLF, tabs":          {"{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\r\n\t\t\t\"command\": \"x\" // c\r\n\t\t}\r\n\t}\r\n}", "a", true, "\"x\" // c\r\n", "\"x\", // c\r\n\t\t\t\"drawbridge\": {\"disabled\": true}\r\n"},
		"mark, no final line": {"\ufeff{\"mcpServers\":{\"a\":{\"command\":\"x\"}}} // end", "a", true, `"x"`, `"x", "drawbridge": {"disabled": true}`},
		"name with escapes":   {`{"mcpServers":{"\u00e4\"":{"command":"x"}}}`, "ä\"", true, `"x"`, `"x", "drawbridge": {"disabled": true}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := SetDisabled(c.server, c.off)([]byte(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Replace(c.file, c.old, c.new, 1); string(got) != want {
				t.Error(cmp.Diff(want, string(got)))
			}
			if f := mustParse(t, string(got)); f.Find(c.server).Disabled != c.off {
				t.Error("not switched")
			}
		})
	}
}

// P2, T5: a person's choice about parallel calls is one value of the file.
func TestSetConcurrency(t *testing.T) {
	for name, c := range map[string]struct{ file, old, new string }{
		"no extras": {`{"mcpServers":{"a":{"url":"http://h/" /* u */}}}`, `/* u */`, `, /* u */ "drawbridge": {"concurrency": "pooled"}`},
		"others":    {`{"mcpServers":{"a":{"url":"http://h/","drawbridge":{"queue":3}}}}`, `"queue":3`, `"queue":3, "concurrency": "pooled"`},
		"again":     {`{"mcpServers":{"a":{"url":"http://h/","drawbridge":{"concurrency":"serialized"}}}}`, `"serialized"`, `"pooled"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := SetConcurrency("a", Pooled)([]byte(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Replace(c.file, c.old, c.new, 1); strings.ReplaceAll(string(got), " ", "") != strings.ReplaceAll(want, " ", "") {
				t.Error(cmp.Diff(want, string(got)))
			}
			if s := mustParse(t, string(got)).Find("a").Spec; s.Concurrency != Pooled {
				t.Errorf("it is %q", s.Concurrency)
			}
		})
	}
}

func TestSwitchThereAndBack(t *testing.T) {
	file := []byte(case93)
	for _, off := range []bool{true, false, true} {
		var err error
		if file, err = SetDisabled("z", off)(file); err != nil {
			t.Fatal(err)
		}
	}
	once, _ := SetDisabled("z", true)([]byte(case93))
	if string(file) != string(once) {
		t.Error(cmp.Diff(string(once), string(file)))
	}
}

var demo = &Spec{Name: "demo", Source: User, Type: Stdio, Command: "/opt/drawbridge", Args: []string{"demo", "--stdio"}}

// P2, case 93: a server is added in the manner of the file.
func TestAddServer(t *testing.T) {
	const line = `"demo": {"command": "/opt/drawbridge", "args": ["demo", "--stdio"]}`
	for name, c := range map[string]struct{ file, want string }{
		"no file": {"", `{
  "mcpServers": {
    "demo": {
      "command": "/opt/drawbridge",
      "args": ["demo", "--stdio"]
    }
  }
}
`},
		"comments alone": {"// mine", "// mine\n{\n  \"mcpServers\": {\n    \"demo\": {\n      \"command\": \"/opt/drawbridge\",\n      \"args\": [\"demo\", \"--stdio\"]\n    }\n  }\n}\n"},
		"empty object":   {"{}", "{\n  \"mcpServers\": {\n    \"demo\": {\n      \"command\": \"/opt/drawbridge\",\n      \"args\": [\"demo\", \"--stdio\"]\n    }\n  }\n}"},
		"no servers":     {"{\n\t\"mcpServers\": { }\n}\n", "{\n\t\"mcpServers\": {\n\t\t\"demo\": {\n\t\t\t\"command\": \"/opt/drawbridge\",\n\t\t\t\"args\": [\"demo\", \"--stdio\"]\n\t\t}\n\t}\n}\n"},
		"only comments in it": {
			"{\r\n  \"mcpServers\": {\r\n    // \"old\": {}\r\n  }\r\n}",
			"{\r\n  \"mcpServers\": {\r\n    // \"old\": {}\r\n    \"demo\": {\r\n      \"command\": \"/opt/drawbridge\",\r\n      \"args\": [\"demo\", \"--stdio\"]\r\n    }\r\n  }\r\n}",
		},
		"other keys": {
			"{\n  \"inputs\": [] // none\n}",
			"{\n  \"inputs\": [], // none\n  \"mcpServers\": {\n    \"demo\": {\n      \"command\": \"/opt/drawbridge\",\n      \"args\": [\"demo\", \"--stdio\"]\n    }\n  }\n}",
		},
		"on one line":    {`{"mcpServers":{"a":{"command":"x"}}}`, `{"mcpServers":{"a":{"command":"x"}, ` + line + `}}`},
		"trailing comma": {`{"mcpServers":{"a":{"command":"x"},}}`, `{"mcpServers":{"a":{"command":"x"}, ` + line + `,}}`},
		"case 93": {case93, strings.Replace(case93, "{\"command\": \"y\"},\n",
			"{\"command\": \"y\"},\n        \"demo\": {\n            \"command\": \"/opt/drawbridge\",\n            \"args\": [\"demo\", \"--stdio\"]\n        },\n", 1)},
		"comment after the last": {
			"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"} // last\n    /* end */\n  }\n}",
			"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}, // last\n    /* end */\n    \"demo\": {\n      \"command\": \"/opt/drawbridge\",\n      \"args\": [\"demo\", \"--stdio\"]\n    }\n  }\n}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := AddServer(demo)([]byte(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if f := mustParse(t, string(got)); !Equal(f.Find("demo").Spec, demo) {
				t.Errorf("read back as %v", f.Find("demo"))
			}
		})
	}
}

func TestAddedServerReadsBackWhole(t *testing.T) {
	ttl := time.Duration(0)
	for _, s := range []*Spec{
		{
			Name: "c \"<&>\u2028", Source: User, Type: Stdio, Command: `C:\x`, Args: []string{"", "é", "${A}"}, Dir: "/d", Disabled: true,
			Env: []Var{{"Z", "1\n2"}, {"A", ""}}, Tuning: Tuning{Concurrency: Pooled, PoolSize: 3, CallTimeout: 90 * time.Second, EraTTL: &ttl},
		},
		{
			Name: "u", Source: User, Type: SSE, URL: "http://h/${P}?a=b&c", Headers: []Var{{"A", "Bearer ${secret:T}"}},
			Tuning: Tuning{AllowInsecureHTTP: true, MaxMessageBytes: 1 << 20, Queue: 7, ConnectTimeout: time.Second, HandshakeTimeout: time.Minute, SilenceTimeout: time.Hour},
		},
	} {
		for _, file := range []string{"", case93, `{"mcpServers":{"x":{"command":"x"}}}`} {
			got, err := AddServer(s)([]byte(file))
			if err != nil {
				t.Fatal(err)
			}
			if e := mustParse(t, string(got)).Find(s.Name); e.Err != nil || !Equal(e.Spec, s) {
				t.Errorf("got %v\n%s", e, got)
			}
		}
	}
}

// Case 93: what cannot be edited is left alone, with a reason that can be told.
func TestRefusedEdits(t *testing.T) {
	for name, c := range map[string]struct {
		file   string
		change Change
		want   error
	}{
		"broken, add":       {"{", AddServer(demo), ErrBroken},
		"broken, switch":    {`{"mcpServers": {"a": {"comm`, SetDisabled("a", true), ErrBroken},
		"exists":            {`{"mcpServers": {"demo": {}}}`, AddServer(demo), ErrExists},
		"a list":            {`[]`, AddServer(demo), ErrShape},
		"servers is a list": {`{"mcpServers": []}`, AddServer(demo), ErrShape},
		"servers twice":     {`{"mcpServers": {}, "mcpServers": {}}`, AddServer(demo), ErrBroken},
		"no servers":        {``, SetDisabled("a", true), ErrNoServer},
		"no such server to pool": {
			`{"mcpServers": {"b": {}}}`, SetConcurrency("a", Pooled), ErrNoServer,
		},
		"no such server": {`{"mcpServers": {}}`, SetDisabled("a", true), ErrNoServer},
		"server is no object": {
			`{"mcpServers": {"a": "x"}}`, SetDisabled("a", true), ErrShape,
		},
		"server twice":       {`{"mcpServers": {"a": {}, "a": {}}}`, SetDisabled("a", true), ErrShape},
		"extra is no object": {`{"mcpServers": {"a": {"command": "x", "drawbridge": 1}}}`, SetDisabled("a", true), ErrShape},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.change([]byte(c.file))
			if !errors.Is(err, c.want) || got != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	var invalid *InvalidError
	if _, err := AddServer(&Spec{Name: "n", Source: User, Type: Stdio})(nil); !errors.As(err, &invalid) {
		t.Errorf("an invalid server was added: %v", err)
	}
}
