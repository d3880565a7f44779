package spec

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Case 94: what is watched, and where a path leads.
func TestTrail(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) string { return filepath.Join(append([]string{root}, names...)...) }
	for _, dir := range []string{in("config", "real"), in("dot")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, in("dot", "mcp.json"), oneServer)
	symlink(t, filepath.Join("..", "dot", "mcp.json"), in("config", "servers.json"))
	symlink(t, in("config"), in("app"))
	symlink(t, "loop", in("loop"))

	for path, c := range map[string]struct {
		target string
		points map[string][]string
	}{
		in("app", "servers.json"): {
			in("dot", "mcp.json"),
			map[string][]string{in(): {"app"}, in("config"): {"servers.json"}, in("dot"): {"mcp.json"}},
		},
		in("app", "no", "such", "file"):    {in("config", "no", "such", "file"), map[string][]string{in(): {"app"}, in("config"): {"no"}}},
		in("app", "..", "dot", "mcp.json"): {in("dot", "mcp.json"), map[string][]string{in("dot"): {"mcp.json"}}},
	} {
		points, target := trail(path)
		if target != c.target || len(points) != len(c.points) {
			t.Errorf("%s leads to %s by %v", path, target, points)
		}
		for dir, names := range c.points {
			if !slices.Equal(points[dir], names) {
				t.Errorf("%s: %s has %v, want %v", path, dir, points[dir], names)
			}
		}
	}
	if points, _ := trail(in("loop", "x")); len(points) != 1 {
		t.Errorf("a loop: %v", points)
	}
}
