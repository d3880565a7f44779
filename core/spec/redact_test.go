package spec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
)

// case 83's inputs, all in one spec that is refused, and in its two halves.
const (
	leakyCommand = `"command": "npx --token=T0K", "args": ["--token=T0K", "T0K"], "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_S3CRET"}`
	leakyURL     = `"url": "https://us3r:p4ss@h.example/mcp?api_key=Q77#fr4g", "headers": {"X-Api-Key": "K3Y"}`
)

var leaks = []string{"T0K", "ghp_S3CRET", "us3r", "p4ss", "Q77", "fr4g", "K3Y"}

func leaked(s string) string {
	for _, l := range leaks {
		if strings.Contains(s, l) {
			return l
		}
	}
	return ""
}

// spell gives every text that a value can become by accident.
func spell(t *testing.T, v any) []string {
	t.Helper()
	var all []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T%v"} {
		if verb == "%T%v" {
			all = append(all, fmt.Sprintf(verb, v, v))
			continue
		}
		all = append(all, fmt.Sprintf(verb, v))
	}
	all = append(all, fmt.Sprint(v), fmt.Sprintln([]any{v}), fmt.Sprintf("%v", map[string]any{"k": v}))
	for _, marshal := range []func(any) ([]byte, error){
		json.Marshal, func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
	} {
		b, err := marshal(v)
		if err != nil {
			t.Errorf("marshal: %v", err)
		}
		all = append(all, string(b))
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "v", v, slog.Group("g", slog.Any("w", v)))
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "v", v)
	return append(all, log.String())
}

// P5, acceptance 96–99, case 83: names and counts, never values, in whatever way a
// spec becomes text.
func TestNothingSpellsValues(t *testing.T) {
	command, remote := valid(t, "{"+leakyCommand+"}"), valid(t, "{"+leakyURL+"}")
	invalid := one(t, "{"+leakyCommand+","+leakyURL+"}")
	resolved := func(s *Spec) *Resolved {
		r, err := Resolve(context.Background(), s, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, v := range map[string]any{
		"spec": command, "spec by value": *command, "remote": remote, "remote by value": *remote,
		"resolved": resolved(command), "resolved by value": *resolved(remote),
		"var": remote.Headers[0], "vars": command.Env, "nested": struct{ S *Spec }{remote}, "slice": []*Spec{command, remote},
		"file": mustParse(t, `{"mcpServers": {"s": {`+leakyURL+`}}}`), "entry": one(t, "{"+leakyCommand+"}"),
		"error": invalid.Err, "invalid": invalid, "redacted": remote.Redact(),
	} {
		for _, s := range spell(t, v) {
			if l := leaked(s); l != "" {
				t.Errorf("%s: %s in %s", name, l, s)
			}
		}
	}
}

// A pointer in an unexported field, where fmt cannot call methods, is an address.
func TestPointersInOtherStructsSpellNothing(t *testing.T) {
	s := valid(t, "{"+leakyURL+"}")
	r, err := Resolve(context.Background(), s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := struct {
		spec     *Spec
		resolved *Resolved
		entries  []*Entry
	}{s, r, []*Entry{one(t, "{"+leakyURL+"}")}}
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		if text := fmt.Sprintf(verb, v); leaked(text) != "" {
			t.Errorf("%s: %s", verb, text)
		}
	}
}

// Acceptance 96 and 99: the refused spec is echoed, with the header's name and
// "[redacted]" in its value's place.
func TestRefusedSpecIsEchoedRedacted(t *testing.T) {
	err := one(t, "{"+leakyCommand+","+leakyURL+`,"cwd":"/srv"}`).Err
	want := `invalid spec: both command and url are set: {"name":"s","source":"user","command":"npx [redacted]",` +
		`"args":["[redacted]","[redacted]"],"env":{"GITHUB_PERSONAL_ACCESS_TOKEN":"[redacted]"},"cwd":"/srv",` +
		`"url":"https://h.example/mcp","headers":{"X-Api-Key":"[redacted]"}}`
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

func TestRedactURL(t *testing.T) {
	for raw, want := range map[string]string{
		"https://h.example/s/a1B2c3D4e5F6g7H8i9/mcp": "https://h.example/s/[redacted]/mcp",
		"https://h.example/modelcontextprotocol/mcp": "https://h.example/modelcontextprotocol/mcp",
		"":                                "",
		"https://h":                       "https://h",
		"http://h:8080/a/b?k=v":           "http://h:8080/a/b",
		"https://h?k=v":                   "https://h",
		"https://h#f?k":                   "https://h",
		"https://u@h/x":                   "https://h/x",
		"https://u:p@h/x":                 "https://h/x",
		"https://u:p%40q@h/x":             "https://h/x",
		"https://u:p@[::1]:80/x":          "https://[::1]:80/x",
		"https://u:p/q@h/x":               "[redacted]",
		"h/mcp?api_key=Q":                 "[redacted]",
		"user:pass@h/x":                   "[redacted]",
		"https:u:p@h":                     "[redacted]",
		"https://${HOST}/${P}?k=${K}":     "https://${HOST}/${P}",
		"https://${env:U}:${secret:P}@h/": "https://h/",
		"https://h/${P:-def?ault}?k=v":    "https://h/${P}",
		"https://${U:-a/b}@h/x":           "https://h/x",
		"https://h/${a@b}/c?k":            "[redacted]",
		"${BASE}/mcp?k=v":                 "[redacted]",
		"\x7f":                            "[redacted]",
	} {
		if got := RedactURL(raw); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}

func TestRedactedIsBounded(t *testing.T) {
	s := Spec{Command: strings.Repeat("c", 5000), Args: make([]string, 5000)}
	for i := range 5000 {
		s.Env = append(s.Env, Var{fmt.Sprintf("%0200d", i), "v"})
	}
	if n := len(s.String()); n > 8<<10 {
		t.Errorf("%d bytes", n)
	}
	var back map[string]any
	if err := json.Unmarshal([]byte(s.String()), &back); err != nil {
		t.Error(err)
	}
}

func TestEmptyResolvedPrints(t *testing.T) {
	if got := fmt.Sprint(Resolved{}); got != "{}" {
		t.Error(got)
	}
	var invalid *InvalidError
	if err := error(one(t, `{}`).Err); !errors.As(err, &invalid) || invalid.Spec.Name != "s" {
		t.Errorf("got %v", err)
	}
}
