package transport

import (
	"encoding/json"
	"fmt"
	"strings"
)

// What a dialer was given may hold secrets, and ends up in a log when somebody
// prints the dialer. The Format methods below say what it reaches and name what it
// carries; values never show (T6, P5).

const redacted = "[redacted]"

// String is the header's name, with "[redacted]" in its value's place.
func (h Header) String() string { return h.Name + ": " + redacted }

// Format prints String, whatever the verb.
func (h Header) Format(f fmt.State, _ rune) { fmt.Fprint(f, h.String()) }

// MarshalJSON encodes String.
func (h Header) MarshalJSON() ([]byte, error) { return json.Marshal(h.String()) }

// Format prints the origin and the names of the headers, whatever the verb.
func (c HTTPConfig) Format(f fmt.State, _ rune) {
	where := "no URL"
	if e, err := parseEndpoint(c.URL); err == nil {
		where = e.origin
	}
	fmt.Fprintf(f, "HTTP server at %s %v", where, c.Headers)
}

// Format prints the origin, whatever the verb.
func (d *HTTPDialer) Format(f fmt.State, verb rune) { d.cfg.Format(f, verb) }

// Format prints the dialer: a connection has a session id, and is in use.
func (c *httpConn) Format(f fmt.State, verb rune) { c.dialer.Format(f, verb) }

// Format prints the number of arguments and the names of the variables, whatever
// the verb. Even the command may be a whole line with a token in it.
func (c StdioConfig) Format(f fmt.State, _ rune) {
	env := make([]string, len(c.Env))
	for i, v := range c.Env {
		name, _, _ := strings.Cut(v, "=")
		env[i] = name + "=" + redacted
	}
	command, _, _ := strings.Cut(c.Command, " -")
	fmt.Fprintf(f, "stdio server %s with %d arguments %v", command, len(c.Args), env)
}

// Format prints the command, whatever the verb.
func (d *StdioDialer) Format(f fmt.State, verb rune) { d.cfg.Format(f, verb) }

// Format prints the dialer: a connection is in use.
func (c *stdioConn) Format(f fmt.State, verb rune) { c.dialer.Format(f, verb) }
