package arch

import (
	"bytes"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Package is what the rules need to know of one package.
type Package struct {
	Path        string   // below the module; "." is main
	Doc         string   // the doc comment, or what go/build keeps of it
	Imports     []string // of the product's files, on any platform
	TestImports []string
	Lines       map[string]int // of the product's files, by name
}

// Tree is all packages of the module.
type Tree map[string]*Package

// Read reads the packages below root, leaving out other modules, test data and
// what `make` builds.
func Read(root string) (Tree, error) {
	tree := Tree{}
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return err
		}
		if rel != "." && skip(dir, d.Name()) {
			return filepath.SkipDir
		}
		p, err := readPackage(dir, filepath.ToSlash(rel))
		if p != nil {
			tree[p.Path] = p
		}
		return err
	})
	return tree, err
}

func skip(dir, name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || slices.Contains([]string{"testdata", "node_modules", "build", "docs"}, name) {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// readPackage returns nil for a folder without Go files.
func readPackage(dir, rel string) (*Package, error) {
	ctx := build.Default
	ctx.UseAllFiles = true // the files of every platform
	b, err := ctx.ImportDir(dir, build.ImportComment)
	if _, none := err.(*build.NoGoError); none {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read package %s: %w", rel, err)
	}
	p := &Package{Path: rel, Doc: b.Doc, Imports: b.Imports, TestImports: append(b.TestImports, b.XTestImports...), Lines: map[string]int{}}
	files := append(append([]string(nil), b.GoFiles...), b.CgoFiles...)
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		p.Lines[name] = bytes.Count(text, []byte("\n"))
		p.Doc = longest(p.Doc, text, b.Name)
	}
	return p, nil
}

// longest prefers the whole doc comment of a file: go/build keeps one sentence.
func longest(doc string, text []byte, name string) string {
	head, _, ok := bytes.Cut(text, []byte("\npackage "+name))
	if !ok {
		return doc
	}
	var lines []string
	for line := range strings.SplitSeq(string(head), "\n") {
		comment, ok := strings.CutPrefix(line, "//")
		if !ok {
			lines = nil
			continue
		}
		lines = append(lines, strings.TrimSpace(comment))
	}
	if whole := strings.Join(lines, " "); len(whole) > len(doc) {
		return whole
	}
	return doc
}
