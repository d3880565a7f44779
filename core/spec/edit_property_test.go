package spec

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fileGen draws a file in every style that JSONC allows: comments and blanks in
// every gap, trailing commas, any line end, unknown keys.
type fileGen struct {
	*rapid.T
	newline string
}

func (g fileGen) gap() string {
	return rapid.SampledFrom([]string{
		"", "", "", " ", "  ", "\t", g.newline, g.newline + "    ", " // c {\"a\": [" + g.newline, "/* d, } */",
		g.newline + "// e" + g.newline + "/* f */" + g.newline,
	}).Draw(g.T, "gap")
}

func (g fileGen) object(members ...string) string {
	var b strings.Builder
	b.WriteString("{")
	for i, m := range members {
		b.WriteString(g.gap() + m + g.gap())
		if i < len(members)-1 || rapid.Bool().Draw(g.T, "trailing") {
			b.WriteString(",")
		}
	}
	b.WriteString(g.gap() + "}")
	return b.String()
}

func (g fileGen) member(name, value string) string {
	return jsonString(name) + g.gap() + ":" + g.gap() + value
}

func (g fileGen) server() string {
	members := []string{g.member("command", jsonString("x"))}
	for _, m := range []Var{{"x-foo", "[1, {}]"}, {"disabled", "true"}, {"args", `["--u", "http://h//p"]`}, {"env", g.object()}} {
		if rapid.Bool().Draw(g.T, m.Name) {
			members = append(members, g.member(m.Name, m.Value))
		}
	}
	switch rapid.IntRange(0, 3).Draw(g.T, "extra") {
	case 1:
		members = append(members, g.member(extraKey, g.object()))
	case 2:
		members = append(members, g.member(extraKey, g.object(g.member("queue", "3"))))
	case 3:
		off := fmt.Sprint(rapid.Bool().Draw(g.T, "off"))
		members = append(members, g.member(extraKey, g.object(g.member("disabled", off), g.member("queue", "3"))))
	}
	return g.object(members...)
}

func drawFile(t *rapid.T) (file []byte, names []string) {
	g := fileGen{t, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")}
	var servers []string
	for i := range rapid.IntRange(0, 3).Draw(t, "servers") {
		names = append(names, fmt.Sprintf("s%d", i))
		servers = append(servers, g.member(names[i], g.server()))
	}
	root := []string{g.member("inputs", "[]")}
	if len(servers) > 0 || rapid.Bool().Draw(t, "root") {
		root = append(root, g.member(rootKey, g.object(servers...)))
	}
	if rapid.Bool().Draw(t, "last") {
		root = append(root, g.member("last", g.object()))
	}
	mark := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark")
	return []byte(mark + g.gap() + g.object(root...) + g.gap()), names
}

// P2: an added server is put in as one stretch, and perhaps a comma before; every
// other byte, comments and unknown keys included, is where it was.
func TestAddServerInsertsOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, names := drawFile(t)
		after, err := AddServer(demo)(before)
		if err != nil {
			t.Fatalf("%v\n%s", err, before)
		}
		if !hasParts(before, after) {
			t.Fatalf("bytes were lost\nbefore %q\nafter  %q", before, after)
		}
		f, err := Parse(after, User)
		if err != nil || len(f.Entries) != len(names)+1 || !Equal(f.Find("demo").Spec, demo) {
			t.Fatalf("%v\n%s", err, after)
		}
	})
}

// P2: a switch is set in the same way, or one value replaced.
func TestSetDisabledChangesOneServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, names := drawFile(t)
		if len(names) == 0 {
			t.Skip("no server")
		}
		name := rapid.SampledFrom(names).Draw(t, "name")
		off := rapid.Bool().Draw(t, "off")
		after, err := SetDisabled(name, off)(before)
		if err != nil {
			t.Fatalf("%v\n%s", err, before)
		}
		was, is := mustFile(t, before), mustFile(t, after)
		if is.Find(name).Disabled != off {
			t.Fatalf("not switched\n%s", after)
		}
		for _, n := range names {
			if n != name && !Equal(was.Find(n).Spec, is.Find(n).Spec) {
				t.Fatalf("%s is another\n%s", n, after)
			}
		}
		switch {
		case was.Find(name).Disabled == off:
			if !bytes.Equal(before, after) {
				t.Fatal("changed for nothing")
			}
		case !hasParts(before, after) && !oneWordDiffers(before, after):
			t.Fatalf("more than one value changed\nbefore %q\nafter  %q", before, after)
		}
	})
}

func mustFile(t *rapid.T, file []byte) *File {
	f, err := Parse(file, User)
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	return f
}

// hasParts reports whether before is after less one stretch, and less one comma
// ahead of it. A brace that got a line of its own may lose the blanks before it.
func hasParts(before, after []byte) bool {
	for comma := -1; comma < len(after); comma++ {
		rest := after
		if comma >= 0 {
			if after[comma] != ',' {
				continue
			}
			rest = append(append([]byte{}, after[:comma]...), after[comma+1:]...)
		}
		at := commonPrefix(before, rest)
		for _, end := range [][]byte{before[at:], bytes.TrimLeft(before[at:], " \t")} {
			if at+len(end) < len(rest) && bytes.HasSuffix(rest, end) {
				return true
			}
		}
	}
	return false
}

// oneWordDiffers reports whether before and after differ in true or false alone.
func oneWordDiffers(before, after []byte) bool {
	at := commonPrefix(before, after)
	was, is := string(before[at:]), string(after[at:])
	for _, words := range [][2]string{{"true", "false"}, {"false", "true"}} {
		a, okA := strings.CutPrefix(was, words[0])
		b, okB := strings.CutPrefix(is, words[1])
		if okA && okB && a == b {
			return true
		}
	}
	return false
}

func commonPrefix(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
