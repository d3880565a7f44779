package transport

import (
	"regexp"
	"slices"
	"testing"
)

// Case 11: of one name the last wins, on Windows without regard to case.
func TestChildEnvOverlays(t *testing.T) {
	parent := []string{"Path=C:\\Windows", "SystemRoot=C:\\Windows", "ProgramFiles(x86)=P", "HUB_TOKEN=s", "=C:=C:\\x", "junk", "lc_all=C"}
	got := childEnv(parent, []string{"PATH=D:\\bin", "a=1", "A=2", "novalue", "=x"}, true)
	if want := []string{"PATH=D:\\bin", "SystemRoot=C:\\Windows", "ProgramFiles(x86)=P", "lc_all=C", "A=2"}; !slices.Equal(got, want) {
		t.Errorf("on Windows: %q", got)
	}
	got = childEnv([]string{"PATH=/bin", "Path=x", "LC_TIME=C"}, []string{"a=1", "A=2", "PATH=/a=b"}, false)
	if want := []string{"PATH=/a=b", "LC_TIME=C", "a=1", "A=2"}; !slices.Equal(got, want) {
		t.Errorf("elsewhere: %q", got)
	}
}

// No name that looks like a credential's is let through, and none of ours.
func TestInheritedNamesAreNoCredentials(t *testing.T) {
	suspect := regexp.MustCompile(`(?i)token|secret|passw|credential|(^|_)(api_?)?key|auth(_|$)|^drawbridge|^mcp`)
	for _, name := range inherited {
		// The one exception names a socket.
		if suspect.MatchString(name) && name != "SSH_AUTH_SOCK" {
			t.Errorf("%s is inherited", name)
		}
	}
}
