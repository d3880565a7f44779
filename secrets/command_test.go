package secrets

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

type result struct {
	code   int
	stdout string
	stderr string
}

func run(ctx context.Context, s Store, stdin string, args ...string) result {
	var out, errs strings.Builder
	code := Command(ctx, s, args, strings.NewReader(stdin), &out, &errs)
	return result{code, out.String(), errs.String()}
}

func TestCommandSetTakesTheValueFromStdin(t *testing.T) {
	for name, tt := range map[string]struct {
		in, want string
		note     bool
	}{
		"plain":              {"t0ken", "t0ken", false},
		"one line end":       {"t0ken\n", "t0ken", false},
		"windows line end":   {"t0ken\r\n", "t0ken", false},
		"two line ends":      {"t0ken\n\n", "t0ken\n", true},
		"spaces":             {" t0ken \n", " t0ken ", true},
		"several lines":      {"a\nb\n", "a\nb", false},
		"bytes":              {"\xff\x00\n", "\xff\x00", false},
		"as long as allowed": {token(MaxValue) + "\r\n", token(MaxValue), false},
	} {
		t.Run(name, func(t *testing.T) {
			var m Memory
			r := run(t.Context(), &m, tt.in, "set", "TOKEN")
			if r.code != 0 || r.stdout != "" {
				t.Errorf("%+v", r)
			}
			wantValue(t, &m, "TOKEN", tt.want)
			if noted := strings.Contains(r.stderr, "white space"); noted != tt.note {
				t.Errorf("stderr %q", r.stderr)
			}
			if strings.Contains(r.stderr, "t0ken") || !strings.Contains(r.stderr, "${secret:TOKEN}") {
				t.Errorf("stderr %q", r.stderr)
			}
		})
	}
}

// K5: a value among the arguments is refused, and not repeated.
func TestCommandRefusesWithAHint(t *testing.T) {
	for name, tt := range map[string]struct {
		stdin string
		args  []string
		code  int
		says  string
	}{
		"nothing":           {"", nil, 2, "Usage:"},
		"unknown verb":      {"", []string{"v4lue"}, 2, "set, list and rm"},
		"set without name":  {"", []string{"set"}, 2, "secret set NAME"},
		"value as argument": {"", []string{"set", "TOKEN", "v4lue"}, 2, "process list"},
		"value after =":     {"", []string{"set", "TOKEN=v4lue"}, 2, "process list"},
		"bad name":          {"x", []string{"set", "v4lue/+"}, 2, "letters, digits"},
		"empty value":       {"\n", []string{"set", "TOKEN"}, 1, "empty"},
		"long value":        {"v4lue" + token(MaxValue), []string{"set", "TOKEN"}, 1, "131072"},
		"rm unknown":        {"", []string{"rm", "NEVER"}, 1, "secret list"},
		"rm without name":   {"", []string{"rm"}, 2, "secret list"},
		"rm two":            {"", []string{"rm", "A", "B"}, 2, "one name"},
		"list with name":    {"", []string{"list", "A"}, 2, "no arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			var m Memory
			r := run(t.Context(), &m, tt.stdin, tt.args...)
			if r.code != tt.code || !strings.Contains(r.stderr, tt.says) || r.stdout != "" {
				t.Errorf("%+v", r)
			}
			if strings.Contains(r.stderr, "v4lue") {
				t.Errorf("the value is in %q", r.stderr)
			}
			if names, _ := m.List(t.Context()); len(names) > 0 {
				t.Errorf("stored %v", names)
			}
		})
	}
}

func TestCommandListsAndRemoves(t *testing.T) {
	var m Memory
	if r := run(t.Context(), &m, "", "list"); r.code != 0 || r.stdout != "" || !strings.Contains(r.stderr, "secret set NAME") {
		t.Errorf("%+v", r)
	}
	mustSet(t, &m, "B", "t0ken")
	mustSet(t, &m, "A", "t0ken")
	if r := run(t.Context(), &m, "", "list"); r.code != 0 || r.stdout != "A\nB\n" || r.stderr != "" {
		t.Errorf("%+v", r)
	}
	if r := run(t.Context(), &m, "", "rm", "B"); r.code != 0 || r.stdout != "" {
		t.Errorf("%+v", r)
	}
	if names, _ := m.List(t.Context()); !slices.Equal(names, []string{"A"}) {
		t.Errorf("names %v", names)
	}
	if r := run(t.Context(), &m, "", "help"); r.code != 0 || !strings.HasPrefix(r.stdout, "Usage:") {
		t.Errorf("%+v", r)
	}
}

// Case 79: the command says why, and what to do.
func TestCommandWithoutAKeyring(t *testing.T) {
	v := newVault()
	v.absent = &Error{Kind: ErrUnavailable, Reason: "no keyring here", Action: "install one"}
	r := run(t.Context(), openTest(t, v), "t0ken", "set", "TOKEN")
	want := "drawbridge secret: store secret \"TOKEN\": no keyring here\nhint: install one\n"
	if r.code != 1 || r.stderr != want {
		t.Errorf("%+v", r)
	}
	// It says so before anybody types a value.
	var out, errs strings.Builder
	code := Command(t.Context(), openTest(t, v), []string{"set", "TOKEN"}, brokenReader{}, &out, &errs)
	if code != 1 || errs.String() != want {
		t.Errorf("%d %q", code, errs.String())
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("input/output error") }

func TestCommandReportsUnreadableInput(t *testing.T) {
	var out, errs strings.Builder
	if code := Command(t.Context(), new(Memory), []string{"set", "A"}, brokenReader{}, &out, &errs); code != 1 || !strings.Contains(errs.String(), "standard input") {
		t.Errorf("%d %q", code, errs.String())
	}
}
