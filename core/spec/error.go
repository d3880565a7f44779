package spec

import (
	"fmt"
	"strings"
)

// SyntaxError says why a file is not in force as a whole. It quotes nothing from
// the file, which may hold secrets.
type SyntaxError struct {
	Pos
	// Sentence says what is wrong, without the place.
	Sentence string
	// Action is the one thing to try next, as an instruction.
	Action string
}

// Error gives "line L, column C: sentence".
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Sentence)
}

// InvalidError says why one server of a file cannot be used (P1). Its
// neighbours are not concerned.
type InvalidError struct {
	// Pos is the place of what is wrong; the zero Pos for a spec that came from
	// no file.
	Pos
	// Sentence says what is wrong; it holds names and never a value.
	Sentence string
	// Action is the one thing to try next, as an instruction.
	Action string
	// Spec is the refused spec, as far as it could be read.
	Spec Redacted
}

// Error gives the sentence followed by the redacted spec.
func (e *InvalidError) Error() string {
	return "invalid spec: " + e.Sentence + ": " + e.Spec.String()
}

// Note is a remark on the file that stops nothing, such as an unknown key.
type Note struct {
	Pos
	Text string
}

// String gives the text with its place.
func (n Note) String() string {
	if n.Line == 0 {
		return n.Text
	}
	return fmt.Sprintf("%s (line %d)", n.Text, n.Line)
}

// maxNotes bounds the remarks on one server, and those on the file.
const maxNotes = 20

func addNote(notes *[]Note, pos Pos, format string, args ...any) {
	switch n := len(*notes); {
	case n < maxNotes:
		*notes = append(*notes, Note{pos, fmt.Sprintf(format, args...)})
	case n == maxNotes:
		*notes = append(*notes, Note{Text: "there are more remarks than are shown"})
	}
}

// quote shows a name of the file in a sentence: bounded, and on one line.
func quote(name string) string { return fmt.Sprintf("%q", clip(name, 64)) }

// clip bounds text to n bytes.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
