package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// minFragment is the length, in bytes, from which a piece of a value is masked
// on its own.
const minFragment = 8

// forms returns every text under which value may appear: itself, what is left
// of it without surrounding space or an authorization scheme, each line of it
// (logs are read line by line), and the encodings of all these.
func forms(value string) []string {
	texts := []string{value}
	trimmed := strings.TrimSpace(value)
	if len(trimmed) >= window {
		texts = append(texts, trimmed)
	}
	// A header value such as "Bearer t0k3n" is known as a whole, and the
	// token alone is what a server prints.
	if scheme, token, ok := strings.Cut(trimmed, " "); ok && len(token) >= minFragment && authScheme(scheme) {
		texts = append(texts, strings.TrimSpace(token))
	}
	if strings.ContainsAny(trimmed, "\r\n") {
		for line := range strings.Lines(trimmed) {
			line = strings.TrimSpace(line)
			// The frame of a PEM block is no secret.
			if len(line) >= minFragment && !strings.HasPrefix(line, "-----") {
				texts = append(texts, line)
			}
		}
	}
	var all []string
	for _, t := range texts {
		all = append(all, t)
		all = append(all, encodings(t)...)
	}
	return all
}

func authScheme(s string) bool {
	switch strings.ToLower(s) {
	case "bearer", "basic", "token", "apikey", "digest":
		return true
	}
	return false
}

// encodings returns the encoded forms of t. Below four bytes there are none:
// they would be as short, and match as much that is something else.
func encodings(t string) []string {
	if len(t) < window {
		return nil
	}
	query := url.QueryEscape(t)
	// What encodeURIComponent of JavaScript leaves alone and Go does not.
	component := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query)
	path := url.PathEscape(t)
	forms := []string{
		query, lowerEscapes(query),
		component, lowerEscapes(component),
		path, lowerEscapes(path),
		inner(jsonString(t, true)), inner(jsonString(t, false)),
		strings.ReplaceAll(inner(jsonString(t, false)), "/", `\/`),
		inner(strconv.Quote(t)), inner(strconv.QuoteToASCII(t)),
		inner(fmt.Sprint([]byte(t))), // a []byte field printed with %v
	}
	return append(forms, base64Forms(t)...)
}

// lowerEscapes returns s with its percent escapes in lower case.
func lowerEscapes(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}

func jsonString(s string, escapeHTML bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(escapeHTML)
	if err := enc.Encode(s); err != nil {
		return `""` // not reached: a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// inner returns s without its quotes.
func inner(s string) string { return s[1 : len(s)-1] }

// base64Forms returns the texts that show t inside base64, alone or in the
// middle of something longer, as in the user:password of Basic authorization.
// The text depends on where t begins modulo 3; the characters at its ends that
// also carry a neighbour's bits are left out.
func base64Forms(t string) []string {
	var forms []string
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		forms = append(forms, enc.EncodeToString([]byte(t)), enc.WithPadding(base64.NoPadding).EncodeToString([]byte(t)))
		for shift := range 3 {
			padded := strings.Repeat("\x00", shift) + t
			text := enc.EncodeToString([]byte(padded)[:len(padded)/3*3])
			// 8·shift bits of the neighbour reach into this many characters.
			from := (8*shift + 5) / 6
			if len(text)-from >= window {
				forms = append(forms, text[from:])
			}
		}
	}
	return forms
}
