package arch

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../../.."

// The tables of docs/acceptance.md, by their headings, with the cases that each must
// cover in its first column.
var acceptanceTables = map[string][]int{
	"Acceptance cases": append(upTo(1, 37), upTo(45, 108)...),
	"The first 25":     append(upTo(1, 22), 25),
	"Field reports":    nil,
}

func upTo(from, to int) (list []int) {
	for n := from; n <= to; n++ {
		list = append(list, n)
	}
	return list
}

// A name of a test, and perhaps of one of its cases: `core/era.TestX`,
// `core/client.TestY/a case`.
var citation = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz|Benchmark)\\w+)(?:/([^`]+))?`")

// docs/acceptance.md names tests that exist, and leaves no case out.
func TestAcceptanceNamesExist(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "docs", "acceptance.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]map[string]string{} // by package, then by name: the body
	covered := map[string][]int{}
	cited, table := 0, ""
	for i, line := range strings.Split(string(b), "\n") {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			table = heading
		}
		var names int
		for _, m := range citation.FindAllStringSubmatch(line, -1) {
			names++
			pkg, name, of := m[1], m[2], m[3]
			if tests[pkg] == nil {
				tests[pkg] = testsOf(t, pkg)
			}
			switch body, ok := tests[pkg][name]; {
			case !ok:
				t.Errorf("line %d: %s has no %s", i+1, pkg, name)
			case of != "" && !strings.Contains(body, strconv.Quote(of)):
				t.Errorf("line %d: %s in %s has no case %q", i+1, name, pkg, of)
			}
		}
		cited += names
		cells := strings.Split(line, "|")
		if len(cells) < 5 || strings.Contains(cells[1], "---") || strings.TrimSpace(cells[1]) == "Case" {
			continue
		}
		cases, err := numbers(cells[1])
		if err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
		covered[table] = append(covered[table], cases...)
		if names == 0 && !strings.Contains(cells[4], "departs") {
			t.Errorf("line %d: %s: neither a test nor the rule that departs", i+1, cells[1])
		}
	}
	for name, want := range acceptanceTables {
		got := covered[name]
		if len(got) == 0 {
			t.Errorf("%q: no table", name)
		}
		for _, n := range want {
			if !slices.Contains(got, n) {
				t.Errorf("%q: case %d is missing", name, n)
			}
		}
		slices.Sort(got)
		if len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("%q: a case stands twice: %v", name, got)
		}
	}
	if cited < 150 {
		t.Errorf("only %d tests were found to be named", cited)
	}
}

// numbers reads "3", "3–5" or "3, 4".
func numbers(cell string) (list []int, err error) {
	for part := range strings.SplitSeq(cell, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "–")
		if !isRange {
			to = from
		}
		a, errA := strconv.Atoi(from)
		b, errB := strconv.Atoi(to)
		if errA != nil || errB != nil || a > b {
			return nil, fmt.Errorf("%q is no case", cell)
		}
		list = append(list, upTo(a, b)...)
	}
	return list, nil
}

var declaration = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(\w+ \*testing\.[TFB]\) \{`)

// testsOf returns the bodies of a package's tests by name; the root package is "main".
func testsOf(t *testing.T, pkg string) map[string]string {
	if pkg == "main" {
		pkg = "."
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		for _, m := range declaration.FindAllStringSubmatchIndex(text, -1) {
			body, _, _ := strings.Cut(text[m[0]:], "\n}\n")
			found[text[m[2]:m[3]]] = body
		}
	}
	return found
}
