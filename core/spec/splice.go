package spec

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// splicer edits a document by replacing stretches of its bytes. The library's own
// Patch moves comments about; offsets let everything else stay as it is (P2).
type splicer struct {
	*document
	style
	splices []splice
}

// splice puts text in the place of the bytes from start to end.
type splice struct {
	start, end int
	text       string
}

func (e *splicer) put(start, end int, text string) {
	e.splices = append(e.splices, splice{start, end, text})
}

// replace puts v in the place of an existing value.
func (e *splicer) replace(at *hujson.Value, v value) {
	e.put(at.StartOffset, at.EndOffset, v.render(e.style, e.indentAt(at.StartOffset)))
}

// insert adds a member at the end of the object at, in the manner of the members
// that are there.
func (e *splicer) insert(at *hujson.Value, name string, v value) {
	obj := at.Value.(*hujson.Object)
	brace := at.EndOffset - 1
	// Comments between the last member and the brace stay before the new one.
	end := brace - len(obj.AfterExtra)
	place := end + len(bytes.TrimRight(obj.AfterExtra, " \t\r\n"))
	var comma, trailing string
	if n := len(obj.Members); n > 0 {
		last := &obj.Members[n-1].Value
		if last.AfterExtra != nil {
			trailing = ","
		} else {
			comma = ","
		}
		end = last.EndOffset
	}
	e.put(end, end, comma)
	_, tall := v.(object)
	if !e.multiline(obj) && (len(obj.Members) > 0 || !tall) {
		blank := ""
		if len(obj.Members) > 0 {
			blank = " "
		}
		e.put(place, place, blank+jsonString(name)+": "+inlined(v).render(e.style, "")+trailing)
		return
	}
	indent := e.memberIndent(at, obj)
	text := e.newline + indent + jsonString(name) + ": " + v.render(e.style, indent) + trailing
	if bytes.ContainsRune(e.text[place:brace], '\n') {
		brace = place
	} else {
		text += e.newline + e.indentAt(at.StartOffset)
	}
	e.put(place, brace, text)
}

// multiline reports whether the members of obj stand on lines of their own.
func (e *splicer) multiline(obj *hujson.Object) bool {
	for i := range obj.Members {
		if bytes.ContainsRune(obj.Members[i].Name.BeforeExtra, '\n') {
			return true
		}
	}
	return bytes.ContainsRune(obj.AfterExtra, '\n')
}

// memberIndent is the indentation of the last member that begins a line.
func (e *splicer) memberIndent(at *hujson.Value, obj *hujson.Object) string {
	for i := len(obj.Members) - 1; i >= 0; i-- {
		name := &obj.Members[i].Name
		if bytes.ContainsRune(name.BeforeExtra, '\n') {
			return e.indentAt(name.StartOffset)
		}
	}
	return e.indentAt(at.StartOffset) + e.unit
}

// indentAt is the blank that the line of offset begins with.
func (e *splicer) indentAt(offset int) string {
	line := e.text[bytes.LastIndexByte(e.text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// appendRoot fills a file that has no value yet, after the comments that it has.
func (e *splicer) appendRoot(name string, v value) {
	end := len(e.text)
	text := object{{rootKey, object{{name, v}}}}.render(e.style, "") + e.newline
	if end > 0 && e.text[end-1] != '\n' {
		text = e.newline + text
	}
	e.put(end, end, text)
}

// result applies the splices, and makes sure that nothing but the server called
// name is another than before.
func (e *splicer) result(name string) ([]byte, error) {
	slices.SortStableFunc(e.splices, func(a, b splice) int { return cmp.Compare(a.start, b.start) })
	var out bytes.Buffer
	out.Write(e.bom)
	at := 0
	for _, s := range e.splices {
		out.Write(e.text[at:s.start])
		out.WriteString(s.text)
		at = s.end
	}
	out.Write(e.text[at:])
	if out.Len() > MaxFile {
		return nil, fmt.Errorf("edit the spec file: it would be larger than %d MiB", MaxFile>>20)
	}
	before, err := Parse(slices.Concat(e.bom, e.text), User)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	after, err := Parse(out.Bytes(), User)
	if err != nil {
		return nil, fmt.Errorf("edit the spec file: the result would be broken: %w", err)
	}
	c := Diff(before, after)
	if !slices.Equal(slices.Concat(c.Added, c.Changed, c.Removed), []string{name}) {
		return nil, fmt.Errorf("edit the spec file: %w", ErrShape)
	}
	if e := after.Find(name); len(c.Added) > 0 && e.Err != nil {
		return nil, e.Err
	}
	return out.Bytes(), nil
}

// style is how a file is written.
type style struct{ newline, unit string }

// styleOf finds a file's style from its first lines.
func styleOf(text []byte) style {
	s := style{"\n", "  "}
	if bytes.Contains(text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		trimmed := strings.TrimLeft(line, " \t")
		if strings.HasPrefix(trimmed, `"`) && len(trimmed) < len(line) {
			s.unit = line[:len(line)-len(trimmed)]
			break
		}
	}
	return s
}
