package mcp

import (
	"encoding/base64"
	"strings"
)

const (
	base64Prefix = "=?base64?"
	base64Suffix = "?="
)

// EncodeHeaderValue makes s safe as an HTTP header value: plain where possible,
// else in the base64 sentinel form. A plain value that looks like the sentinel is
// encoded as well, so that decoding is unambiguous (streamable-http "Value
// Encoding", C3).
func EncodeHeaderValue(s string) string {
	if plainHeaderValue(s) && !(strings.HasPrefix(s, base64Prefix) && strings.HasSuffix(s, base64Suffix)) {
		return s
	}
	return base64Prefix + base64.StdEncoding.EncodeToString([]byte(s)) + base64Suffix
}

// DecodeHeaderValue is the inverse of [EncodeHeaderValue]. It returns false for a
// value that no client may send: with characters outside visible ASCII, space and
// tab, or with a sentinel around something that is not base64.
func DecodeHeaderValue(v string) (string, bool) {
	body, ok := strings.CutPrefix(v, base64Prefix)
	if ok {
		body, ok = strings.CutSuffix(body, base64Suffix)
	}
	if !ok {
		return v, plainHeaderValue(v)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(body)
	if err != nil || strings.ContainsAny(body, "\r\n") {
		return "", false
	}
	return string(b), true
}

// plainHeaderValue reports whether s survives as a header value: visible ASCII,
// space and tab, and nothing at the ends that a recipient would trim.
func plainHeaderValue(s string) bool {
	if s != strings.Trim(s, " \t") {
		return false
	}
	for _, c := range []byte(s) {
		if c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}
