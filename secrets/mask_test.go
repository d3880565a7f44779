package secrets

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// K4, case 83.
func TestMask(t *testing.T) {
	pem := "-----BEGIN KEY-----\nMIIEvQIBADAN\r\nBgkqhkiG9w0B\n-----END KEY-----\n"
	tests := []struct {
		name  string
		known []string
		in    string
		want  string
	}{
		{"nothing known", nil, "ghp_S3CRET", "ghp_S3CRET"},
		{"the empty value", []string{""}, "text", "text"},
		{"alone", []string{"ghp_S3CRET"}, "ghp_S3CRET", "•••"},
		{"inside", []string{"ghp_S3CRET"}, "using ghp_S3CRET.", "using •••."},
		{"twice", []string{"ghp_S3CRET"}, "ghp_S3CRETghp_S3CRET", "••••••"},
		{"argument", []string{"T0K7"}, "--token=T0K7 --x", "--token=••• --x"},
		{"query", []string{"Q123"}, "https://h/mcp?api_key=Q123", "https://h/mcp?api_key=•••"},
		{"the longer of two", []string{"abcd", "abcdefgh"}, "abcdefgh abcd", "••• •••"},
		{"overlapping", []string{"abcdef", "defghi"}, "-abcdefghi-", "-•••-"},
		{"overlapping itself", []string{"abab"}, "-ababab-", "-•••-"},
		{"trimmed", []string{" s3cret\n"}, "s3cret", "•••"},
		{"scheme", []string{"Bearer s3cretvalue"}, "got s3cretvalue", "got •••"},
		{"one line of several", []string{pem}, "at MIIEvQIBADAN", "at •••"},
		{"another line of several", []string{pem}, "at BgkqhkiG9w0B", "at •••"},
		{"the frame of a key is no secret", []string{pem}, "-----BEGIN KEY-----", "-----BEGIN KEY-----"},
		{"short, alone", []string{"X7"}, "pin=X7, X7", "pin=•••, •••"},
		{"short, in a word", []string{"X7"}, "aX7 X7b 0X7 éX7", "aX7 X7b 0X7 éX7"},
		{"shorter than a window", []string{"abcd"}, "abc", "abc"},
		{"url", []string{"a/b+c d&ü"}, "?k=a%2Fb%2Bc+d%26%C3%BC", "?k=•••"},
		{"url, lower case", []string{"a/b+c d&ü"}, "?k=a%2fb%2bc+d%26%c3%bc", "?k=•••"},
		{"url path", []string{"a/b+c d&ü"}, "/a%2Fb+c%20d&%C3%BC/", "/•••/"},
		{"url, as JavaScript escapes", []string{"a!b'(c)* d"}, "=a!b'(c)*%20d", "=•••"},
		{"json", []string{"a\"b\\c\n<d>"}, `{"k":"a\"b\\c\n\u003cd\u003e"}`, `{"k":"•••"}`},
		{"json without html", []string{"a\"b\\c\n<d>"}, `{"k":"a\"b\\c\n<d>"}`, `{"k":"•••"}`},
		{"json with slashes escaped", []string{"ab/cd/ef"}, `"ab\/cd\/ef"`, `"•••"`},
		{"go quoted", []string{"ab\x00cd"}, `"ab\x00cd"`, `"•••"`},
		{"base64", []string{"s3cret"}, "czNjcmV0", "•••"},
		{"base64, padded", []string{"s3cret!"}, "czNjcmV0IQ==", "•••"},
		{"base64, unpadded", []string{"s3cret!"}, "czNjcmV0IQ", "•••"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m Masker
			m.Add(tt.known...)
			if got := m.Mask(tt.in); got != tt.want {
				t.Errorf("Mask(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// Basic authorization puts user and password into one base64 text, so the
// value begins at any of three places in it.
func TestMaskFindsAValueInsideLongerBase64(t *testing.T) {
	const value = "correct-horse-battery"
	var m Masker
	m.Add(value)
	for _, before := range []string{"", "u", "us", "use", "user:"} {
		for _, after := range []string{"", "x", "xy", "xyz"} {
			for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				text := enc.EncodeToString([]byte(before + value + after))
				masked := m.Mask("Basic " + text)
				if !strings.Contains(masked, Mask) {
					t.Fatalf("%q + value + %q is not masked: %s", before, after, masked)
				}
				// At most the bytes at the ends stay readable, in part.
				left := strings.ReplaceAll(strings.TrimPrefix(masked, "Basic "), Mask, "")
				if most := len(enc.EncodeToString([]byte(before+after))) + 8; len(left) > most {
					t.Errorf("%q + value + %q leaves %q", before, after, left)
				}
			}
		}
	}
}

// K4: however a value is written, masking leaves none of it.
func TestMaskLeavesNoEncodingOfAnyValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringN(4, 60, -1).Draw(t, "value")
		others := rapid.SliceOfN(rapid.StringN(4, 20, -1), 0, 5).Draw(t, "others")
		var m Masker
		m.Add(append(others, value)...)
		quoted, _ := json.Marshal(value)
		for kind, form := range map[string]string{
			"plain":  value,
			"query":  url.QueryEscape(value),
			"path":   url.PathEscape(value),
			"json":   inner(string(quoted)),
			"base64": base64.StdEncoding.EncodeToString([]byte(value)),
			"%q":     inner(fmt.Sprintf("%q", value)),
		} {
			text := "a line with " + form + " in it"
			masked := m.Mask(text)
			if strings.Contains(masked, form) || !strings.Contains(masked, Mask) {
				t.Fatalf("%s: Mask(%q) = %q", kind, text, masked)
			}
		}
	})
}

func TestMaskWhileValuesAreAdded(t *testing.T) {
	var m Masker
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 20 {
				value := fmt.Sprintf("value-%d-%d", i, n)
				m.Add(value)
				if got := m.Mask("x " + value); got != "x "+Mask {
					t.Errorf("Mask = %q", got)
				}
			}
		})
	}
	wg.Wait()
}

// K4: a store makes its values known before the caller has them.
func TestMaskedStoreMakesValuesKnown(t *testing.T) {
	inner := new(Memory)
	mustSet(t, inner, "OLD", "an old value")
	var m Masker
	s := m.Store(inner)
	mustSet(t, s, "NEW", "a new value")
	wantValue(t, s, "OLD", "an old value")
	if got := m.Mask("an old value, a new value"); got != "•••, •••" {
		t.Errorf("Mask = %q", got)
	}
}

func manyValues(n int) []string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("ghp_%08x%08x%08x", i*2654435761, i*40503, i)
	}
	return values
}

const logLine = `time=2026-12-01T10:00:00.000Z level=INFO msg="tools/call finished" server=github tool=search_repositories took=183ms bytes=18233 status=ok`

func BenchmarkMask(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		var m Masker
		values := manyValues(n)
		m.Add(values...)
		b.Run(fmt.Sprintf("%d values, none in the line", n), func(b *testing.B) {
			b.SetBytes(int64(len(logLine)))
			b.ReportAllocs()
			for b.Loop() {
				m.Mask(logLine)
			}
		})
		b.Run(fmt.Sprintf("%d values, one in the line", n), func(b *testing.B) {
			line := logLine + " token=" + values[n/2]
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				m.Mask(line)
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	values := manyValues(100)
	for b.Loop() {
		var m Masker
		for _, v := range values {
			m.Add(v)
		}
	}
}
