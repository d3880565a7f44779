package form

import (
	"net/mail"
	"net/url"
	"strings"
	"time"
)

// checkFormat checks the formats an elicitation may use (elicitation, requested
// schema). Others are notes and not checked.
func checkFormat(format, s string) string {
	switch format {
	case "email":
		a, err := mail.ParseAddress(s)
		if err != nil || a.Address != s || a.Name != "" || strings.ContainsAny(s, " <>") {
			return "Enter an email address, such as name@example.com."
		}
	case "uri":
		u, err := url.Parse(s)
		if err != nil || !u.IsAbs() || strings.ContainsAny(s, " \t\n") || u.Host == "" && u.Opaque == "" && u.Path == "" {
			return "Enter a complete address, such as https://example.com."
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return "Enter a date as 2026-07-28."
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, strings.ToUpper(s)); err != nil {
			return "Enter date, time and zone as 2026-07-28T14:30:00Z."
		}
	}
	return ""
}
