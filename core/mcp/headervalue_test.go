package mcp

import (
	"strings"
	"testing"
)

// C3, field cases 55 and 56; the first five rows are the specification's table.
func TestHeaderValues(t *testing.T) {
	for _, c := range []struct{ plain, encoded string }{
		{"us-west1", "us-west1"},
		{"Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="},
		{" padded ", "=?base64?IHBhZGRlZCA=?="},
		{"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
		{"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
		{"", ""},
		{"a b", "a b"},
		{"a\tb", "a\tb"},
		{"a\t", "=?base64?YQk=?="},
		{"=?BASE64?x?=", "=?BASE64?x?="},
		{"=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="},
		{"files/read", "files/read"},
		{"读取", "=?base64?6K+75Y+W?="},
		{"file:///tmp/ä b.txt", "=?base64?ZmlsZTovLy90bXAvw6QgYi50eHQ=?="},
		{"a\x7fb", "=?base64?YX9i?="},
	} {
		if got := EncodeHeaderValue(c.plain); got != c.encoded {
			t.Errorf("%q was encoded as %q, want %q", c.plain, got, c.encoded)
		}
		if got, ok := DecodeHeaderValue(c.encoded); !ok || got != c.plain {
			t.Errorf("%q was decoded as %q, %v, want %q", c.encoded, got, ok, c.plain)
		}
	}
}

func TestHeaderValuesNoClientMaySend(t *testing.T) {
	for _, v := range []string{"ä", "a\nb", "=?base64?!?=", "=?base64?YQ?=", "=?base64?YQ=\n=?=", " a"} {
		if got, ok := DecodeHeaderValue(v); ok {
			t.Errorf("%q was decoded as %q", v, got)
		}
	}
}

func FuzzHeaderValue(f *testing.F) {
	for _, s := range []string{"", "x", " x", "=?base64?YQ==?=", "世\x00", "=?base64?"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := EncodeHeaderValue(s)
		if strings.Trim(e, " \t") != e {
			t.Fatalf("%q was encoded as %q, which a recipient trims", s, e)
		}
		if got, ok := DecodeHeaderValue(e); !ok || got != s {
			t.Fatalf("%q became %q, then %q, %v", s, e, got, ok)
		}
		DecodeHeaderValue(s)
	})
}
