package ui

import (
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/idna"

	"github.com/drawbridge-mcp/drawbridge/core/display"
)

// What is unusual about the length of a URL, and what cannot be handed to a
// browser on every system.
const (
	longURL   = 4096
	maxOpened = 30 << 10
)

// link is a URL from a server, judged (elicitation, safe URL handling; field
// case 65).
type link struct {
	// target is what may be opened; nil when nothing may.
	target *url.URL
	// host is where it goes, as a browser sees it, with its port.
	host string
	// warnings are what a person should know before; refusal says why it is not
	// opened, "" when it may be.
	warnings []string
	refusal  string
}

func readLink(raw string) *link {
	l := &link{}
	if strings.TrimSpace(raw) != raw {
		l.warn("There are spaces around this address.")
	}
	if display.Hidden(raw) {
		l.warn("This address holds hidden characters; they are shown as ⟨…⟩.")
	}
	if len(raw) > longURL {
		l.warn("This address is unusually long: " + display.Count(len(raw)) + " bytes.")
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return l.refuse("This is not a valid address, so it is not opened.")
	}
	l.readHost(u)
	switch {
	case l.refusal != "":
	case u.Scheme == "http" && loopback(u.Hostname()):
	case u.Scheme == "http":
		l.refuse("This address is plain http and not on this computer. Drawbridge opens https only.")
	case u.Scheme != "https":
		l.refuse("This is not a web address (https), so it is not opened.")
	case u.Hostname() == "" || u.Opaque != "":
		l.refuse("This address names no host, so it is not opened.")
	case len(raw) > maxOpened:
		l.refuse("This address is too long to be handed to a browser.")
	}
	if l.refusal == "" {
		l.target = u
	}
	return l
}

// readHost finds out where a URL really goes.
func (l *link) readHost(u *url.URL) {
	if u.User != nil {
		l.warn("What stands before the @ is a user name, not where the address goes.")
	}
	name := u.Hostname()
	if name == "" {
		return
	}
	l.host = u.Host
	if _, err := netip.ParseAddr(name); err == nil {
		return
	}
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil || ascii == "" {
		// Underscores and the like are in use; other letters must be convertible.
		if !plain(name) {
			l.refuse("The host of this address is not a valid name.")
			return
		}
		ascii = strings.ToLower(name)
	}
	if strings.Contains("."+ascii, ".xn--") {
		l.warn("The host holds foreign letters, which can look like others: " + ascii + readable(ascii) + ".")
	}
	l.host = ascii
	if p := u.Port(); p != "" {
		l.host += ":" + p
	}
}

// readable is how a host in punycode reads.
func readable(ascii string) string {
	letters, err := idna.ToUnicode(ascii)
	if err != nil || letters == ascii {
		return ""
	}
	return ", which reads " + display.Line(letters, 120)
}

func plain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

func loopback(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

func (l *link) warn(s string) { l.warnings = append(l.warnings, s) }

func (l *link) refuse(s string) *link {
	l.refusal = s
	return l
}
