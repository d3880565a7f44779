package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// peer is a client in memory: what the machine sends arrives in its channels.
type peer struct {
	t     *testing.T
	conn  *Conn
	sent  chan sent
	ended chan jsonrpc.ID
}

type sent struct {
	m     *jsonrpc.Message
	about jsonrpc.ID
}

func (p *peer) Send(ctx context.Context, m *jsonrpc.Message, about jsonrpc.ID) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.sent <- sent{m, about}
	return nil
}

func (p *peer) Ended(id jsonrpc.ID) { p.ended <- id }

func connect(t *testing.T, s *Server, id string) *peer {
	t.Helper()
	p := &peer{t: t, sent: make(chan sent, 4096), ended: make(chan jsonrpc.ID, 4096)}
	p.conn = s.Open(Peer{ID: id, Owner: id, Transport: StdioTransport}, p)
	t.Cleanup(func() {
		p.conn.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := p.conn.Wait(ctx); err != nil {
			t.Error("the connection's work did not end:", err)
		}
	})
	return p
}

// say hands one message to the machine as a front door does.
func (p *peer) say(format string, args ...any) {
	m, err := jsonrpc.Decode([]byte(fmt.Sprintf(format, args...)))
	if err != nil {
		p.conn.Refuse(err)
		return
	}
	p.conn.Handle(m)
}

// get waits for the next message.
func (p *peer) get() *jsonrpc.Message {
	p.t.Helper()
	select {
	case s := <-p.sent:
		return s.m
	case <-time.After(20 * time.Second):
		p.t.Fatal("nothing was sent")
		return nil
	}
}

// quiet fails if anything was sent.
func (p *peer) quiet() {
	p.t.Helper()
	select {
	case s := <-p.sent:
		p.t.Fatalf("unexpected message: %s", s.m.Append(nil))
	default:
	}
}

// initialize opens a legacy session.
func (p *peer) initialize(capabilities string) json.RawMessage {
	p.t.Helper()
	p.say(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"t","version":"1"}}}`, capabilities)
	r := p.get()
	<-p.ended
	p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return r.Result
}

// meta is a modern request's _meta, more members included.
func meta(capabilities string, more ...string) string {
	return fmt.Sprintf(`"_meta":{"%s":"2026-07-28","%s":%s%s}`, mcp.MetaVersion, mcp.MetaCapabilities, capabilities, strings.Join(append([]string{""}, more...), ","))
}

// era opens one era and calls a tool in it.
type era struct {
	name string
	open func(*peer)
	call func(p *peer, id, tool, arguments string)
}

func eras(capabilities string) []era {
	return []era{
		{
			"legacy",
			func(p *peer) { p.initialize(capabilities) },
			func(p *peer, id, tool, args string) {
				p.say(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":"p"}}}`, id, tool, args)
			},
		},
		{
			"modern",
			func(*peer) {},
			func(p *peer, id, tool, args string) {
				p.say(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, id, tool, args, meta(capabilities, `"progressToken":"p"`))
			},
		},
	}
}

// serve returns a server with the tools, closed with the test.
func serve(t *testing.T, l Limits, tools map[string]Handler) *Server {
	t.Helper()
	r := NewRegistry()
	r.Declare(Tools, Logging)
	for name, h := range tools {
		addTool(t, r, name, h)
	}
	return serveWith(t, Options{Registry: r, Limits: l})
}

func serveWith(t *testing.T, o Options) *Server {
	t.Helper()
	o.Info = mcp.Implementation{Name: "test", Version: "1"}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func addTool(t *testing.T, r *Registry, name string, h Handler) {
	t.Helper()
	if err := r.AddTool(Tool{Definition: json.RawMessage(fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name)), Handle: h}); err != nil {
		t.Fatal(err)
	}
}

// text is the text of a tool result's first block, with "!" before it for an error.
func text(m *jsonrpc.Message) string {
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if m.Error != nil {
		return fmt.Sprintf("%d %s", m.Error.Code, m.Error.Message)
	}
	if json.Unmarshal(m.Result, &r) != nil || len(r.Content) == 0 {
		return string(m.Result)
	}
	if r.IsError {
		return "!" + r.Content[0].Text
	}
	return r.Content[0].Text
}
