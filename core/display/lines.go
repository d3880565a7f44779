package display

import "strings"

// Lines returns s as at most maxLines lines of at most about maxWidth columns,
// each safe to show. Long lines are broken at white space where there is some and
// anywhere where there is none. When something is left out the last line says how
// much: "… 1,234 more characters". A maxLines of 0 or less is no limit; maxWidth
// is at least 8.
func Lines(s string, maxLines, maxWidth int) []string {
	if maxLines <= 0 {
		maxLines = int(^uint(0) >> 1)
	}
	w := wrapper{width: max(maxWidth, 8), max: maxLines}
	sc := scanner{s: s, lines: true}
	for {
		start := sc.at
		p, ok := sc.next()
		if !ok {
			w.flush()
			break
		}
		w.add(p, start)
		if len(w.lines) > w.max {
			break
		}
	}
	if len(w.lines) > w.max {
		rest := s[w.starts[w.max-1]:]
		w.lines = append(w.lines[:w.max-1], "… "+more(rest)+" characters")
	}
	return w.lines
}

// wrapper builds lines of a limited width from pieces. It remembers where in the
// source each line starts, so that what is left out can be counted.
type wrapper struct {
	width, max int
	lines      []string
	starts     []int

	line  strings.Builder
	cols  int
	start int // of the line, in the source
	open  bool
	// The last place where the line may be broken: behind it, in the line, the
	// columns before it and its place in the source.
	breakAt, breakCols, breakSrc int
}

func (w *wrapper) add(p piece, src int) {
	if !w.open {
		w.open, w.start = true, src
	}
	switch {
	case p.kind == lineEnd:
		if p.text == "" {
			w.end()
			return
		}
		if w.cols > 0 {
			w.end()
			w.start = src
		}
		w.line.WriteString(p.text)
		w.end()
		return
	case p.kind == blankly && w.cols+p.cols > w.width && w.cols > 0:
		// White space that does not fit is where the line breaks.
		w.end()
		return
	case p.ascii:
		w.run(p.text, src)
		return
	}
	w.put(p.text, p.cols, src)
	if p.kind == blankly {
		w.breakAt, w.breakCols, w.breakSrc = w.line.Len(), w.cols, src+len(p.text)
	}
}

// run adds ASCII, cut where it has to be.
func (w *wrapper) run(s string, src int) {
	for len(s) > 0 {
		n := len(s)
		if n > w.width {
			// Too long for any line: fill this one.
			n = w.width - w.cols
			if n <= 0 {
				n = w.width
			}
		}
		w.put(s[:n], n, src)
		s, src = s[n:], src+n
		if len(w.lines) > w.max {
			return
		}
	}
}

// put adds a piece that is not cut, breaking the line before it if it must.
func (w *wrapper) put(s string, cols, src int) {
	if w.cols > 0 && w.cols+cols > w.width {
		w.wrap(src)
	}
	if !w.open {
		w.open, w.start = true, src
	}
	w.line.WriteString(s)
	w.cols += cols
}

// wrap ends the line at its last break if that leaves a fair part of it.
func (w *wrapper) wrap(src int) {
	if w.breakAt == 0 || w.breakCols < w.width/2 {
		w.end()
		w.open, w.start = true, src
		return
	}
	whole := w.line.String()
	tail, cols, from := whole[w.breakAt:], w.cols-w.breakCols, w.breakSrc
	w.line.Reset()
	w.line.WriteString(whole[:w.breakAt])
	w.end()
	w.open, w.start = true, from
	w.line.WriteString(tail)
	w.cols = cols
}

func (w *wrapper) end() {
	w.lines = append(w.lines, strings.TrimRight(w.line.String(), " "))
	w.starts = append(w.starts, w.start)
	w.line.Reset()
	w.cols, w.breakAt, w.open = 0, 0, false
}

// flush ends the last line; a text that ends with a line end has no further one.
func (w *wrapper) flush() {
	if w.open || len(w.lines) == 0 {
		w.end()
	}
}

// Plain removes terminal colour sequences (ESC [ … m), which carry no text, so
// that a coloured log stays readable. Every other sequence is left for [Line] to
// show.
func Plain(s string) string {
	if !strings.Contains(s, "\x1b[") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		end := i + 2
		for end < len(s) && end-i < 32 && (s[end] >= '0' && s[end] <= '9' || s[end] == ';' || s[end] == ':') {
			end++
		}
		if end < len(s) && s[end] == 'm' {
			b.WriteString(s[:i])
		} else {
			b.WriteString(s[:end])
			end--
		}
		s = s[end+1:]
	}
}

// First returns the first line of s that is not empty, for places that have room
// for one line of a longer text.
func First(s string, max int) string {
	for s != "" {
		line, rest, _ := strings.Cut(s, "\n")
		if trimmed := strings.TrimSpace(line); trimmed != "" {
			return Line(trimmed, max)
		}
		s = rest
	}
	return ""
}
