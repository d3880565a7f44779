package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

const (
	// MaxFile is the size of the largest file that is read, in bytes.
	MaxFile = 4 << 20
	// maxDepth bounds nesting: the parser below recurses, and a stack that
	// overflows cannot be recovered from.
	maxDepth = 200
)

var utf8BOM = []byte{0xEF, 0xBB, 0xBF}

// document is a parsed file. Offsets in root count from after the byte order
// mark, as text does.
type document struct {
	bom  []byte
	text []byte
	// root is nil when there are at most blanks and comments.
	root *hujson.Value

	cursor cursor
}

// parseDocument reads JSONC. The error is a [*SyntaxError].
func parseDocument(file []byte) (*document, error) {
	if len(file) > MaxFile {
		return nil, &SyntaxError{
			Pos{1, 1},
			fmt.Sprintf("the file is larger than %d MiB", MaxFile>>20),
			"remove what does not belong in it",
		}
	}
	d := &document{text: file}
	if bytes.HasPrefix(file, utf8BOM) {
		d.bom, d.text = file[:len(utf8BOM)], file[len(utf8BOM):]
	}
	if err := checkBytes(d.text); err != nil {
		return nil, err
	}
	// The library wants a line end after a comment, also at the end of the file.
	ended := append(d.text[:len(d.text):len(d.text)], '\n')
	root, err := hujson.Parse(ended)
	if root.Value == nil && onlyExtra(ended, err) {
		return d, nil
	}
	if err != nil {
		return nil, d.syntaxError(err)
	}
	d.root = &root
	return d, nil
}

// checkBytes refuses what is no text, or too deep to parse.
func checkBytes(text []byte) error {
	if bytes.HasPrefix(text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(text, []byte{0xFE, 0xFF}) {
		return &SyntaxError{Pos{1, 1}, "the file is UTF-16", "save it as UTF-8"}
	}
	if !utf8.Valid(text) {
		at := 0
		for at < len(text) {
			r, n := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return &SyntaxError{position(text, at), "the text is not UTF-8", "save the file as UTF-8"}
	}
	if at := tooDeep(text); at >= 0 {
		return &SyntaxError{
			position(text, at), fmt.Sprintf("nested more than %d deep", maxDepth),
			"remove what does not belong in the file",
		}
	}
	return nil
}

// tooDeep returns the offset of the first bracket below maxDepth, or -1.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			end := ""
			switch {
			case bytes.HasPrefix(text[i:], []byte("//")):
				end = "\n"
			case bytes.HasPrefix(text[i:], []byte("/*")):
				end = "*/"
			default:
				continue
			}
			n := bytes.Index(text[i+2:], []byte(end))
			if n < 0 {
				return -1
			}
			i += 2 + n + len(end) - 1
		}
	}
	return -1
}

// onlyExtra reports whether parsing failed for want of any value at all.
func onlyExtra(text []byte, err error) bool {
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	_, rest := hujson.Parse(append([]byte("null"), text...))
	return rest == nil
}

// syntaxError turns the parser's error into ours. The parser's text quotes the
// file, so that nothing but the place and the kind is taken from it.
func (d *document) syntaxError(err error) error {
	var line, column int
	if _, scan := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scan != nil {
		return &SyntaxError{Pos{1, 1}, "the file is not JSON", "correct the file"}
	}
	// The parser counts bytes where an editor counts characters.
	offset := 0
	for range line - 1 {
		n := bytes.IndexByte(d.text[offset:], '\n')
		if n < 0 { // the end that was added
			offset, column = len(d.text), 1
			break
		}
		offset += n + 1
	}
	offset = min(offset+column-1, len(d.text))
	e := &SyntaxError{Pos: position(d.text, offset)}

	rest := d.text[offset:]
	is := func(part string) bool { return strings.Contains(err.Error(), part) }
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Sentence, e.Action = "the file ends in the middle of a value", "close the open bracket, quote or comment"
	case len(rest) == 0:
		e.Sentence, e.Action = "the file ends too early", "close the open bracket"
	case is("after object value"), is("after array value"):
		e.Sentence, e.Action = "a comma or a closing bracket is missing", "put a comma before this place"
	case is("after object name"):
		e.Sentence, e.Action = "a colon is missing after a name", "put a colon between name and value"
	case is("start of object name"):
		e.Sentence, e.Action = "a name must be in double quotes", "put the name in double quotes"
	case is("after top-level value"):
		e.Sentence, e.Action = "something follows the end of the JSON object", "remove what follows, or the bracket that closes too early"
	case is("in line comment"):
		e.Sentence, e.Action = "a comment holds an invisible line separator", "remove the separator"
	case rest[0] == '"':
		e.Sentence, e.Action = "a text is not a valid JSON string", "check for a missing quote, a lone backslash or a line break inside quotes"
	case rest[0] == '\'':
		e.Sentence, e.Action = "a text is in single quotes", "use double quotes"
	default:
		e.Sentence, e.Action = "a value was expected here", "write a string in double quotes, a number, true, false, null, an object or an array"
	}
	return e
}
