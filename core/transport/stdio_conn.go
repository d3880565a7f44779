package transport

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport/internal/ledger"
)

const (
	// lastGasp is how long a process that closed one of its streams may take to
	// exit by itself, so that its exit code is known.
	lastGasp = 500 * time.Millisecond
	// leftover is how long the output of a dead process may be waited for, when
	// a process that it started holds the pipe open.
	leftover = 300 * time.Millisecond
	// sinkGrace is how long Close waits for a sink method.
	sinkGrace = 150 * time.Millisecond
)

// stdioConn is one process. Four goroutines belong to it: read (stdout), write
// (stdin), drain (stderr) and supervise, which outlives the others.
type stdioConn struct {
	dialer *StdioDialer
	sink   Sink
	ledger ledger.Ledger
	proc   *process
	out    *outQueue
	output *serverOutput
	lease  *breaker.Lease

	version atomic.Pointer[mcp.Version] // adopted

	stopOnce sync.Once
	stop     chan struct{} // closed by Close
	ending   chan struct{} // closed by supervise: nothing more is written
	unwanted chan struct{} // closed by write: the server no longer reads

	readDone, writeDone, drainDone chan struct{}

	released chan struct{} // closed when nothing of the connection is left
	// answered tells that a valid message came; it belongs to read until readDone.
	answered bool
}

func (d *StdioDialer) newConn(p *process, sink Sink, lease *breaker.Lease) *stdioConn {
	c := &stdioConn{
		dialer:    d,
		sink:      sink,
		proc:      p,
		out:       newOutQueue(d.cfg.Limits.MaxBytes),
		output:    &serverOutput{log: d.cfg.Log},
		lease:     lease,
		stop:      make(chan struct{}),
		ending:    make(chan struct{}),
		unwanted:  make(chan struct{}),
		readDone:  make(chan struct{}),
		writeDone: make(chan struct{}),
		drainDone: make(chan struct{}),
		released:  make(chan struct{}),
	}
	go c.read()
	go c.write()
	go func() {
		defer close(c.drainDone)
		c.output.drain(p.stderr)
	}()
	go c.supervise()
	return c
}

// Send implements [Conn]. The request is written in order, behind those before it.
func (c *stdioConn) Send(id int64, req Request) error {
	method := req.Method
	if req.Notification {
		method = "" // there is no cancelling it at the server
	}
	if err := c.ledger.Add(id, method); err != nil {
		if errors.Is(err, ledger.ErrID) {
			return &Error{Code: Broken, Reason: "id", Err: err}
		}
		return errClosed()
	}
	m := jsonrpc.Notify(req.Method, req.Params)
	if !req.Notification {
		m.ID = jsonrpc.IntID(id)
	}
	if err := c.out.push(outMessage{id, req.Notification, line(m)}); err != nil {
		c.ledger.Take(id)
		return err
	}
	return nil
}

// Cancel implements [Conn]. A request that was not written yet is taken back;
// otherwise the server is told, except about initialize (T10).
func (c *stdioConn) Cancel(id int64) bool {
	method, ok := c.ledger.Take(id)
	if !ok {
		return false
	}
	if c.out.remove(id) || method == mcp.MethodInitialize || method == "" {
		return true
	}
	m := jsonrpc.Notify(mcp.NotifyCancelled, fmt.Appendf(nil, `{"requestId":%d,"reason":"cancelled by the client"}`, id))
	if err := c.out.push(outMessage{line: line(m)}); err != nil {
		c.output.note("a cancellation could not be sent: " + err.Error())
	}
	return true
}

// Respond implements [Conn].
func (c *stdioConn) Respond(_ string, reply *jsonrpc.Message) error {
	if c.ledger.Ended() {
		return errClosed()
	}
	return c.out.push(outMessage{line: line(reply)})
}

// Adopt implements [Conn]. The framing is the same in all versions; what a line may
// hold is not.
func (c *stdioConn) Adopt(v mcp.Version) { c.version.Store(&v) }

// Close implements [Conn].
func (c *stdioConn) Close() {
	c.ledger.End()
	c.stopOnce.Do(func() { close(c.stop) })
	<-c.released
	c.ledger.Silence(sinkGrace)
}

// line encodes m as one line. Raw members may hold line breaks between their
// tokens, and nowhere else: there a space means the same (case 17).
func line(m *jsonrpc.Message) []byte {
	b := m.Append(nil)
	if bytes.ContainsAny(b, "\r\n") {
		for i, c := range b {
			if c == '\r' || c == '\n' {
				b[i] = ' '
			}
		}
	}
	return append(b, '\n')
}

// write carries the queue to the server. It stops at the first failure: a pipe
// that broke stays broken.
func (c *stdioConn) write() {
	defer close(c.writeDone)
	for {
		m, ok := c.out.pop(c.ending)
		if !ok {
			c.out.close()
			return
		}
		if _, err := c.proc.stdin.Write(m.line); err != nil {
			c.ledger.End()
			for _, lost := range append([]outMessage{m}, c.out.close()...) {
				c.fail(lost.id, &Error{Code: Broken, Reason: "write"})
			}
			close(c.unwanted)
			return
		}
		if m.notification {
			if _, ok := c.ledger.Take(m.id); ok {
				c.ledger.Report(func() { c.sink.Settled(m.id) })
			}
		}
	}
}

func (c *stdioConn) fail(id int64, err error) {
	if _, ok := c.ledger.Take(id); ok {
		c.ledger.Report(func() { c.sink.Failed(id, err) })
	}
}
