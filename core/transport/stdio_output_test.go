package transport

import (
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// Case 8.
func TestStderrLines(t *testing.T) {
	long := strings.Repeat("é", maxLogLine)
	for in, want := range map[string][]string{
		"":                                {},
		"a\nb\r\nc":                       {"a", "b", "c"},
		"\n\n":                            {},
		"a\n\nb":                          {"a", "b"},
		"10%\r20%\r100%\r\ndone\n":        {"100%", "done"},
		"10%\r20%\r":                      {"20%"},
		"50%\rshort\nnext":                {"short", "next"},
		"x" + long + "\nnext":             {"x" + long[:maxLogLine-2] + " …", "next"},
		strings.Repeat("-", maxLogLine):   {strings.Repeat("-", maxLogLine)},
		strings.Repeat("-", maxLogLine+1): {strings.Repeat("-", maxLogLine) + " …"},
	} {
		var got []string
		o := serverOutput{log: func(source, line string) {
			if source != "stderr" {
				t.Errorf("source %q", source)
			}
			got = append(got, line)
		}}
		o.drain(iotest.HalfReader(strings.NewReader(in)))
		if !slices.Equal(got, want) {
			t.Errorf("%.40q: got %.80q, want %.80q", in, got, want)
		}
		if !slices.Equal(o.words(), want) {
			t.Errorf("%.40q: the last words are %.80q", in, o.words())
		}
	}
}

func FuzzStderrLines(f *testing.F) {
	f.Add([]byte("a\rb\r\n\xff\xfe\n"))
	f.Add([]byte(strings.Repeat("é", maxLogLine)))
	f.Fuzz(func(t *testing.T, in []byte) {
		o := serverOutput{log: func(_, line string) {
			if len(line) > maxLogLine+len(" …") || strings.ContainsAny(line, "\r\n") || utf8.Valid(in) && !utf8.ValidString(line) {
				t.Fatalf("line %q", line)
			}
		}}
		o.drain(strings.NewReader(string(in)))
		if len(o.words()) > lastWords {
			t.Fatalf("%d last words", len(o.words()))
		}
	})
}
