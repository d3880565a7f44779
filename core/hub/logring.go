package hub

import (
	"strings"
	"sync"
	"time"
)

// The bounds of a server's log.
const (
	maxLogLines = 2000
	maxLogLine  = 4 << 10
)

// logRing keeps the last lines of one server. It has its own lock, since a server
// may log thousands of lines a second.
type logRing struct {
	mask func(string) string

	mu    sync.Mutex
	lines [maxLogLines]LogLine
	next  uint64 // of the next line; the first is 1
}

// add appends a line and returns its number.
func (r *logRing) add(from, level, text string) uint64 {
	text = cut(r.mask(text), maxLogLine)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	r.lines[r.next%maxLogLines] = LogLine{Seq: r.next, At: time.Now(), From: from, Level: level, Text: text}
	return r.next
}

// cut bounds a text that is already masked: what is cut first could end in a part of a
// secret that the masker does not know.
func cut(s string, most int) string {
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// after returns the lines after seq, oldest first, at most max.
func (r *logRing) after(seq uint64, most int) []LogLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := seq + 1
	if r.next >= maxLogLines {
		first = max(first, r.next-maxLogLines+1)
	}
	if most > 0 && r.next >= uint64(most) {
		first = max(first, r.next-uint64(most)+1)
	}
	var out []LogLine
	for i := first; i <= r.next; i++ {
		out = append(out, r.lines[i%maxLogLines])
	}
	return out
}

func (r *logRing) seq() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}
