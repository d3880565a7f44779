package spec

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "{}", case93, oneServer, "\ufeff" + twoServers, "{\"mcpServers\": {\"a\": {\"comm", "// c", "/* c",
		`{"mcpServers":{"a":{"url":"https://u:p@h/${P:-x}?k=${secret:S}","headers":{"A":"b"},"type":"sse"},"a":{}}}`,
		`{"mcpServers":{"":null,"a":[],"b":{"command":"","env":{"A":1},"drawbridge":{"eraTtl":"-1s","queue":1e9,"disabled":0}}}}`,
		`{"mcpServers":{"\ud800":{"command":"\u0000"}}}`, "{\"a\":1}}", "[[[[", "\xff\xfe",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, source := range []Source{User, Workspace} {
			parsed, err := Parse(file, source)
			if err != nil {
				var syntax *SyntaxError
				if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Column < 1 || syntax.Action == "" {
					t.Fatalf("got %v", err)
				}
				continue
			}
			names := make(map[string]bool)
			for _, e := range parsed.Entries {
				if names[e.Name] || (e.Spec == nil) == (e.Err == nil) || e.Pos.Line < 1 {
					t.Fatalf("entry %v", e)
				}
				names[e.Name] = true
				if e.Spec == nil {
					continue
				}
				if (e.Spec.Command == "") == (e.Spec.URL == "") {
					t.Fatalf("not one of command and url: %v", e.Spec)
				}
				if e.Spec.MaxMessageBytes > HardMaxMessageBytes || source != User && e.Spec.AllowInsecureHTTP {
					t.Fatalf("out of bounds: %+v", e.Spec.Tuning)
				}
			}
		}
		// Whatever can be read can be edited, and whatever cannot is refused.
		edited, err := AddServer(demo)(file)
		if err == nil && mustBeServer(edited, "demo") == nil {
			t.Fatalf("the server is not there\n%s", edited)
		}
	})
}

func mustBeServer(file []byte, name string) *Spec {
	f, err := Parse(file, User)
	if err != nil || f.Find(name) == nil {
		return nil
	}
	return f.Find(name).Spec
}

// FuzzReferences checks that expansion is one pass over text that otherwise stays
// as it is (K1, case 96).
func FuzzReferences(f *testing.F) {
	for _, seed := range []string{
		"", "$5 price", "$$", "${A}", "${env:A}", "${A:-d}", "${secret:S}", "${${A}}", "${A:-${B}}", "${X%.*}", "${",
		"a${A}b${NOPE:-}c${secret:S}", "${input:id}", "${secret:}", "${env:}", "${X:0:3}", "}${A}{", "$${A}",
	} {
		f.Add(seed)
	}
	const value = "${A}${secret:S}$&"
	lookup := func(string) (string, bool) { return value, true }
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parts(text)
		if err != nil {
			if list != nil {
				t.Fatal("parts and an error")
			}
			return
		}
		whole, refs := "", 0
		for _, p := range list {
			if p.kind != literal {
				refs++
				whole += value
				continue
			}
			whole += p.text
		}
		if refs == 0 && whole != text {
			t.Fatalf("%q became %q", text, whole)
		}
		if strings.ContainsRune(text, 0) {
			return
		}
		s := &Spec{Source: User, Type: Stdio, Command: "x", Args: []string{text}}
		r, err := Resolve(context.Background(), s, lookup, &keyring{values: map[string]string{}})
		if err != nil {
			if len(Secrets(s)) == 0 {
				t.Fatal(err)
			}
			return
		}
		if r.Args[0] != whole {
			t.Fatalf("%q became %q, want %q", text, r.Args[0], whole)
		}
	})
}
