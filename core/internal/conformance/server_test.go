package conformance

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/internal/peerbin"
)

// The demo is what the official suite requires of a server, in both revisions at
// one URL, as far as the expected failures do not say otherwise; and so it is
// through the shim that a gateway is reached by.
func TestTheServerConforms(t *testing.T) {
	c := peerbin.Conformance(t)
	demo, stop, err := Demo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	target, err := url.Parse(demo)
	if err != nil {
		t.Fatal(err)
	}
	shim := httptest.NewServer(Bearer(target, "a token that nobody asks for"))
	defer shim.Close()
	expected, err := Expected("expected-failures.yml", "server")
	if err != nil {
		t.Fatal(err)
	}
	suite := Suite{Node: c.Path, Script: c.Args[0], Dir: t.TempDir()}
	for role, url := range map[string]string{"server": demo, "shim": shim.URL + target.Path} {
		for _, revision := range Revisions {
			report, err := suite.Server(t.Context(), role, url, revision)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(report.Line())
			for _, f := range report.Faults(expected) {
				t.Errorf("%s %s: %s", role, revision, f)
			}
		}
	}
}

// Only the tasks extension, which nobody is required to have, may be missing.
func TestOnlyTasksMayFail(t *testing.T) {
	expected, err := Expected("expected-failures.yml", "server")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range expected {
		if !strings.HasPrefix(name, "tasks-") {
			t.Errorf("%s must not be expected to fail", name)
		}
	}
}
