package secrets

import (
	"bytes"
	"io"
	"sync"
)

// maxLine is how much of a line a Writer holds before it writes a part of it,
// in bytes.
const maxLine = 64 << 10

// A Writer masks text on its way to another writer, line by line: a value that
// arrives in several pieces is still seen whole. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	masker *Masker
	next   io.Writer
	held   []byte
}

// Writer returns a Writer to next. Close it to write an unfinished last line.
func (m *Masker) Writer(next io.Writer) *Writer {
	return &Writer{masker: m, next: next}
}

// Write takes all of p, and writes every line that p completes.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = append(w.held, p...)
	end := bytes.LastIndexByte(w.held, '\n') + 1
	if len(w.held)-end > maxLine {
		end += w.divide(w.held[end:])
	}
	if err := w.flush(end); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what is held. It does not close the writer below.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush(len(w.held))
}

// flush writes the first n bytes held.
func (w *Writer) flush(n int) error {
	if n == 0 {
		return nil
	}
	_, err := io.WriteString(w.next, w.masker.Mask(string(w.held[:n])))
	w.held = append(w.held[:0], w.held[n:]...)
	return err
}

// divide returns how much of a line that is too long to hold can be written
// without cutting a value in two.
func (w *Writer) divide(line []byte) int {
	p := w.masker.current.Load()
	if p == nil {
		return len(line)
	}
	if len(line) <= maxLine+2*p.longest {
		return 0
	}
	if n := p.cut(string(line)); n > 0 {
		return n
	}
	// All of it is one run of a value that overlaps itself.
	return len(line)
}
