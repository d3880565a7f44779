package transport

import (
	"context"
	"encoding/json"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Dialer opens connections to one server.
type Dialer interface {
	// Connect asks the provenance gate (T3), then dials or spawns. It returns
	// before any MCP message was exchanged. ctx bounds Connect alone, not the
	// connection. Each call gives a fresh connection: for stdio a fresh process.
	Connect(ctx context.Context, sink Sink) (Conn, error)
	// Kind says which binding this is; it does not change.
	Kind() Kind
}

// Kind names a binding.
type Kind string

// The bindings.
const (
	Stdio Kind = "stdio"
	HTTP  Kind = "http"
)

// Conn is one live connection to one server.
type Conn interface {
	// Send puts a request or notification on its way and returns at once. An
	// error means that nothing was issued and no outcome will come. Otherwise
	// exactly one final outcome comes for id — a response through
	// Sink.Message, Sink.Failed or Sink.Settled — unless Cancel wins or the
	// connection ends with Sink.Closed. Ids are positive and never reused on a
	// connection.
	Send(id int64, req Request) error
	// Cancel stops the work for id (T10): modern HTTP closes the stream, stdio
	// and legacy HTTP tell the server. It reports whether it won: after true
	// nothing more comes for id; after false the outcome is already delivered
	// or being delivered, or the id is unknown.
	Cancel(id int64) bool
	// Respond delivers a response that we owe for a request of the server.
	// method is the method being answered. It is never queued behind requests
	// (T2, T5) and has no outcome; its failure is only logged.
	Respond(method string, reply *jsonrpc.Message) error
	// Adopt tells the version in force from now on, for framing that depends on
	// it. It is called before the first request that needs it; for legacy with
	// the negotiated version (C3).
	Adopt(v mcp.Version)
	// Close ends the connection and everything it started, within 3 s (T9).
	// It reports nothing itself, no Closed and no Failed: the caller knows. What
	// the server had already sent may still be delivered while it runs; no
	// report begins once it has returned. It may be called any number of times,
	// by a sink method too; all calls return after the end. It does not wait
	// long for a sink method that blocks or that is itself the caller.
	Close()
}

// Sink receives what comes from a connection. See the package comment for the
// goroutines it is called on.
type Sink interface {
	// Message delivers one decoded message. A response without an id (an error
	// about something the server could not read) on stream 0 settles nothing: what
	// it answers is the session's guess. An answer to no request in flight is
	// dropped. stream is the id of the request on
	// whose response stream it came, or 0 when it came on none (stdio, a
	// standalone stream): it is how a server's request is attributed (G4). A
	// response on stream n is the outcome of n, whatever its own id says.
	Message(stream int64, m *jsonrpc.Message)
	// Alive says that something came for id — headers, bytes, a comment — which
	// breaks its silence (T8).
	Alive(id int64)
	// Failed ends the request id alone (T4).
	Failed(id int64, err error)
	// Settled ends a notification, or a request whose stream ended as agreed
	// with nothing to deliver (T2).
	Settled(id int64)
	// Closed says that the connection is dead and has released everything; all
	// requests of it are lost. Nothing follows.
	Closed(err error)
}

// Request is what Send puts on the wire.
type Request struct {
	Method string
	// Params is sent byte for byte (A4); nil sends none.
	Params json.RawMessage
	// Notification sends the message without an id; it still has a slot and an
	// outcome (T2).
	Notification bool
	// Name is the target for the Mcp-Name header, unencoded; modern HTTP only.
	Name string
	// ParamHeaders are the x-mcp-header parameters of the call, unencoded;
	// modern HTTP only.
	ParamHeaders []Header
	// Listen marks a stream that is meant to stay open (T8).
	Listen bool
}

// Header is one header field.
type Header struct{ Name, Value string }

// Origin returns the key under which a dialer's circuit breaker counts, for
// the window; "" when the dialer has none.
func Origin(d Dialer) string {
	if o, ok := d.(interface{ Origin() string }); ok {
		return o.Origin()
	}
	return ""
}
