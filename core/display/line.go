package display

import (
	"strings"
	"unicode/utf8"
)

// Line returns s as one line of at most about max columns, safe to show. A line
// end inside s is a character like any other and is shown as an escape. What does
// not fit is left out with a count: "… 1,234 more". A max of 0 or less is no limit.
func Line(s string, max int) string {
	if max <= 0 {
		max = int(^uint(0) >> 1)
	}
	if len(s) <= max && printable(s) == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(min(len(s), 4*min(max, len(s))+32))
	sc := scanner{s: s}
	for used := 0; ; {
		start := sc.at
		p, ok := sc.next()
		if !ok {
			return b.String()
		}
		if used+p.cols > max {
			cut := start
			if p.ascii {
				b.WriteString(p.text[:max-used])
				cut += max - used
			}
			b.WriteString("… " + more(s[cut:]))
			return b.String()
		}
		b.WriteString(p.text)
		used += p.cols
	}
}

func more(rest string) string { return Count(utf8.RuneCountInString(rest)) + " more" }

// Hidden reports whether s holds something that a plain label would not show, or
// would push out of sight: what [Lines] shows as an escape or a count. Line ends
// and tabs are not hidden.
func Hidden(s string) bool {
	sc := scanner{s: s, lines: true}
	for {
		p, ok := sc.next()
		if !ok {
			return false
		}
		if p.kind == marked || p.kind == lineEnd && p.text != "" {
			return true
		}
	}
}
