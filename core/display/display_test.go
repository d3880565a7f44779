package display

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A7, case 104.
func TestLineShowsWhatHides(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"right-to-left override":       {"read\u202eetirw", "read⟨U+202E⟩etirw"},
		"bidi isolates":                {"a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"},
		"zero width space":             {"Safe\u200b tool", "Safe⟨U+200B⟩ tool"},
		"null":                         {"pa\x00th", "pa⟨U+0000⟩th"},
		"line separator":               {"ls\u2028rm -rf x", "ls⟨U+2028⟩rm -rf x"},
		"padding":                      {"a" + strings.Repeat(" ", 4000) + "rm -rf x", "a⟨4,000 spaces⟩rm -rf x"},
		"padding of odd spaces":        {"a" + strings.Repeat("\u00a0\u3000", 20) + "b", "a⟨40 spaces⟩b"},
		"padding of tabs":              {"a" + strings.Repeat("\t", 20) + "b", "a⟨80 spaces⟩b"},
		"terminal sequence":            {"\x1b[2K\x1b[1Aok", "⟨U+001B⟩[2K⟨U+001B⟩[1Aok"},
		"tag character":                {"x\U000e0061y", "x⟨U+E0061⟩y"},
		"newlines in a name":           {"Filesystem\n\nApproved by admin", "Filesystem⟨U+000A⟩⟨U+000A⟩Approved by admin"},
		"carriage return":              {"safe\rrm", "safe⟨U+000D⟩rm"},
		"soft hyphen":                  {"pass\u00adword", "pass⟨U+00AD⟩word"},
		"byte order mark":              {"\ufeffa", "⟨U+FEFF⟩a"},
		"hangul filler":                {"a\u3164b\uffa0", "a⟨U+3164⟩b⟨U+FFA0⟩"},
		"braille blank":                {"a\u2800b", "a⟨U+2800⟩b"},
		"grapheme joiner":              {"a\u034fb", "a⟨U+034F⟩b"},
		"selector on a letter":         {"a\ufe0fb", "a⟨U+FE0F⟩b"},
		"two selectors on an emoji":    {"❤\ufe0f\ufe0f", "❤\ufe0f⟨U+FE0F⟩"},
		"supplementary selector":       {"葛\U000e0100", "葛⟨U+E0100⟩"},
		"joiner between Latin letters": {"ad\u200cmin", "ad⟨U+200C⟩min"},
		"private use":                  {"\ue000", "⟨U+E000⟩"},
		"broken UTF-8":                 {"a\xffb\xc3", "a⟨0xFF⟩b⟨0xC3⟩"},
		"mark without a base":          {"\u0338ok", "⟨U+0338⟩ok"},
		"stacked marks":                {"a" + strings.Repeat("\u0301", 30) + "b", "a" + strings.Repeat("\u0301", 6) + "⟨24 more marks⟩b"},

		"plain":              {"Safe tool (v1.2) – „ok“", "Safe tool (v1.2) – „ok“"},
		"Hebrew":             {"שלום עולם", "שלום עולם"},
		"Hebrew with points": {"שָׁלוֹם", "שָׁלוֹם"},
		"Arabic":             {"مرحبا بالعالم", "مرحبا بالعالم"},
		"Persian joiner":     {"می\u200cخواهم", "می\u200cخواهم"},
		"Hindi joiner":       {"क्\u200dष", "क्\u200dष"},
		"Thai":               {"ที่นี่", "ที่นี่"},
		"Chinese":            {"東京都 文件系统", "東京都 文件系统"},
		"family emoji":       {"👨\u200d👩\u200d👧 ❤\ufe0f 👍🏽", "👨\u200d👩\u200d👧 ❤\ufe0f 👍🏽"},
		"rainbow flag":       {"🏳\ufe0f\u200d🌈", "🏳\ufe0f\u200d🌈"},
		"keycap":             {"1\ufe0f\u20e3 #\ufe0f\u20e3", "1\ufe0f\u20e3 #\ufe0f\u20e3"},
		"spaces as writing":  {"a  b\tc", "a  b    c"},
		"empty":              {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := Line(tt.in, 0)
			if got != tt.want {
				t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.want)
			}
			if again := Line(got, 0); again != got {
				t.Errorf("shown again %q, want the same", again)
			}
			if clean := tt.in == tt.want; clean && Hidden(tt.in) {
				t.Errorf("Hidden(%q), but it is shown as it is", tt.in)
			}
		})
	}
}

func TestLineIsBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		in   string
		max  int
		want string
	}{
		"fits":                       {"abcde", 5, "abcde"},
		"cut in a word":              {"abcdefgh", 5, "abcde… 3 more"},
		"never inside an escape":     {"abc\u202edef", 5, "abc… 4 more"},
		"a thousand and more":        {strings.Repeat("é", 2005), 5, "ééééé… 2,000 more"},
		"wide characters are double": {"東京都庁", 5, "東京… 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Line(tt.in, tt.max); got != tt.want {
				t.Errorf("Line(%q, %d) = %q, want %q", tt.in, tt.max, got, tt.want)
			}
		})
	}
}

func TestLines(t *testing.T) {
	for name, tt := range map[string]struct {
		in         string
		max, width int
		want       []string
	}{
		"empty":             {"", 9, 20, []string{""}},
		"one":               {"hello", 9, 20, []string{"hello"}},
		"line ends":         {"a\nb\r\nc\n", 9, 20, []string{"a", "b", "c"}},
		"lone return":       {"a\rb", 9, 20, []string{"a⟨U+000D⟩b"}},
		"separator":         {"a\u2029b", 9, 20, []string{"a⟨U+2029⟩b"}},
		"indentation stays": {"{\n" + strings.Repeat(" ", 8) + "\"a\": 1\n}", 9, 40, []string{"{", `        "a": 1`, "}"}},
		"too much indent":   {strings.Repeat(" ", 100) + "x", 9, 40, []string{"⟨100 spaces⟩x"}},
		"three empty stay":  {"a\n\n\n\nb", 9, 20, []string{"a", "", "", "", "b"}},
		"many empty":        {"a" + strings.Repeat("\n", 4001) + "b", 9, 40, []string{"a", "⟨4,000 empty lines⟩", "b"}},
		"many blank":        {"a" + strings.Repeat(" \t\n", 11) + "b", 9, 40, []string{"a", "⟨10 empty lines⟩", "b"}},
		"many at the start": {strings.Repeat("\n", 50) + "b", 9, 40, []string{"⟨50 empty lines⟩", "b"}},
		"wrap at a space":   {"the quick brown fox", 9, 12, []string{"the quick", "brown fox"}},
		"break a long run":  {strings.Repeat("x", 25), 9, 10, []string{"xxxxxxxxxx", "xxxxxxxxxx", "xxxxx"}},
		"wide":              {"東京都庁舎", 9, 8, []string{"東京都庁", "舎"}},
		"more lines":        {"a\nb\nc\nd", 3, 20, []string{"a", "b", "… 3 more characters"}},
		"exactly":           {"a\nb\nc\n", 3, 20, []string{"a", "b", "c"}},
		"one line is left":  {"a\nb", 1, 20, []string{"… 3 more characters"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Lines(tt.in, tt.max, tt.width)); diff != "" {
				t.Errorf("Lines(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// Case 104: "contains hidden characters".
func TestHidden(t *testing.T) {
	for in, want := range map[string]bool{
		"plain text\n\twith lines\r\nand tabs": false,
		"שלום 👨\u200d👩\u200d👧":                 false,
		"a\u200bb":                             true,
		"a\x1b[0m":                             true,
		"a" + strings.Repeat(" ", 200):         true,
		"a" + strings.Repeat("\n", 200) + "b":  true,
		"a\xff":                                true,
	} {
		if got := Hidden(in); got != want {
			t.Errorf("Hidden(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestPlainDropsColourAlone(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[32minfo\x1b[0m: up":     "info: up",
		"\x1b[38;5;200mx\x1b[m":       "x",
		"\x1b[2Kx":                    "\x1b[2Kx",
		"\x1b[3\x1b[0m1mx":            "\x1b[31mx",
		"\x1b[":                       "\x1b[",
		"no sequence":                 "no sequence",
		"\x1b]0;title\x07\x1b[1mbold": "\x1b]0;title\x07bold",
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFirst(t *testing.T) {
	for in, want := range map[string]string{
		"\n\n  Reads a file.\nMore.": "Reads a file.",
		"one":                        "one",
		" \n\t":                      "",
		"":                           "",
	} {
		if got := First(in, 80); got != want {
			t.Errorf("First(%q) = %q, want %q", in, got, want)
		}
	}
}

// forbidden are the characters that no output may hold, whatever their neighbours.
func forbidden(r rune) bool {
	if r == zwj || r == zwnj || r == vs15 || r == vs16 {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Bidi_Control,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) ||
		r >= 0xe0000 && r <= 0xe0fff || r == 0xfeff || r == 0xad || r == 0x2800
}

func check(t interface{ Fatalf(string, ...any) }, in string, maxLines, width int) {
	line := Line(in, width)
	for _, r := range line {
		if forbidden(r) {
			t.Fatalf("Line(%q) = %q holds %U", in, line, r)
		}
	}
	if !utf8.ValidString(line) {
		t.Fatalf("Line(%q) = %q is no UTF-8", in, line)
	}
	// One column may carry a few marks, and the count comes on top.
	if n := utf8.RuneCountInString(line); width > 0 && n > width*(2+maxMarks)+32 {
		t.Fatalf("Line(%q, %d) has %d characters", in, width, n)
	}
	if all := Line(in, 0); Line(all, 0) != all {
		t.Fatalf("Line(%q) = %q, and shown again %q", in, all, Line(all, 0))
	}
	lines := Lines(in, maxLines, width)
	if maxLines > 0 && len(lines) > maxLines || len(lines) == 0 {
		t.Fatalf("Lines(%q, %d, %d) has %d lines", in, maxLines, width, len(lines))
	}
	for _, l := range lines {
		if n := utf8.RuneCountInString(l); n > max(width, 8)*(2+maxMarks)+32 {
			t.Fatalf("a line of Lines(%q, %d, %d) has %d characters", in, maxLines, width, n)
		}
		for _, r := range l {
			if forbidden(r) {
				t.Fatalf("Lines(%q) has %q with %U", in, l, r)
			}
		}
	}
	if Line(in, 0) == in && strings.IndexByte(in, '\n') < 0 && !strings.Contains(in, "⟨") && Hidden(in) {
		t.Fatalf("Hidden(%q), but it is shown as it is", in)
	}
}

func TestAnyStringIsSafeAndBounded(t *testing.T) {
	odd := []rune("a b\t\n\r\u200b\u200c\u200d\u202e\u2028\ufe0f\ufe0e\u20e3\u0301\u3000\u00a0❤👍🏽1#سक्\u1160\U000e0061\U000e0100\x1b\x00⟨⟩…")
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOf(rapid.OneOf(rapid.SampledFrom(odd), rapid.Rune())).Draw(t, "in")
		check(t, in, rapid.IntRange(0, 6).Draw(t, "lines"), rapid.IntRange(1, 40).Draw(t, "width"))
	})
}

// What Lines shows of a text is the text, when nothing in it hides.
func TestNothingIsLostInWrapping(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zé京]{1,30}`)).Draw(t, "words")
		width := rapid.IntRange(8, 40).Draw(t, "width")
		in := strings.Join(words, " ")
		got := strings.Join(Lines(in, 0, width), "")
		if want := strings.ReplaceAll(in, " ", ""); strings.ReplaceAll(got, " ", "") != want {
			t.Fatalf("Lines(%q, %d) holds %q", in, width, got)
		}
	})
}

func FuzzDisplay(f *testing.F) {
	for _, s := range []string{"read\u202eetirw", "a\n\n\n\n\n\nb", "👨\u200d👩", "\x1b[31m", "\xf0\x28", "a\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301"} {
		f.Add(s, 3, 20)
	}
	f.Fuzz(func(t *testing.T, in string, lines, width int) {
		check(t, in, max(0, min(lines, 1000)), max(1, min(width, 1000)))
	})
}

// Case 103: a megabyte without a space must cost milliseconds.
func BenchmarkLinesMegabyte(b *testing.B) {
	for name, in := range map[string]string{
		"base64": strings.Repeat("QUJD", 1<<18),
		"prose":  strings.Repeat("the quick brown fox jumps ", 1<<20/26),
		"han":    strings.Repeat("東京都", 1<<20/9),
		"hidden": strings.Repeat("\u202e", 1<<20/3),
		"spaces": strings.Repeat(" ", 1<<20),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(1 << 20)
			for b.Loop() {
				Lines(in, 0, 120)
			}
		})
	}
}

func BenchmarkLineMegabyte(b *testing.B) {
	in := strings.Repeat("QUJD", 1<<18)
	b.SetBytes(1 << 20)
	for b.Loop() {
		Line(in, 200)
	}
}
