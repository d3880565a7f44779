package form

import (
	"math/big"
	"strconv"
	"strings"
)

// A number of more digits, or of a larger exponent, is refused: it would make
// comparing it with a bound expensive, and no server expects it.
const (
	maxDigits   = 400
	maxExponent = 400
)

// rational reads a JSON number exactly. ok is false for anything else and for
// numbers out of all proportion.
func rational(s string) (r *big.Rat, ok bool) {
	if len(s) > maxDigits || !jsonNumber(s) {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		exp, err := strconv.Atoi(s[i+1:])
		if err != nil || exp > maxExponent || exp < -maxExponent {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}

// jsonNumber reports whether s is a number by JSON's grammar.
func jsonNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, rest := digits(s)
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if strings.HasPrefix(rest, ".") {
		var frac string
		if frac, rest = digits(rest[1:]); frac == "" {
			return false
		}
	}
	if rest == "" {
		return true
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return false
	}
	rest = rest[1:]
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		rest = rest[1:]
	}
	exp, rest := digits(rest)
	return exp != "" && rest == ""
}

func digits(s string) (run, rest string) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n], s[n:]
}
