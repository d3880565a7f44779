package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// maxIDBytes bounds an id's JSON text; an id is a token, not a payload.
const maxIDBytes = 1024

// ErrInvalidID says that an id is neither a string nor an integer. The MCP base
// protocol forbids null, fractions and every other kind.
var ErrInvalidID = errors.New("id must be a string or an integer")

// ID is a request id: a string or an integer, held as its exact JSON text, so
// that it is echoed in value and type and a big integer is never rounded
// (S2, basic/index "Requests"). The zero ID means "no id". IDs are comparable;
// 1 and "1" differ.
type ID struct{ text string }

// IntID returns the id n.
func IntID(n int64) ID { return ID{strconv.FormatInt(n, 10)} }

// StringID returns the id s.
func StringID(s string) ID {
	b, _ := json.Marshal(s) // a string always marshals
	return ID{string(b)}
}

// ParseID reads an id from its JSON text. The error is [ErrInvalidID] for null,
// fractions, booleans, objects, arrays and ids over 1 KiB.
func ParseID(text []byte) (ID, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || len(text) > maxIDBytes {
		return ID{}, ErrInvalidID
	}
	if text[0] == '"' {
		if !json.Valid(text) {
			return ID{}, ErrInvalidID
		}
		return ID{string(text)}, nil
	}
	if _, ok := integer(string(text)); !ok {
		return ID{}, ErrInvalidID
	}
	return ID{string(text)}, nil
}

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.text == "" }

// String returns the JSON text, for logs.
func (id ID) String() string { return id.text }

// MarshalJSON writes the id as it came; "no id" is null, which JSON-RPC uses in
// error responses to requests whose id could not be read.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.text == "" {
		return []byte("null"), nil
	}
	return []byte(id.text), nil
}

// UnmarshalJSON reads an id; null gives the zero ID.
func (id *ID) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*id = ID{}
		return nil
	}
	v, err := ParseID(b)
	if err != nil {
		return fmt.Errorf("%w, got %.40q", err, b)
	}
	*id = v
	return nil
}

// Int64 returns the integer that the id unambiguously stands for: an integer, an
// integral float (1.0, 1e0), or a string holding a canonical decimal integer.
// "01", 1.5 and other strings give false. It is for correlating answers to ids
// that we made (field case 49), never for ids that a client chose.
func (id ID) Int64() (int64, bool) {
	text := id.text
	if strings.HasPrefix(text, `"`) {
		var s string
		if json.Unmarshal([]byte(text), &s) != nil {
			return 0, false
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != s {
			return 0, false
		}
		return n, true
	}
	return integer(text)
}

// Equivalent reports whether the two ids are equal or unambiguously stand for the
// same integer.
func (id ID) Equivalent(other ID) bool {
	if id == other {
		return true
	}
	a, okA := id.Int64()
	b, okB := other.Int64()
	return okA && okB && a == b
}

// integer reads a JSON number that has an integral value. An integer beyond
// int64 is legal as an id but has no int64; it gives (0, true), since only its
// text matters then.
func integer(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, json.Valid([]byte(text))
	}
	if !json.Valid([]byte(text)) || text == "null" || text == "true" || text == "false" || text == "" || strings.ContainsAny(text[:1], `{["`) {
		return 0, false
	}
	if !strings.ContainsAny(text, ".eE") {
		return 0, true
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		// An exponent can make a few bytes stand for gigabytes of digits.
		if exp, err := strconv.Atoi(text[i+1:]); err != nil || exp > 18 || exp < -18 {
			return 0, false
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || !r.IsInt() {
		return 0, false
	}
	if !r.Num().IsInt64() {
		return 0, true
	}
	return r.Num().Int64(), true
}
