package conformance

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/internal/peerbin"
)

// The client is what the official suite requires of one, in both revisions, as
// far as the expected failures do not say otherwise.
func TestTheClientConforms(t *testing.T) {
	c := peerbin.Conformance(t)
	program := filepath.Join(t.TempDir(), "client")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	// Without the race detector, whose start takes longer than a scenario.
	if out, err := exec.Command("go", "build", "-o", program, "./client").CombinedOutput(); err != nil {
		t.Fatalf("build the client: %v\n%s", err, out)
	}
	expected, err := Expected("expected-failures.yml", "client")
	if err != nil {
		t.Fatal(err)
	}
	suite := Suite{Node: c.Path, Script: c.Args[0], Dir: t.TempDir()}
	for _, revision := range Revisions {
		report, err := suite.Client(t.Context(), program, revision)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(report.Line())
		for _, f := range report.Faults(expected) {
			t.Errorf("%s: %s", revision, f)
		}
	}
}

// Only signing in may be missing.
func TestOnlyAuthorizationMayFail(t *testing.T) {
	expected, err := Expected("expected-failures.yml", "client")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range expected {
		if !strings.HasPrefix(name, "auth/") {
			t.Errorf("%s must not be expected to fail", name)
		}
	}
}
