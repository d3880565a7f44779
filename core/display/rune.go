package display

import (
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Joiners and selectors that are kept only where writing needs them.
const (
	zwnj   = '\u200c'
	zwj    = '\u200d'
	vs15   = '\ufe0e'
	vs16   = '\ufe0f'
	keycap = '\u20e3'
)

// visibleFormat are the characters of class Cf that have a glyph.
var visibleFormat = &unicode.RangeTable{
	R16: []unicode.Range16{{0x0600, 0x0605, 1}, {0x06dd, 0x06dd, 1}, {0x08e2, 0x08e2, 1}},
	R32: []unicode.Range32{{0x110bd, 0x110cd, 0x10}},
}

// blank are characters that count as letters or symbols and show nothing.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{{0x2800, 0x2800, 1}, {0xfffc, 0xfffc, 1}},
	R32: []unicode.Range32{{0x16fe4, 0x16fe4, 1}, {0x1d159, 0x1d159, 1}},
}

// joining are the scripts in which a joiner inside a word changes its spelling.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
	unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer,
}

// shown reports whether r may stand in displayed text as it is. White space,
// joiners and presentation selectors are decided elsewhere, by their neighbours.
func shown(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r > ' ' && r < 0x7f
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, blank):
		return false
	case unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S):
		return true
	case unicode.Is(unicode.Cf, r):
		return unicode.Is(visibleFormat, r)
	}
	// Emoji newer than our tables.
	return r >= 0x1f000 && r <= 0x1faff
}

// space reports whether r is white space inside a line.
func space(r rune) bool {
	return r == '\t' || unicode.Is(unicode.Zs, r)
}

// pictured reports whether r is a base that emoji sequences are built from.
func pictured(r rune) bool {
	switch r {
	case '\u203c', '\u2049', '\u3030', '\u303d':
		return true
	case utf8.RuneError: // stands for a broken byte, which is shown as an escape
		return false
	}
	return r > 0xff && unicode.In(r, unicode.So, unicode.Sm) || r == '©' || r == '®' || r >= 0x1f000 && r <= 0x1faff
}

// keyBase reports whether r is the base of a keycap emoji.
func keyBase(r rune) bool { return r == '#' || r == '*' || r >= '0' && r <= '9' }

// joins reports whether a joiner between a and b is part of how they are written.
func joins(a, joiner, b rune) bool {
	if joiner == zwj && pictured(b) && (pictured(a) || a == vs16) {
		return true
	}
	for _, script := range joining {
		if unicode.Is(script, a) {
			return unicode.Is(script, b)
		}
	}
	return false
}

// columns is how many columns of a terminal r takes.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me), r == zwj, r == zwnj:
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

func escape(r rune) string { return fmt.Sprintf("⟨U+%04X⟩", r) }

func escapeByte(b byte) string { return fmt.Sprintf("⟨0x%02X⟩", b) }

// Count writes n with a comma between thousands: 4,000.
func Count(n int) string {
	s := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
