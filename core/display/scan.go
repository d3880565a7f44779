package display

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is still taken for writing; one more is taken for hiding.
const (
	maxPadding = 16 // spaces inside a line
	maxIndent  = 64 // spaces before a line's text
	maxEmpty   = 3  // empty lines in a row
	maxMarks   = 6  // combining marks on one base
	tabColumns = 4
)

type kind uint8

const (
	text    kind = iota // one character with its marks, or a run of ASCII
	blankly             // white space inside a line, kept
	lineEnd
	marked // an escape or a count, put in place of what was there
)

// piece is the smallest part of a string that is shown or left out whole. A run
// of ASCII may be cut anywhere.
type piece struct {
	kind  kind
	text  string
	cols  int
	ascii bool
}

// scanner cuts a string into pieces.
type scanner struct {
	s     string
	lines bool // a newline ends a line; otherwise it is a character like others
	at    int
	// prev is the last character that was kept as it is, 0 after anything else.
	prev rune
	// begun says that the line already has text, so that white space is padding
	// and not indentation.
	begun bool
}

// next returns the next piece; ok is false at the end.
func (sc *scanner) next() (p piece, ok bool) {
	if sc.at >= len(sc.s) {
		return piece{}, false
	}
	if n := printable(sc.s[sc.at:]); n > 0 {
		return sc.run(n), true
	}
	r, size := utf8.DecodeRuneInString(sc.s[sc.at:])
	switch {
	case r == utf8.RuneError && size <= 1:
		sc.at++
		return sc.mark(escapeByte(sc.s[sc.at-1])), true
	case sc.lines && r == '\n', sc.lines && r == '\r' && strings.HasPrefix(sc.s[sc.at+1:], "\n"):
		return sc.newline(), true
	case space(r):
		return sc.padding(), true
	case unicode.In(r, unicode.M) && shown(r):
		if r == keycap && sc.prev == vs16 {
			break
		}
		return sc.marks(), true
	}
	sc.at += size
	if !shown(r) && !sc.needed(r) {
		return sc.mark(escape(r)), true
	}
	sc.prev, sc.begun = r, true
	return piece{text: sc.s[sc.at-size : sc.at], cols: columns(r)}, true
}

// printable is the length of the run of visible ASCII at the start of s.
func printable(s string) int {
	n := 0
	for n < len(s) && s[n] > ' ' && s[n] < 0x7f {
		n++
	}
	return n
}

func (sc *scanner) run(n int) piece {
	sc.at += n
	sc.prev, sc.begun = rune(sc.s[sc.at-1]), true
	return piece{text: sc.s[sc.at-n : sc.at], cols: n, ascii: true}
}

func (sc *scanner) mark(s string) piece {
	sc.prev, sc.begun = 0, true
	return piece{kind: marked, text: s, cols: utf8.RuneCountInString(s)}
}

// needed reports whether r, which shows nothing itself, is part of how its
// neighbours are written. sc.at stands behind r.
func (sc *scanner) needed(r rune) bool {
	next, _ := utf8.DecodeRuneInString(sc.s[sc.at:])
	switch r {
	case vs15, vs16:
		return pictured(sc.prev) || r == vs16 && keyBase(sc.prev) && next == keycap
	case zwj, zwnj:
		return sc.prev != 0 && joins(sc.prev, r, next)
	}
	return false
}

// newline takes one line end, or a whole run of empty lines when there are too many.
func (sc *scanner) newline() piece {
	sc.prev = 0
	ends, after := 0, sc.at
	for i := sc.at; i < len(sc.s); {
		r, size := utf8.DecodeRuneInString(sc.s[i:])
		if r == '\n' {
			ends++
			after = i + size
		} else if !space(r) && (r != '\r' || !strings.HasPrefix(sc.s[i+1:], "\n")) {
			break
		}
		i += size
	}
	empty := ends - 1
	if !sc.begun {
		empty++
	}
	if empty > maxEmpty {
		sc.at, sc.begun = after, false
		p := piece{kind: lineEnd, text: "⟨" + Count(empty) + " empty lines⟩"}
		p.cols = utf8.RuneCountInString(p.text)
		return p
	}
	sc.at += strings.IndexByte(sc.s[sc.at:], '\n') + 1
	sc.begun = false
	return piece{kind: lineEnd}
}

// padding takes a run of white space.
func (sc *scanner) padding() piece {
	start, n := sc.at, 0
	plain := true
	for sc.at < len(sc.s) {
		r, size := utf8.DecodeRuneInString(sc.s[sc.at:])
		if !space(r) {
			break
		}
		if r == '\t' {
			n += tabColumns
			plain = false
		} else {
			n++
			plain = plain && r != '\u3000'
		}
		sc.at += size
	}
	sc.prev = 0
	limit := maxPadding
	if sc.lines && !sc.begun {
		limit = maxIndent
	}
	if n > limit {
		return sc.mark("⟨" + Count(n) + " spaces⟩")
	}
	if plain {
		return piece{kind: blankly, text: sc.s[start:sc.at], cols: n}
	}
	// A tab has no width of its own, and an ideographic space has two columns.
	out := strings.ReplaceAll(sc.s[start:sc.at], "\t", strings.Repeat(" ", tabColumns))
	return piece{kind: blankly, text: out, cols: n + strings.Count(out, "\u3000")}
}

// marks takes a run of combining marks. Without a base they would sit on
// whatever the window draws before the string.
func (sc *scanner) marks() piece {
	start, n, kept := sc.at, 0, sc.at
	for sc.at < len(sc.s) {
		r, size := utf8.DecodeRuneInString(sc.s[sc.at:])
		if !unicode.In(r, unicode.M) || !shown(r) {
			break
		}
		sc.at += size
		n++
		if n == maxMarks {
			kept = sc.at
		}
	}
	first, size := utf8.DecodeRuneInString(sc.s[start:])
	switch {
	case sc.prev == 0 || sc.prev == zwj || sc.prev == vs16:
		sc.at = start + size
		return sc.mark(escape(first))
	case n > maxMarks:
		return sc.mark(sc.s[start:kept] + "⟨" + Count(n-maxMarks) + " more marks⟩")
	}
	sc.prev, _ = utf8.DecodeLastRuneInString(sc.s[start:sc.at])
	cols := 0
	for _, r := range sc.s[start:sc.at] {
		cols += columns(r)
	}
	return piece{text: sc.s[start:sc.at], cols: cols}
}
