package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// reachable is a peer whose front door says whether it can be reached now.
type reachable struct {
	*peer
	is bool
}

func (r *reachable) live() bool { return r.is }

func connectAs(t *testing.T, s *Server, id string, live bool) *peer {
	p := connect(t, s, id)
	p.conn.out = &reachable{p, live}
	p.initialize(canElicit)
	return p
}

// asks reports whether the connection would be asked.
func (p *peer) asks() bool {
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
	m := p.get()
	if m.Method == "" {
		return false
	}
	p.reply(m, `"result":{"action":"decline"}`)
	p.get()
	return true
}

// S9; acceptance 125–128: whose capabilities are forgotten over the cap.
func TestCapabilitiesEviction(t *testing.T) {
	var events bytes.Buffer
	h, _ := counted()
	r := NewRegistry()
	addTool(t, r, "t", h)
	s := serveWith(t, Options{Registry: r, Authorizer: asking, Limits: Limits{Capabilities: 3}, Logger: slog.New(slog.NewTextHandler(&events, nil))})

	live := connectAs(t, s, "live", true)
	for i := range 200 {
		connectAs(t, s, fmt.Sprint(i), false)
	}
	if n := strings.Count(events.String(), "evicted"); n != 198 || strings.Contains(events.String(), "live=true") {
		t.Errorf("%d events, or one about a live connection", n)
	}
	if len(s.capable.conns) != 3 || !live.asks() {
		t.Errorf("%d are kept; the live one was forgotten", len(s.capable.conns))
	}
	second, third := connectAs(t, s, "second", true), connectAs(t, s, "third", true)
	newcomer := connectAs(t, s, "newcomer", false)
	if newcomer.asks() || !second.asks() || !third.asks() || !live.asks() {
		t.Error("a newcomer that cannot be reached put a live one out")
	}
	// When all are live, the oldest goes; it still works, and comes back.
	fourth := connectAs(t, s, "fourth", true)
	if live.asks() || !second.asks() || !third.asks() || !fourth.asks() {
		t.Error("not the oldest was forgotten")
	}
	live.initialize(canElicit)
	if !live.asks() || second.asks() || len(s.capable.conns) != 3 {
		t.Error("initializing again does not count as new")
	}
	third.conn.Close()
	if len(s.capable.conns) != 2 {
		t.Error("a closed connection is kept")
	}
}
