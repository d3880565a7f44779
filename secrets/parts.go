package secrets

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
)

// A value is kept as one line of printable ASCII, cut into keyring items:
//
//	1.<SHA-256 of the value, hex>.<the value, base64>
//
// Plain ASCII can be cut anywhere, and no keyring trims it, recodes it or
// stops at a zero byte. The digest tells a value that lost its tail, or whose
// items belong to two writes, from a whole one.
const sealVersion = "1."

// maxParts is how many items the longest value may take where they are
// smallest.
const maxParts = 256

var errDamaged = errors.New("stored value is damaged")

// split returns the items, each at most size bytes, that together hold value.
func split(value string, size int) []string {
	digest := sha256.Sum256([]byte(value))
	text := sealVersion + hex.EncodeToString(digest[:]) + "." + base64.StdEncoding.EncodeToString([]byte(value))
	var parts []string
	for len(text) > size {
		parts = append(parts, text[:size])
		text = text[size:]
	}
	return append(parts, text)
}

// join is the inverse of split.
func join(parts []string) (string, error) {
	text, ok := strings.CutPrefix(strings.Join(parts, ""), sealVersion)
	if !ok {
		return "", errDamaged
	}
	want, body, ok := strings.Cut(text, ".")
	if !ok {
		return "", errDamaged
	}
	value, err := base64.StdEncoding.Strict().DecodeString(body)
	if err != nil {
		return "", errDamaged
	}
	if digest := sha256.Sum256(value); hex.EncodeToString(digest[:]) != want {
		return "", errDamaged
	}
	return string(value), nil
}
