package spec

import (
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// P6: what a fingerprint hangs on, and what not; and what restarts a server.
func TestFingerprintAndEqual(t *testing.T) {
	command := `{"command": "x", "args": ["a", "b"], "cwd": "/d", "env": {"A": "1", "B": "${secret:S}"}}`
	remote := `{"url": "https://h/mcp?k=v", "headers": {"X-A": "1", "X-B": "2"}}`
	for name, c := range map[string]struct {
		was, is             string
		fingerprint, equals bool
	}{
		"the same":             {command, command, true, true},
		"written otherwise":    {command, `{"env": {"B": "${secret:S}", "A": "1"}, "cwd": "/d", "args": ["a", "b"], /* x */ "command": "x", "x-foo": 1}`, true, true},
		"command":              {command, `{"command": "y", "args": ["a", "b"], "cwd": "/d", "env": {"A": "1", "B": "${secret:S}"}}`, false, false},
		"argument":             {command, `{"command": "x", "args": ["a", "c"], "cwd": "/d", "env": {"A": "1", "B": "${secret:S}"}}`, false, false},
		"arguments joined":     {command, `{"command": "x", "args": ["ab"], "cwd": "/d", "env": {"A": "1", "B": "${secret:S}"}}`, false, false},
		"order of arguments":   {command, `{"command": "x", "args": ["b", "a"], "cwd": "/d", "env": {"A": "1", "B": "${secret:S}"}}`, false, false},
		"argument into cwd":    {`{"command": "x", "args": ["a"]}`, `{"command": "x", "cwd": "a"}`, false, false},
		"directory":            {command, `{"command": "x", "args": ["a", "b"], "cwd": "/e", "env": {"A": "1", "B": "${secret:S}"}}`, false, false},
		"env value":            {command, `{"command": "x", "args": ["a", "b"], "cwd": "/d", "env": {"A": "2", "B": "${secret:S}"}}`, false, false},
		"env name":             {command, `{"command": "x", "args": ["a", "b"], "cwd": "/d", "env": {"C": "1", "B": "${secret:S}"}}`, false, false},
		"another secret":       {command, `{"command": "x", "args": ["a", "b"], "cwd": "/d", "env": {"A": "1", "B": "${secret:T}"}}`, false, false},
		"url":                  {remote, `{"url": "https://h/mcp?k=w", "headers": {"X-A": "1", "X-B": "2"}}`, false, false},
		"header value":         {remote, `{"url": "https://h/mcp?k=v", "headers": {"X-A": "3", "X-B": "2"}}`, false, false},
		"header order, case":   {remote, `{"url": "https://h/mcp?k=v", "headers": {"x-b": "2", "X-a": "1"}}`, true, true},
		"tuning":               {command, `{"command": "x", "args": ["a", "b"], "cwd": "/d", "env": {"A": "1", "B": "${secret:S}"}, "drawbridge": {"callTimeout": "1m"}}`, true, false},
		"switch":               {command, `{"command": "x", "args": ["a", "b"], "cwd": "/d", "env": {"A": "1", "B": "${secret:S}"}, "disabled": true}`, true, false},
		"default era TTL":      {remote, `{"url": "https://h/mcp?k=v", "headers": {"X-A": "1", "X-B": "2"}, "drawbridge": {"eraTtl": "0s"}}`, true, false},
		"absent or empty args": {`{"command": "x"}`, `{"command": "x", "args": [], "env": {}}`, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := valid(t, c.was), valid(t, c.is)
			if (Fingerprint(a) == Fingerprint(b)) != c.fingerprint {
				t.Errorf("fingerprints %s %s", Fingerprint(a), Fingerprint(b))
			}
			if Equal(a, b) != c.equals || Equal(b, a) != c.equals {
				t.Errorf("equal: %v", Equal(a, b))
			}
		})
	}
	if Equal(nil, &Spec{}) || !Equal(nil, nil) {
		t.Error("nil is something")
	}
}

// P6: verdicts and grants are kept across versions of the app, so that the digest
// must never come out differently.
func TestFingerprintIsStable(t *testing.T) {
	s := &Spec{
		Name: "any", Source: Workspace, Type: Stdio, Command: "npx", Args: []string{"-y", "x"}, Dir: "/d",
		Env: []Var{{"B", "2"}, {"A", "1"}}, Tuning: Tuning{Queue: 3, CallTimeout: time.Hour},
	}
	const want = "f47265fe6fe221d29bcbe161cc9b6ce4eda2c68b6d8ee7495634712e5f1eba3d"
	got := Fingerprint(s)
	if got != want || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(got) {
		t.Errorf("got %s", got)
	}
}

// T3, P3, reference 7.1.
func TestPermit(t *testing.T) {
	user := &Spec{Source: User, Type: Stdio, Command: "x", Args: []string{"${A}"}}
	workspace := &Spec{Source: Workspace, Type: HTTP, URL: "https://h/mcp"}
	stdio := &Spec{Source: Workspace, Type: Stdio, Command: "x"}
	nobody := &Spec{Type: Stdio, Command: "x"}
	never := func(Source, string, string) error { t.Error("asked"); return nil }
	if err := Permit(user, never); err != nil {
		t.Errorf("user: %v", err)
	}
	if err := Permit(user, nil); err != nil {
		t.Errorf("user without a gate: %v", err)
	}
	for _, s := range []*Spec{workspace, stdio, nobody} {
		var blocked *BlockedError
		if err := Permit(s, nil); !errors.As(err, &blocked) || blocked.Source != s.Source {
			t.Errorf("without a gate: %v", err)
		}
		asked := ""
		allow := func(source Source, target, fingerprint string) error {
			if source != s.Source || fingerprint != Fingerprint(s) {
				t.Errorf("asked about %s, %s", source, fingerprint)
			}
			asked = target
			return nil
		}
		if err := Permit(s, allow); err != nil || asked != s.Target() {
			t.Errorf("allowed: %v, asked about %q", err, asked)
		}
		refuse := func(Source, string, string) error { return errors.New("h is not on the list") }
		if err := Permit(s, refuse); !errors.As(err, &blocked) || err.Error() != "blocked (source)" {
			t.Errorf("refused: %v", err)
		}
	}
}

// Top25 6 and 21: only servers whose spec changed are restarted.
func TestDiff(t *testing.T) {
	old := mustParse(t, `{"mcpServers": {
		"same": {"command": "x"}, "moved": {"command": "m"}, "edited": {"command": "x"}, "gone": {"command": "x"},
		"off": {"command": "x"}, "breaks": {"command": "x"}, "broken": {"command": ""}, "mended": {}}}`)
	new := mustParse(t, `{"mcpServers": {
		"moved": {"command": "m"}, // a comment
		"new": {"command": "x"},
		"same": {"command": "x", "x-foo": 1}, "edited": {"command": "y"},
		"off": {"command": "x", "disabled": true}, "breaks": {}, "broken": {"command": ""}, "mended": {"command": "x"}}}`)
	want := Changes{Added: []string{"new"}, Removed: []string{"gone"}, Changed: []string{"edited", "off", "breaks", "mended"}}
	if diff := cmp.Diff(want, Diff(old, new)); diff != "" {
		t.Error(diff)
	}
	if !Diff(old, old).Empty() || !Diff(nil, nil).Empty() || Diff(old, nil).Empty() {
		t.Error("emptiness")
	}
}
