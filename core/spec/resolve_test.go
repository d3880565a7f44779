package spec

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keyring is a SecretGetter that counts what it is asked for.
type keyring struct {
	values map[string]string
	asked  []string
}

var errNoSuchSecret = errors.New("there is no secret with this name")

func (k *keyring) Get(ctx context.Context, name string) (string, error) {
	k.asked = append(k.asked, name)
	if v, ok := k.values[name]; ok {
		return v, nil
	}
	return "", errNoSuchSecret
}

func environment(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

var home = filepath.Join(os.TempDir(), "home", "u")

var testEnv = environment(map[string]string{
	"HOME": home, "USERPROFILE": home, "TOKEN": "${HOME}$&", "EMPTY": "", "P": "path", "NL": "a\nb",
})

func pairs(vars []Var) map[string]string {
	m := make(map[string]string)
	for _, v := range vars {
		m[v.Name] = v.Value
	}
	return m
}

// K1, case 96: the dialects of other programs, one pass, everything else untouched.
func TestReferences(t *testing.T) {
	ring := &keyring{values: map[string]string{"GH": "s3cret ${P} $1", "dash-dot.x": "y"}}
	s := valid(t, `{
		"command": "~/bin/x", "cwd": "~",
		"args": ["${HOME}/d", "${NOPE:-def}", "$5 price", "$$", "$HOME", "${}", "${X%.*}", "${X:0:3} ${P}", "${a(${P})}", "${open", "%P%", "~/not"],
		"env": {
			"T": "${env:TOKEN}", "S": "a${secret:GH}b${secret:GH}", "D": "${secret:dash-dot.x}", "E": "${EMPTY}",
			"F": "${EMPTY:-d}", "G": "${NOPE:-}", "H": "${env:NOPE:-x y}", "I": "${P}${P}"
		}}`)
	if got := Secrets(s); !slices.Equal(got, []string{"GH", "dash-dot.x"}) {
		t.Errorf("secrets %v", got)
	}
	r, err := Resolve(context.Background(), s, testEnv, ring)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(home, "bin", "x"); r.Command != want || r.Dir != home {
		t.Errorf("command %s, directory %s", r.Command, r.Dir)
	}
	wantArgs := []string{
		home + "/d", "def", "$5 price", "$$", "$HOME", "${}", "${X%.*}", "${X:0:3} path", "${a(path)}", "${open", "%P%", "~/not",
	}
	if diff := cmp.Diff(wantArgs, r.Args); diff != "" {
		t.Error(diff)
	}
	wantEnv := map[string]string{
		"T": "${HOME}$&", "S": "as3cret ${P} $1bs3cret ${P} $1", "D": "y", "E": "", "F": "d", "G": "", "H": "x y", "I": "pathpath",
	}
	if diff := cmp.Diff(wantEnv, pairs(r.Env)); diff != "" {
		t.Error(diff)
	}
	// K2: one secret is asked for once.
	if !slices.Equal(ring.asked, []string{"GH", "dash-dot.x"}) {
		t.Errorf("asked for %v", ring.asked)
	}
	for _, v := range []string{"s3cret ${P} $1", "y", "${HOME}$&"} {
		if !slices.Contains(r.Sensitive, v) {
			t.Errorf("%q will not be masked", v)
		}
	}
}

// K1, case 96: url and headers.
func TestReferencesOfARemoteServer(t *testing.T) {
	ring := &keyring{values: map[string]string{"TOK": "abc"}}
	s := valid(t, `{"url": "https://h/${P}?k=${secret:TOK}", "headers": {"Authorization": "Bearer ${secret:TOK}"}}`)
	r, err := Resolve(context.Background(), s, testEnv, ring)
	if err != nil {
		t.Fatal(err)
	}
	if r.URL != "https://h/path?k=abc" || r.Headers[0].Value != "Bearer abc" {
		t.Errorf("got %s, %s", r.URL, r.Headers[0].Value)
	}
	if base := valid(t, `{"url": "${BASE}/mcp"}`); base.URL != "${BASE}/mcp" {
		t.Error(base)
	}
}

func TestRelativeDirectoryIsBelowHome(t *testing.T) {
	r, err := Resolve(context.Background(), valid(t, `{"command": "x", "cwd": "work"}`), testEnv, nil)
	if err != nil || r.Dir != filepath.Join(home, "work") {
		t.Errorf("%v, %v", r.Dir, err)
	}
}

// K1, case 96: what cannot be resolved disables that server alone, and names the
// reference and its place.
func TestUnresolvable(t *testing.T) {
	homeVar := "HOME"
	if runtime.GOOS == "windows" {
		homeVar = "USERPROFILE"
	}
	for name, c := range map[string]struct {
		entry, want string
		kind        error
	}{
		"variable in env":    {`{"command": "x", "env": {"A": "1", "U": "${NOPE}"}}`, "variable NOPE is not set (in env.U)", ErrUnset},
		"variable in args":   {`{"command": "x", "args": ["a", "${env:NOPE}"]}`, "variable NOPE is not set (in args[1])", ErrUnset},
		"variable in url":    {`{"url": "https://${NOPE}/"}`, "variable NOPE is not set (in url)", ErrUnset},
		"variable in header": {`{"url": "https://h", "headers": {"A": "${NOPE}"}}`, "variable NOPE is not set (in headers.A)", ErrUnset},
		"no home":            {`{"command": "~/x"}`, "variable " + homeVar + " is not set (in command)", ErrUnset},
		"no home for cwd":    {`{"command": "x", "cwd": "~/y"}`, "variable " + homeVar + " is not set (in cwd)", ErrUnset},
		"secret":             {`{"url": "https://h", "headers": {"A": "Bearer ${secret:GH}"}}`, "secret GH cannot be had (in headers.A): there is no secret with this name", ErrSecret},
		"line break":         {`{"url": "https://h", "headers": {"A": "${NL}"}}`, "headers.A cannot be used: it holds a line break or a control character", ErrUnusable},
		"url":                {`{"url": "${P}"}`, "url cannot be used: must begin with http:// or https://", ErrUnusable},
		"command":            {`{"command": "${NOPE:-}"}`, "command cannot be used: it is empty", ErrUnusable},
	} {
		t.Run(name, func(t *testing.T) {
			env := environment(map[string]string{"P": "p4ss", "NL": "p4ss\n"})
			_, err := Resolve(context.Background(), valid(t, c.entry), env, &keyring{})
			if !errors.Is(err, c.kind) || err.Error() != c.want {
				t.Errorf("got %v", err)
			}
			if leaked(err.Error()) != "" {
				t.Error("the value is in the error")
			}
		})
	}
}

func TestErrorsNameWhatIsMissing(t *testing.T) {
	s := valid(t, `{"command": "x", "env": {"A": "${secret:GH}"}}`)
	_, err := Resolve(context.Background(), s, testEnv, &keyring{})
	var ref *ReferenceError
	if !errors.As(err, &ref) || ref.Name != "GH" || ref.Place != "env.A" || !errors.Is(err, errNoSuchSecret) {
		t.Errorf("got %v", err)
	}
	_, err = Resolve(context.Background(), s, testEnv, nil)
	if !errors.Is(err, ErrSecret) {
		t.Errorf("without a store: %v", err)
	}
}

// A server that cannot start anyway does not cause an unlock prompt (K2).
func TestVariablesComeBeforeSecrets(t *testing.T) {
	ring := &keyring{values: map[string]string{"GH": "x"}}
	s := valid(t, `{"command": "x", "env": {"A": "${secret:GH}", "B": "${NOPE}"}}`)
	if _, err := Resolve(context.Background(), s, testEnv, ring); !errors.Is(err, ErrUnset) || len(ring.asked) != 0 {
		t.Errorf("%v, asked for %v", err, ring.asked)
	}
}

type stuckKeyring struct{ cancel context.CancelFunc }

func (k stuckKeyring) Get(ctx context.Context, name string) (string, error) {
	k.cancel()
	<-ctx.Done()
	return "", ctx.Err()
}

func TestResolveEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := valid(t, `{"command": "x", "env": {"A": "${secret:GH}"}}`)
	_, err := Resolve(ctx, s, testEnv, stuckKeyring{cancel})
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrSecret) {
		t.Errorf("got %v", err)
	}
}

// P3: workspace specs use no references of any kind, or are blocked.
func TestWorkspaceUsesNoReferences(t *testing.T) {
	for entry, blocked := range map[string]bool{
		`{"command": "x", "args": ["$5"]}`:                            false,
		`{"url": "https://h/mcp"}`:                                    false,
		`{"command": "x", "env": {"A": "${HOME}"}}`:                   true,
		`{"command": "x", "args": ["${secret:GH}"]}`:                  true,
		`{"command": "x", "args": ["${X%.*}"]}`:                       true,
		`{"command": "x", "args": ["${A:-b}"]}`:                       true,
		`{"command": "~/x"}`:                                          true,
		`{"command": "x", "cwd": "~"}`:                                true,
		`{"url": "https://${HOST}/"}`:                                 true,
		`{"url": "https://h", "headers": {"A": "${env:AWS_SECRET}"}}`: true,
	} {
		f, err := Parse([]byte(`{"mcpServers": {"s": `+entry+`}}`), Workspace)
		if err != nil || f.Entries[0].Err != nil {
			t.Fatal(entry, err)
		}
		s := f.Entries[0].Spec
		var refused *BlockedError
		ring := &keyring{values: map[string]string{"GH": "x"}}
		if _, err := Resolve(context.Background(), s, testEnv, ring); errors.As(err, &refused) != blocked || len(ring.asked) > 0 {
			t.Errorf("%s: resolve %v", entry, err)
		}
		allow := func(Source, string, string) error { return nil }
		if err := Permit(s, allow); errors.As(err, &refused) != blocked {
			t.Errorf("%s: permit %v", entry, err)
		}
	}
}

// K4, case 83: credentials that stand in the file as plain text are masked too.
func TestSensitiveLiterals(t *testing.T) {
	for name, c := range map[string]struct {
		entry    string
		yes, not []string
	}{
		"env": {
			`{"command": "x", "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_S3CRET", "PORT": "8080", "DEBUG": "true", "X": "ab12cd34ef56ab78", "AUTH": "true"}}`,
			[]string{"ghp_S3CRET", "ab12cd34ef56ab78"},
			[]string{"8080", "true"},
		},
		"headers": {
			`{"url": "https://h", "headers": {"X-Api-Key": "K3Y", "Authorization": "Bearer abc", "Accept": "text/plain", "X-Tenant": "acme"}}`,
			[]string{"K3Y", "Bearer abc", "abc"},
			[]string{"text/plain", "acme"},
		},
		"args": {
			`{"command": "x", "args": ["--token=T0K", "--api-key", "K3Y", "--password", "--verbose", "-p", "80", "-e", "DB_PASSWORD=pw1", "--header", "Authorization: Bearer b34rer", "https://h/?api_key=Q", "--mode=fast"]}`,
			[]string{"T0K", "K3Y", "pw1", "Bearer b34rer", "b34rer", "Q"},
			[]string{"--verbose", "80", "fast", "https://h/?api_key=Q"},
		},
		"url": {
			`{"url": "https://u:p4ss@h/mcp?api_key=Q&mode=full"}`,
			[]string{"p4ss", "Q"},
			[]string{"u", "full", "h"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Resolve(context.Background(), valid(t, c.entry), testEnv, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range c.yes {
				if !slices.Contains(r.Sensitive, v) {
					t.Errorf("%q is not masked", v)
				}
			}
			for _, v := range c.not {
				if slices.Contains(r.Sensitive, v) {
					t.Errorf("%q is masked", v)
				}
			}
		})
	}
}

func TestResolvingChangesNoSpec(t *testing.T) {
	s := valid(t, `{"command": "~/x", "args": ["${P}"], "env": {"A": "${P}"}, "cwd": "w"}`)
	before := plain(canonical(s))
	if _, err := Resolve(context.Background(), s, testEnv, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, plain(canonical(s))); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(s.String(), "path") {
		t.Error("expanded in place")
	}
}
