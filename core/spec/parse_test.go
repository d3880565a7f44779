package spec

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// plain is a Spec without methods, so that a failing comparison shows its fields.
type plain Spec

func mustParse(t *testing.T, file string) *File {
	t.Helper()
	f, err := Parse([]byte(file), User)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return f
}

// one parses a file that holds the server "s" alone.
func one(t *testing.T, entry string) *Entry {
	t.Helper()
	f := mustParse(t, `{"mcpServers": {"s": `+entry+`}}`)
	if len(f.Entries) != 1 {
		t.Fatalf("%d entries", len(f.Entries))
	}
	return f.Entries[0]
}

func valid(t *testing.T, entry string) *Spec {
	t.Helper()
	e := one(t, entry)
	if e.Err != nil {
		t.Fatalf("unexpected: %v", e.Err)
	}
	return e.Spec
}

// P2, case 92, top25 21: comments, trailing commas and // inside a string.
func TestCommentsAndTrailingCommas(t *testing.T) {
	f := mustParse(t, "{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\"command\":\"x\", /* y */ \"args\":[\"--u\",\"http://h//p\"],},\n  },\n}")
	want := plain{Name: "a", Source: User, Type: Stdio, Command: "x", Args: []string{"--u", "http://h//p"}}
	if diff := cmp.Diff(want, plain(*f.Entries[0].Spec)); diff != "" {
		t.Error(diff)
	}
	if got, want := f.Entries[0].Pos, (Pos{4, 5}); got != want {
		t.Errorf("position %v, want %v", got, want)
	}
}

func TestEverythingAServerCanSay(t *testing.T) {
	got := valid(t, `{
		"type": "stdio", "command": "npx", "args": ["-y", "x"], "cwd": "/srv",
		"env": {"Z": "1", "A": "2"}, "disabled": true,
		"drawbridge": {
			"connectTimeout": "3s", "handshakeTimeout": "2m", "silenceTimeout": "1m30s", "callTimeout": "1h",
			"maxMessageBytes": 1048576, "queue": 5, "poolSize": 3, "concurrency": "pooled", "eraTtl": "0s"
		}
	}`)
	zero := time.Duration(0)
	want := plain{
		Name: "s", Source: User, Type: Stdio, Command: "npx", Args: []string{"-y", "x"}, Dir: "/srv",
		Env: []Var{{"Z", "1"}, {"A", "2"}}, Disabled: true,
		Tuning: Tuning{
			ConnectTimeout: 3 * time.Second, HandshakeTimeout: 2 * time.Minute, SilenceTimeout: 90 * time.Second,
			CallTimeout: time.Hour, MaxMessageBytes: 1 << 20, Queue: 5, PoolSize: 3, Concurrency: Pooled, EraTTL: &zero,
		},
	}
	if diff := cmp.Diff(want, plain(*got)); diff != "" {
		t.Error(diff)
	}

	remote := valid(t, `{"url": "https://h/mcp", "headers": {"B": "1", "a": "2"}, "drawbridge": {"allowInsecureHttp": true}}`)
	if remote.Type != HTTP || !remote.AllowInsecureHTTP {
		t.Errorf("got %+v", plain(*remote))
	}
	if diff := cmp.Diff([]Var{{"B", "1"}, {"a", "2"}}, remote.Headers, cmp.Transformer("plain", func(v Var) [2]string { return [2]string{v.Name, v.Value} })); diff != "" {
		t.Error(diff)
	}
}

func TestTypeWordsOfAllPrograms(t *testing.T) {
	for entry, want := range map[string]Type{
		`{"command": "x"}`:                                   Stdio,
		`{"command": "x", "type": "local"}`:                  Stdio,
		`{"command": "x", "url": null}`:                      Stdio,
		`{"url": "http://h"}`:                                HTTP,
		`{"url": "http://h", "type": "http"}`:                HTTP,
		`{"url": "http://h", "type": "streamable-http"}`:     HTTP,
		`{"url": "http://h", "type": "streamableHttp"}`:      HTTP,
		`{"url": "http://h", "type": "sse", "command":null}`: SSE,
	} {
		if got := valid(t, entry).Type; got != want {
			t.Errorf("%s: %s, want %s", entry, got, want)
		}
	}
}

// P1, acceptance 96–98: an entry that cannot be used says so in one sentence with
// one action, and its neighbours are not concerned. The map of JSON is the only
// form a spec has, so that 98 (map or keyword list) has no other side.
func TestInvalidEntries(t *testing.T) {
	cases := map[string]struct{ entry, sentence, action string }{
		"both (acceptance 96)":    {`{"command": "x", "url": "https://h"}`, "both command and url are set", "remove one of the two"},
		"neither (acceptance 97)": {`{"args": []}`, "neither command nor url is set", "add a command or a url"},
		"empty command":           {`{"command": ""}`, "command is empty", "name the program to start"},
		"empty url and command":   {`{"command": "x", "url": ""}`, "both command and url are set", "remove one of the two"},
		"empty url":               {`{"url": ""}`, "url is empty", "give the server's address"},
		"not an object":           {`"npx"`, "a server must be an object, not a text", `write {"command": "…"} or {"url": "…"}`},
		"null":                    {`null`, "a server must be an object, not null", `write {"command": "…"} or {"url": "…"}`},
		"command is a list":       {`{"command": ["npx"]}`, "command must be a text, not a list", "put the value in double quotes"},
		"args is a text":          {`{"command": "x", "args": "a b"}`, "args must be a list, not a text", `write a list such as ["a", "b"]`},
		"number in args":          {`{"command": "x", "args": ["--port", 80]}`, "args[1] must be a text, not a number", "put the value in double quotes"},
		"number in env":           {`{"command": "x", "env": {"PORT": 80}}`, "env.PORT must be a text, not a number", "put the value in double quotes"},
		"env is a list":           {`{"command": "x", "env": ["A=1"]}`, "env must be an object, not a list", `write an object such as {"NAME": "value"}`},
		"env name":                {`{"command": "x", "env": {"A=B": "1"}}`, `env has a variable that cannot be named "A=B"`, "correct the name"},
		"env twice":               {`{"command": "x", "env": {"A": "1", "A": "2"}}`, "env.A is set twice", "remove one of the two"},
		"header twice":            {`{"url": "https://h", "headers": {"X-A": "1", "x-a": "2"}}`, "headers.x-a is set twice", "remove one of the two"},
		"header name":             {`{"url": "https://h", "headers": {"X A": "1"}}`, `"X A" cannot be the name of a header`, "correct the name"},
		"header value":            {`{"url": "https://h", "headers": {"X": "a\nb"}}`, "headers.X cannot be sent", "remove line breaks and control characters"},
		"zero byte":               {`{"command": "x", "args": ["a\u0000b"]}`, "args[0] holds a zero byte", `remove the \u0000`},
		"key twice":               {`{"command": "x", "command": "y"}`, `"command" stands twice`, "remove one of the two"},
		"extra is no object":      {`{"command": "x", "drawbridge": true}`, `"drawbridge" must be an object, not true or false`, `write an object such as {"callTimeout": "5m"}`},
		"url without scheme":      {`{"url": "h:8080/mcp"}`, "url must begin with http:// or https://", "write https:// and the server's address"},
		"url without host":        {`{"url": "https:///mcp"}`, "url has no host", "write https:// and the server's address"},
		"url of a file":           {`{"url": "file:///etc/passwd"}`, "url must begin with http:// or https://", "write https:// and the server's address"},
		"unknown type":            {`{"url": "https://h", "type": "ws"}`, `type "ws" is not known`, `use "stdio", "http" or "sse", or remove "type"`},
		"type against url":        {`{"url": "https://h", "type": "stdio"}`, `type says "stdio" but there is a url`, `remove "type"`},
		"type against command":    {`{"command": "x", "type": "sse"}`, `type says "sse" but there is a command`, `remove "type"`},
		"misnamed url":            {`{"serverUrl": "https://h"}`, "neither command nor url is set", `rename "serverUrl" to "url"`},
		"misnamed command":        {`{"comand": "x"}`, "neither command nor url is set", `rename "comand" to "command"`},
		"foreign reference":       {`{"command": "x", "env": {"T": "${input:tok}"}}`, "env.T: references of the kind ${input:…} are not known", "use ${secret:NAME}, ${env:NAME}, ${NAME} or ${NAME:-default}"},
		"secret without a name":   {`{"command": "x", "env": {"T": "${secret:a b}"}}`, "env.T: ${secret:…} holds no name of a secret", "use ${secret:NAME}, ${env:NAME}, ${NAME} or ${NAME:-default}"},
		"nested default":          {`{"command": "x", "args": ["${A:-${B}}"]}`, "args[0]: the default of ${A} holds another reference, or is not closed", "use ${secret:NAME}, ${env:NAME}, ${NAME} or ${NAME:-default}"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := mustParse(t, "{\"mcpServers\": {\n\"good\": {\"command\": \"a\"},\n\"bad\": "+c.entry+",\n\"fine\": {\"url\": \"https://h\"}}}")
			if len(f.Entries) != 3 || f.Entries[0].Err != nil || f.Entries[2].Err != nil {
				t.Fatalf("the neighbours suffer: %v", f.Entries)
			}
			bad := f.Entries[1]
			if bad.Spec != nil || bad.Err == nil {
				t.Fatalf("accepted: %v", bad.Spec)
			}
			if bad.Err.Sentence != c.sentence || bad.Err.Action != c.action {
				t.Errorf("said %q, do %q", bad.Err.Sentence, bad.Err.Action)
			}
			if bad.Err.Line != 3 {
				t.Errorf("at %v", bad.Err.Pos)
			}
			if !strings.Contains(bad.Err.Error(), `"name":"bad"`) {
				t.Errorf("the spec is not echoed: %v", bad.Err)
			}
		})
	}
}

func TestNames(t *testing.T) {
	f := mustParse(t, `{"mcpServers": {"": {"command": "x"}, "`+strings.Repeat("n", maxName+1)+`": {"command": "x"}, "näme / with 😀": {"command": "x"}}}`)
	for i, want := range []string{"a server has an empty name", "the name is longer than 128 bytes"} {
		if f.Entries[i].Err == nil || f.Entries[i].Err.Sentence != want {
			t.Errorf("%d: %v", i, f.Entries[i].Err)
		}
	}
	if f.Entries[2].Err != nil {
		t.Error(f.Entries[2].Err)
	}
}

func TestANameUsedTwiceIsNeither(t *testing.T) {
	f := mustParse(t, "{\"mcpServers\": {\n  \"a\": {\"command\": \"x\"},\n  \"b\": {\"command\": \"x\"},\n  \"a\": {\"command\": \"y\"}\n}}")
	if len(f.Entries) != 2 {
		t.Fatalf("%d entries", len(f.Entries))
	}
	a := f.Find("a")
	if a.Spec != nil || a.Err == nil || a.Err.Sentence != `the name "a" is used twice, at 2:3 and 4:3` {
		t.Errorf("got %v %v", a.Spec, a.Err)
	}
	if f.Find("b").Err != nil {
		t.Error("a neighbour suffers")
	}
	if f.Find("c") != nil {
		t.Error("found what is not there")
	}
}

// The entry's own "disabled" is other programs'; ours wins over it.
func TestDisabled(t *testing.T) {
	for entry, want := range map[string]bool{
		`{"command": "x"}`:                                                        false,
		`{"command": "x", "disabled": true}`:                                      true,
		`{"command": "x", "disabled": "no"}`:                                      false,
		`{"command": "x", "drawbridge": {"disabled": true}}`:                      true,
		`{"command": "x", "disabled": true, "drawbridge": {"disabled": false}}`:   false,
		`{"command": "x", "disabled": false, "drawbridge": {"disabled": true}}`:   true,
		`{"command": "x", "disabled": true, "drawbridge": {"disabled": "maybe"}}`: true,
	} {
		if e := one(t, entry); e.Disabled != want || e.Spec.Disabled != want {
			t.Errorf("%s: %v", entry, e.Disabled)
		}
	}
	if e := one(t, `{"disabled": true}`); e.Err == nil || !e.Disabled {
		t.Error("an invalid server that is off is not known to be off")
	}
}

// P2: unknown keys are no errors, and near misses say what was meant.
func TestNotes(t *testing.T) {
	f := mustParse(t, `{
  "$schema": "x", "inputs": [], "mcpservers": {},
  "mcpServers": {
    "s": {
      "command": "x",
      "alwaysAllow": ["t"],
      "x-foo": 1,
      "cmd": "y",
      "callTimeout": "1m",
      "headers": {"A": "b"},
      "args": ["--t=${secret:T}", "${X%.*}"],
      "drawbridge": {"calltimeout": "1m", "queue": "many", "poolSize": 1000, "maxMessageBytes": 99999999999,
        "eraTtl": 5, "connectTimeout": "0s", "concurrency": "parallel", "prices": {}}
    }
  }
}`)
	want := []string{
		`"inputs" is not read by Drawbridge (line 2)`,
		`"mcpservers" is not read by Drawbridge; did you mean "mcpServers"? (line 2)`,
	}
	if diff := cmp.Diff(want, texts(f.Notes)); diff != "" {
		t.Error(diff)
	}
	e := f.Entries[0]
	if e.Err != nil {
		t.Fatal(e.Err)
	}
	want = []string{
		`"alwaysAllow" is not read by Drawbridge (line 6)`,
		`"x-foo" is not read by Drawbridge (line 7)`,
		`"cmd" is not read by Drawbridge; did you mean "command"? (line 8)`,
		`"callTimeout" is not read here; it belongs into "drawbridge" (line 9)`,
		`"drawbridge.calltimeout" is not known to Drawbridge; did you mean "callTimeout"? (line 12)`,
		`"queue" must be a whole number; the default is used (line 12)`,
		`"poolSize" is out of bounds; 64 is used (line 12)`,
		`"maxMessageBytes" is out of bounds; 67108864 is used (line 12)`,
		`"eraTtl" must be a duration such as "30s"; the default is used (line 13)`,
		`"connectTimeout" is out of bounds; 10ms is used (line 13)`,
		`"concurrency" must be "stateless", "pooled" or "serialized"; the default is used (line 13)`,
		`"drawbridge.prices" is not known to Drawbridge (line 13)`,
		`"headers" has no effect on a server of type stdio (line 4)`,
		`secret T in args[0] is visible in the list of processes; env hides it (line 4)`,
		`args[1] holds ${ that begins no reference; it is passed on as it is (line 4)`,
	}
	if diff := cmp.Diff(want, texts(e.Notes)); diff != "" {
		t.Error(diff)
	}
	// T8: nothing gets past the hard top.
	if e.Spec.MaxMessageBytes != HardMaxMessageBytes || e.Spec.Queue != 0 || e.Spec.EraTTL != nil {
		t.Errorf("tuning %+v", e.Spec.Tuning)
	}
}

func texts(notes []Note) []string {
	var list []string
	for _, n := range notes {
		list = append(list, n.String())
	}
	return list
}

func TestNotesAreBounded(t *testing.T) {
	var keys strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&keys, `"k%d": 1,`, i)
	}
	if n := len(one(t, `{`+keys.String()+`"command": "x"}`).Notes); n != maxNotes+1 {
		t.Errorf("%d notes", n)
	}
}

// P3: a workspace file cannot open plain http for itself.
func TestWorkspaceCannotAllowInsecureHTTP(t *testing.T) {
	f, err := Parse([]byte(`{"mcpServers": {"s": {"url": "http://h", "drawbridge": {"allowInsecureHttp": true}}}}`), Workspace)
	if err != nil || f.Entries[0].Err != nil {
		t.Fatal(err, f.Entries[0].Err)
	}
	if e := f.Entries[0]; e.Spec.AllowInsecureHTTP || len(e.Notes) != 1 {
		t.Errorf("allowed %v, notes %v", e.Spec.AllowInsecureHTTP, e.Notes)
	}
}

// P4: the row shows an opt-in to plain http.
func TestInsecureHTTPIsNoted(t *testing.T) {
	e := one(t, `{"url": "http://h", "drawbridge": {"allowInsecureHttp": true}}`)
	if !e.Spec.AllowInsecureHTTP || len(e.Notes) != 1 || e.Notes[0].Text != "plain http is allowed to any address" {
		t.Errorf("notes %v", e.Notes)
	}
}

func TestFilesWithoutServers(t *testing.T) {
	for file, blank := range map[string]bool{
		"": true, " \r\n": true, "// nothing yet": true, "/* a */\n// b\n": true, "\ufeff": true,
		"{}": false, `{"other": 1}`: false, `{"mcpServers": {}}`: false, "{} // end": false,
	} {
		f := mustParse(t, file)
		if len(f.Entries) != 0 || f.Blank != blank {
			t.Errorf("%q: %d entries, blank %v", file, len(f.Entries), f.Blank)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	if f, err := Load(filepath.Join(dir, "no", "such", "file"), User); err != nil || !f.Missing || len(f.Entries) != 0 {
		t.Errorf("missing: %v, %v", f, err)
	}
	if _, err := Load(dir, User); err == nil {
		t.Error("a directory was read")
	}
	path := filepath.Join(dir, "servers.json")
	write(t, path, "\ufeff{\r\n\"mcpServers\": {\r\n\"a\": {\"command\": \"x\"}}}\r\n")
	f, err := Load(path, User)
	if err != nil || f.Find("a") == nil || f.Find("a").Pos != (Pos{3, 1}) {
		t.Errorf("byte order mark and CRLF: %v, %v", f, err)
	}
	write(t, path, strings.Repeat(" ", MaxFile)+"{}")
	if _, err := Load(path, User); err == nil || !strings.Contains(err.Error(), "larger than 4 MiB") {
		t.Errorf("big: %v", err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDefaultPath(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"XDG_CONFIG_HOME", "AppData", "HOME"} {
		t.Setenv(name, dir)
	}
	path, err := DefaultPath()
	if err != nil || filepath.Base(path) != "servers.json" || !strings.HasPrefix(path, dir) {
		t.Errorf("%s, %v", path, err)
	}
}

// The same for text that looks like the beginnings of very many references.
func TestManyBracesAreReadQuickly(t *testing.T) {
	for _, text := range []string{strings.Repeat("${", 1<<17), strings.Repeat("${", 1<<17) + "}", strings.Repeat("${a", 1<<17), strings.Repeat("}", 1<<17)} {
		began := time.Now()
		s := valid(t, `{"command": "x", "args": ["`+text+`"]}`)
		r, err := Resolve(t.Context(), s, nil, nil)
		if took := time.Since(began); err != nil || r.Args[0] != text || took > 20*time.Second {
			t.Errorf("%.8s…: %v after %v", text, err, took)
		}
	}
}

// A hostile workspace file costs time in proportion to its size.
func TestManyServersAreReadQuickly(t *testing.T) {
	var b strings.Builder
	for i := range maxServers {
		fmt.Fprintf(&b, `"server-%d":{"comand":1,"x":%q},`, i, strings.Repeat("y", 500))
	}
	began := time.Now()
	f := mustParse(t, `{"mcpServers":{`+b.String()+`}}`)
	if len(f.Entries) != maxServers || time.Since(began) > 20*time.Second {
		t.Errorf("%d entries after %v", len(f.Entries), time.Since(began))
	}
	_, err := Parse([]byte(`{"mcpServers":{`+b.String()+`"more": {}}}`), User)
	if err == nil || !strings.Contains(err.Error(), "more than 5000 servers") {
		t.Errorf("got %v", err)
	}
}
