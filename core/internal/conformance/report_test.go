package conformance

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const requirements = `# a comment:
server:
  - ping   # of the server

client:
  # a group
  - tools_call
  - auth/basic
  - sse-retry

not_scored:
  - scenario: tasks
    leg: server
    reason: extension
  - scenario: auth/dpop
    leg: client
    reason: extension
    note: >-
      some words
  - scenario: preservation
    leg: client
`

func TestNamesAreThoseOfTheRole(t *testing.T) {
	listed, unscored := names([]byte(requirements), "client")
	if d := cmp.Diff([]string{"tools_call", "auth/basic", "sse-retry"}, listed); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"auth/dpop", "preservation"}, unscored); d != "" {
		t.Error(d)
	}
	if listed, _ = names([]byte(requirements), "server"); len(listed) != 1 || listed[0] != "ping" {
		t.Errorf("of the server: %v", listed)
	}
}

// results writes a folder as the suite leaves it.
func results(t *testing.T, checks, complaints map[string]string) map[string]*Scenario {
	t.Helper()
	dir := t.TempDir()
	for name, text := range checks {
		folder := filepath.Join(dir, filepath.FromSlash(name)+"-2026-12-01T03-49-05-601Z")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"checks.json": text, "stderr.txt": complaints[name], "stdout.txt": ""} {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	found, err := read(dir, "client")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAReportCountsAndFindsWhatIsUnexpected(t *testing.T) {
	const ok, info = `{"id":"a","status":"SUCCESS"}`, `{"id":"i","status":"INFO"}`
	r := &Report{Role: "client", Revision: "2026-07-28"}
	r.Required = []string{"good", "auth/failed", "warned", "said", "unchecked", "missing"}
	r.Unscored = []string{"extra", "auth/late"}
	r.Found = results(t, map[string]string{
		"good":        `[` + ok + `,` + info + `]`,
		"auth/failed": `[` + ok + `,{"id":"b","status":"FAILURE","errorMessage":"no token"}]`,
		"warned":      `[` + ok + `,{"id":"c","status":"WARNING","errorMessage":"should"}]`,
		"said":        `[` + ok + `]`,
		"unchecked":   `[` + info + `]`,
		"extra":       `[` + ok + `]`,
		"auth/late":   `[` + ok + `]`,
	}, map[string]string{"said": "it broke\n"})

	if got, want := r.Line(), "client 2026-07-28: 3/6 required, 3/8 clean"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	want := []string{
		"warned: warning c: should",
		"said: the program said: it broke",
		"unchecked: nothing was checked",
		"missing: it was not run",
		"auth/late is clean now: take it out of the expected failures",
	}
	if d := cmp.Diff(want, r.Faults([]string{"auth/failed", "auth/late"})); d != "" {
		t.Error(d)
	}
	want = append([]string{"auth/failed: failure b: no token"}, want[:4]...)
	if d := cmp.Diff(want, r.Faults(nil)); d != "" {
		t.Error(d)
	}
}

// Results of servers carry the role before the name and come without the output of
// a program; what the suite skips counts only where nothing is required.
func TestAReportOfAServer(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"server-ping": `[{"id":"a","status":"SUCCESS"}]`, "server-server-stateless": `[{"id":"b","status":"FAILURE","errorMessage":"no"}]`,
		"server-skipped": `[{"id":"c","status":"SKIPPED"}]`, "server-tasks": `[{"id":"d","status":"SKIPPED"}]`,
	} {
		folder := filepath.Join(dir, name+"-2026-12-01T03-49-05-601Z")
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "checks.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := read(dir, "server")
	if err != nil {
		t.Fatal(err)
	}
	r := &Report{Role: "gateway", Revision: "2026-07-28", Required: []string{"ping", "server-stateless", "skipped"}, Unscored: []string{"tasks"}, Found: found}
	if got, want := r.Line(), "gateway 2026-07-28: 1/3 required, 2/4 clean"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	want := []string{"server-stateless: failure b: no", "skipped: nothing was checked"}
	if d := cmp.Diff(want, r.Faults(nil)); d != "" {
		t.Error(d)
	}
}

// Only a scenario whose measured time alone is off is run again.
func TestOnlyALateScenarioIsRunAgain(t *testing.T) {
	ok, late := Check{ID: "a", Status: "SUCCESS"}, Check{ID: timedCheck, Status: "WARNING"}
	for _, tc := range []struct {
		name string
		s    *Scenario
		want bool
	}{
		{"clean", &Scenario{Checks: []Check{ok}}, false},
		{"late", &Scenario{Checks: []Check{ok, late}}, true},
		{"late and wrong", &Scenario{Checks: []Check{ok, late, {ID: "b", Status: "FAILURE"}}}, false},
		{"late and broken", &Scenario{Checks: []Check{ok, late}, Complaint: "it broke"}, false},
		{"nothing but late", &Scenario{Checks: []Check{late}}, false},
		{"unchecked", &Scenario{}, false},
		{"not run", nil, false},
	} {
		if got := tc.s.onlyLate(); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}
