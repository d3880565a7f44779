package transport

import (
	"bytes"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
)

// envelopeScan finds out which request a JSON text answers, without holding it.
// Servers write the id before the result or after it (the TypeScript SDK), so a
// look at the head of a line would not do.
type envelopeScan struct {
	depth    int
	str, esc bool
	naming   bool   // at depth 1, before the colon
	name     []byte // of the current member, bounded
	value    []byte // of the id member, bounded

	id               int64
	hasID            bool
	response, called bool // a result or error, a method member was seen
	broken           bool // no JSON object
}

// The longest name of interest is "result"; ids of ours are short.
const (
	scanName = 16
	scanID   = 64
)

// answers returns the id of the request that the text answers, once known.
func (s *envelopeScan) answers() (int64, bool) {
	return s.id, s.hasID && s.response && !s.called && !s.broken
}

func (s *envelopeScan) feed(p []byte) {
	for _, c := range p {
		if s.broken {
			return
		}
		s.step(c)
	}
}

func (s *envelopeScan) step(c byte) {
	if s.depth == 1 {
		s.capture(c)
	}
	switch {
	case s.str && s.esc:
		s.esc = false
	case s.str && c == '\\':
		s.esc = true
	case c == '"':
		s.str = !s.str
		s.broken = s.depth == 0
	case s.str:
	case c == '{' || c == '[':
		s.depth++
		if s.depth == 1 {
			s.broken = c != '{' || s.hasID || s.response
			s.naming = true
		}
	case c == '}' || c == ']':
		s.depth--
		s.broken = s.depth < 0
		if s.depth == 0 {
			s.endMember()
		}
	case s.depth == 0:
		s.broken = c != ' ' && c != '\t' && c != '\r' && c != '\n'
	case s.depth > 1:
	case c == ',':
		s.endMember()
		s.naming = true
	case c == ':':
		s.naming = false
		switch string(s.name) {
		case `"result"`, `"error"`:
			s.response = true
		case `"method"`:
			s.called = true
		}
	}
}

// capture keeps what matters of a member: its name, and the value of the id.
func (s *envelopeScan) capture(c byte) {
	switch {
	case s.naming && len(s.name) < scanName && (s.str || c == '"'):
		s.name = append(s.name, c)
	case !s.naming && len(s.value) < scanID && string(s.name) == `"id"` && (s.str || c != ',' && c != '}'):
		s.value = append(s.value, c)
	}
}

func (s *envelopeScan) endMember() {
	if string(s.name) == `"id"` {
		if id, err := jsonrpc.ParseID(bytes.TrimSpace(s.value)); err == nil {
			s.id, s.hasID = id.Int64()
		}
	}
	s.name, s.value = s.name[:0], s.value[:0]
}
