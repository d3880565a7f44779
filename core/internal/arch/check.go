package arch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Check returns one sentence for every rule the tree breaks, in order.
func Check(tree Tree) []string {
	c := &checker{tree: tree, floor: map[string]float64{}}
	for _, p := range tree {
		c.directions(p)
		c.bans(p)
		c.habits(p)
	}
	slices.Sort(c.broken)
	return slices.Compact(c.broken)
}

type checker struct {
	tree   Tree
	floor  map[string]float64 // of packages outside the table, once computed
	broken []string
}

func (c *checker) say(format string, args ...any) {
	c.broken = append(c.broken, fmt.Sprintf(format, args...))
}

// ours returns the path below the module of an import of ours.
func ours(imp string) (string, bool) {
	if imp == Module {
		return ".", true
	}
	return strings.CutPrefix(imp, Module+"/")
}

// floorOf returns a package's floor: that of the table, or for a package outside
// it half a floor above the highest that it imports.
func (c *checker) floorOf(path string) float64 {
	if h, ok := home(path); ok {
		return floors[h]
	}
	if f, ok := c.floor[path]; ok {
		return f
	}
	floor := 0.5
	if p := c.tree[path]; p != nil {
		c.floor[path] = floor // an import cycle is the compiler's to report
		for _, imp := range p.Imports {
			if o, ok := ours(imp); ok && o != path {
				f := c.floorOf(o)
				if _, tabled := home(o); tabled {
					f += 0.5
				}
				floor = max(floor, f)
			}
		}
	}
	c.floor[path] = floor
	return floor
}

// directions checks that imports point down, and that nothing that ships imports
// a package for tests.
func (c *checker) directions(p *Package) {
	from, tabled := home(p.Path)
	for _, imp := range p.Imports {
		o, ok := ours(imp)
		if !ok {
			continue
		}
		if forTests(o) && !forTests(p.Path) {
			c.say("%s imports %s, which is for tests", p.Path, o)
		}
		if to, ok := home(o); ok && to == from {
			continue // within one package of the house
		}
		if tabled && !forTests(p.Path) && c.floorOf(o) >= floors[from] {
			c.say("%s (floor %v) imports %s (floor %v): imports must point down", p.Path, floors[from], o, c.floorOf(o))
		}
	}
}

// forTests tells whether a package exists for tests only.
func forTests(path string) bool {
	return strings.HasPrefix(path, "core/internal/") || strings.HasSuffix(path, "test") && path != "test"
}

func (c *checker) bans(p *Package) {
	for _, b := range bans {
		if !below(p.Path, b.who) || p.Path == b.except {
			continue
		}
		imports := p.Imports
		if b.tests {
			imports = append(slices.Clone(imports), p.TestImports...)
		}
		for _, imp := range imports {
			if o, ok := ours(imp); ok && below(o, p.Path) {
				continue // its own internals
			}
			for _, what := range b.what {
				if banned(imp, what) {
					c.say("%s imports %s: %s", p.Path, imp, b.because)
				}
			}
		}
	}
}

// below tells whether path is root or lies below it; "..." is the whole tree.
func below(path, root string) bool {
	return root == "..." || path == root || strings.HasPrefix(path, root+"/")
}

func banned(imp, pattern string) bool {
	tree, isTree := strings.CutSuffix(pattern, "/...")
	if !isTree {
		return imp == pattern
	}
	if o, ok := ours(imp); ok && !strings.HasPrefix(tree, Module) {
		imp = o
	}
	return below(imp, tree)
}

var outside = regexp.MustCompile(`\bhouse(['’]s)? table\b|\btable of the house\b`)

// habits checks doc comments and the length of files.
func (c *checker) habits(p *Package) {
	if len(p.Lines) == 0 {
		return // tests alone
	}
	if p.Doc == "" {
		c.say("%s has no doc comment", p.Path)
	}
	if _, tabled := home(p.Path); !tabled && !forTests(p.Path) && !outside.MatchString(p.Doc) {
		c.say("%s is not in the house table, and its doc comment does not say why", p.Path)
	}
	for name, lines := range p.Lines {
		if lines > maxLines {
			c.say("%s/%s has %d lines: split it", p.Path, name, lines)
		}
	}
}
