package spec

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Pos is a place in the file. Both numbers start at 1; a column counts
// characters, as editors do. The zero Pos is nowhere.
type Pos struct{ Line, Column int }

// String gives "line:column".
func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// position returns the place of the byte at offset.
func position(text []byte, offset int) Pos {
	var c cursor
	return c.at(text, offset)
}

// cursor finds places that are asked for in rising order without counting from
// the start each time.
type cursor struct {
	offset int
	Pos
}

func (c *cursor) at(text []byte, offset int) Pos {
	offset = min(offset, len(text))
	if offset < c.offset || c.Line == 0 {
		*c = cursor{0, Pos{1, 1}}
	}
	between := text[c.offset:offset]
	if line := bytes.LastIndexByte(between, '\n') + 1; line > 0 {
		c.Line += bytes.Count(between, []byte{'\n'})
		c.Column = 1
		between = between[line:]
	}
	c.Column += utf8.RuneCount(between)
	c.offset = offset
	return c.Pos
}
