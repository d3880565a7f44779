package spec

import (
	"path/filepath"
	"strings"
	"testing"
)

// The example that people copy is valid, and every key below "drawbridge" is
// described.
func TestUserDocumentation(t *testing.T) {
	page := readFile(t, filepath.Join("..", "..", "docs", "spec-file.md"))
	_, rest, _ := strings.Cut(page, "```jsonc\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("no example")
	}
	f := mustParse(t, example)
	if len(f.Entries) != 3 || len(f.Notes) != 0 {
		t.Errorf("%d servers, notes %v", len(f.Entries), f.Notes)
	}
	for _, e := range f.Entries {
		if e.Err != nil || len(e.Notes) != 0 {
			t.Errorf("%s: %v, notes %v", e.Name, e.Err, e.Notes)
		}
	}
	for _, key := range append(extraHints.known, serverHints.known...) {
		if !strings.Contains(page, "`"+key+"`") && !strings.Contains(page, "`\""+key+"\"`") {
			t.Errorf("%s is not described", key)
		}
	}
}
