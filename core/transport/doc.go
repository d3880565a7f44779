// Package transport is the seam between the session machine and the wire, and
// its bindings: stdio and Streamable HTTP.
//
// A transport owns connection, framing, delivery and encoding, nothing else. The
// session machine (core/client) owns ids, pending calls, status, the tool cache
// and results. What comes back for a request is one of the outcomes of [Sink].
//
// # Concurrency
//
// Every method of [Conn] may be called from any goroutine at any time, also while
// a [Sink] method runs and after [Conn.Close]. A transport calls the sink from
// its own goroutines with no lock of its own held, so that a sink may call back
// into the connection. Messages of one response stream arrive in stream order;
// those of stdio in pipe order. A sink that blocks slows that stream down: this
// is how a flooding server is held back.
//
// # Failure
//
// Everything that goes wrong is an [*Error] of a closed set (T6). It holds no
// header value, query, userinfo, upstream body or secret in its text.
package transport
