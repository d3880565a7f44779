package arch

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tree keeps the rules of the house.
func TestTheTreeKeepsTheRules(t *testing.T) {
	tree, err := Read(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, sentence := range Check(tree) {
		t.Error(sentence)
	}
	// A reader that finds nothing would find nothing wrong.
	for _, p := range []string{"core/jsonrpc", "core/transport", "core/internal/arch", "secrets"} {
		if tree[p] == nil {
			t.Errorf("%s was not read", p)
		}
	}
	if p := tree["core/internal/arch"]; p != nil && !slices.Contains(p.TestImports, "github.com/google/go-cmp/cmp") {
		t.Errorf("imports of tests were not read: %v", p.TestImports)
	}
	for p := range tree {
		if below(p, "core/internal/peers") {
			t.Errorf("%s belongs to another module", p)
		}
	}
}

// Every rule can fail.
func TestBrokenTreesAreReported(t *testing.T) {
	us := func(paths ...string) []string {
		for i, p := range paths {
			paths[i] = Module + "/" + p
		}
		return paths
	}
	for _, tc := range []struct {
		name string
		tree []*Package
		want []string
	}{
		{"downwards", []*Package{{Path: "core/hub", Imports: us("core/client", "core/spec", "secrets")}}, nil},
		{"upwards", []*Package{{Path: "core/era", Imports: us("core/client")}}, []string{
			"core/era (floor 2) imports core/client (floor 4): imports must point down",
		}},
		{"sideways", []*Package{{Path: "core/client", Imports: us("core/server")}}, []string{
			"core/client (floor 4) imports core/server (floor 4): imports must point down",
		}},
		{"from an inner package", []*Package{{Path: "core/transport/internal/wire", Imports: us("core/client")}}, []string{
			"core/transport/internal/wire (floor 3) imports core/client (floor 4): imports must point down",
		}},
		{"within a package", []*Package{{Path: "core/transport", Imports: us("core/transport/internal/wire")}}, nil},
		{"main imports all", []*Package{{Path: ".", Imports: append(us("ui", "core/hub", "core/demo", "assets"), "fyne.io/fyne/v2/app")}}, nil},
		{"main is imported", []*Package{{Path: "ui", Imports: []string{Module}}}, []string{
			"ui (floor 7) imports . (floor 8): imports must point down",
		}},
		{"around by a package outside the table", []*Package{
			{Path: "core/era", Imports: us("core/extra")},
			{Path: "core/extra", Doc: "It is not in the house table, since.", Imports: us("core/client")},
		}, []string{"core/era (floor 2) imports core/extra (floor 4.5): imports must point down"}},
		{"around by two", []*Package{
			{Path: "core/era", Imports: us("core/one")},
			{Path: "core/one", Imports: us("core/two")},
			{Path: "core/two", Imports: us("core/hub")},
		}, []string{"core/era (floor 2) imports core/one (floor 6.5): imports must point down"}},
		{"a package outside the table, above what it imports", []*Package{
			{Path: "core/hub", Imports: us("core/extra")},
			{Path: "core/extra", Imports: us("core/client")},
		}, nil},
		{"app outside main", []*Package{{Path: "ui", Imports: []string{"fyne.io/fyne/v2", "fyne.io/fyne/v2/app"}}}, []string{
			"ui imports fyne.io/fyne/v2/app: only main.go may need cgo and a display",
		}},
		{"app in a test", []*Package{{Path: "ui", TestImports: []string{"fyne.io/fyne/v2/app"}}}, []string{
			"ui imports fyne.io/fyne/v2/app: only main.go may need cgo and a display",
		}},
		{"window in the core", []*Package{{Path: "core/hub", Imports: []string{"fyne.io/fyne/v2"}}}, []string{
			"core/hub imports fyne.io/fyne/v2: the core knows no window",
		}},
		{"window in a test of the core", []*Package{{Path: "core/hub", TestImports: []string{"fyne.io/fyne/v2/test"}}}, []string{
			"core/hub imports fyne.io/fyne/v2/test: the core knows no window",
		}},
		{"transport in the window", []*Package{{Path: "ui/row", Imports: us("core/transport")}}, []string{
			"ui/row imports " + Module + "/core/transport: the window knows only the hub's snapshots",
		}},
		{"envelope and keyring in the window", []*Package{{Path: "ui", Imports: us("core/jsonrpc", "secrets")}}, []string{
			"ui imports " + Module + "/core/jsonrpc: the window knows only the hub's snapshots",
			"ui imports " + Module + "/secrets: the window knows only the hub's snapshots",
		}},
		{"I/O in the window", []*Package{{Path: "ui", Imports: []string{"net/http", "net/url", "os/exec"}, TestImports: []string{"os"}}}, []string{
			"ui imports net/http: the window does no I/O",
			"ui imports os/exec: the window does no I/O",
		}},
		{"wires in the session machine", []*Package{{Path: "core/client", Imports: []string{"net/http"}}}, []string{
			"core/client imports net/http: the session machine knows no wires",
		}},
		{"anything of ours in the keyring", []*Package{{Path: "secrets", Imports: us("core/jsonrpc")}}, []string{
			"secrets (floor 1) imports core/jsonrpc (floor 1): imports must point down",
			"secrets imports " + Module + "/core/jsonrpc: the keyring stands alone",
		}},
		{"internals of the keyring", []*Package{{Path: "secrets", Imports: us("secrets/internal/dbus")}}, nil},
		{"a test package in the product", []*Package{{Path: "core/client", Imports: us("core/internal/fakeserver", "core/transport/transporttest")}}, []string{
			"core/client imports core/internal/fakeserver, which is for tests",
			"core/client imports core/transport/transporttest, which is for tests",
		}},
		{"no doc comment", []*Package{{Path: "core/era", Lines: map[string]int{"a.go": 1}}}, []string{"core/era has no doc comment"}},
		{"no reason", []*Package{{Path: "core/extra", Doc: "Package extra is extra.", Lines: map[string]int{"a.go": 1}}}, []string{
			"core/extra is not in the house table, and its doc comment does not say why",
		}},
		{"a reason", []*Package{{Path: "core/extra", Doc: "Package extra is outside the house table, because.", Lines: map[string]int{"a.go": 600}}}, nil},
		{"a long file", []*Package{{Path: "core/era", Doc: "x", Lines: map[string]int{"a.go": 601}}}, []string{"core/era/a.go has 601 lines: split it"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree := Tree{}
			for _, p := range tc.tree {
				tree[p.Path] = p
			}
			if diff := cmp.Diff(tc.want, Check(tree)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
