package form

import (
	"slices"
	"strings"
	"unicode"
)

// What names of fields say when a secret is meant. Two words stand for neighbours.
var (
	secretWords = []string{
		"password", "passwords", "passwd", "passcode", "passphrase", "pwd", "secret", "secrets", "token",
		"credential", "credentials", "apikey", "pin", "cvv", "cvc", "otp", "totp", "bearer", "passwort", "kennwort",
	}
	secretPairs = []string{
		"api key", "access key", "private key", "secret key", "ssh key", "signing key", "encryption key",
		"card number", "security code", "one time", "recovery code", "recovery phrase", "seed phrase", "auth code",
	}
	askingWords = []string{"password", "passphrase", "passcode", "apikey", "credentials", "cvv", "cvc"}
	askingPairs = []string{
		"api key", "api token", "access token", "access key", "private key", "secret key", "card number", "seed phrase",
	}
)

// LooksSecret reports whether the name or title of a field says that it wants a
// secret, such as "db_password", "apiKey" or "Access token".
func LooksSecret(s string) bool { return says(s, secretWords, secretPairs) }

// asksSecret is for running text, where words like "token" mean too many things.
func asksSecret(s string) bool { return says(s, askingWords, askingPairs) }

func says(s string, singles, pairs []string) bool {
	if len(s) > 4096 {
		s = s[:4096]
	}
	ws := words(s)
	for i, w := range ws {
		if slices.Contains(singles, w) || i > 0 && slices.Contains(pairs, ws[i-1]+" "+w) {
			return true
		}
	}
	return false
}

// words cuts a name at whatever is no letter and where camel case changes.
func words(s string) []string {
	var b strings.Builder
	var prev rune
	rs := []rune(s)
	for i, r := range rs {
		switch {
		case !unicode.IsLetter(r):
			r = ' '
		case unicode.IsUpper(r) && (unicode.IsLower(prev) || unicode.IsUpper(prev) && i+1 < len(rs) && unicode.IsLower(rs[i+1])):
			b.WriteByte(' ')
		}
		prev = r
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}
