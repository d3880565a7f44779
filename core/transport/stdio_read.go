package transport

import (
	"bytes"
	"fmt"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// read takes stdout to its end, line by line, each for itself (cases 15, 16).
func (c *stdioConn) read() {
	defer close(c.readDone)
	lines := newLineReader(c.proc.stdout, c.dialer.cfg.Limits.MaxBytes, c.tooLong)
	for {
		text, err := lines.next()
		c.takeLine(text)
		if err != nil {
			return
		}
	}
}

// byteOrderMark is what some Windows runtimes write before their first line.
var byteOrderMark = []byte("\ufeff")

func (c *stdioConn) takeLine(text []byte) {
	text = bytes.TrimPrefix(text, byteOrderMark)
	if len(bytes.TrimSpace(text)) == 0 {
		return
	}
	if v := c.version.Load(); v != nil && *v == mcp.V20250326 {
		if members, ok := splitBatch(text); ok && len(members) > 0 {
			for _, m := range members {
				c.take(m)
			}
			return
		}
	}
	c.take(text)
}

func (c *stdioConn) take(text []byte) {
	m, err := jsonrpc.DecodeLenient(text)
	if err != nil {
		// The server's fault, and no reason to lose it: the line is shown once.
		c.output.line("stdout", text)
		return
	}
	if !c.answered {
		c.answered = true
		c.lease.Success()
	}
	if m.Kind() == jsonrpc.Response && !m.ID.IsZero() {
		id, ok := m.ID.Int64()
		if ok {
			_, ok = c.ledger.Take(id)
		}
		if !ok {
			c.output.note(fmt.Sprintf("an answer to no request in flight was dropped (id %.40s)", m.ID))
			return
		}
	}
	c.ledger.Report(func() { c.sink.Message(0, m) })
}

// tooLong fails the request that a line over the limit answers (T8). Of a line that
// answers none that can be told, nobody is made to suffer: it may be a notification
// or junk, and a request that waits in vain has its own clock.
func (c *stdioConn) tooLong(id int64, known bool) {
	limit := c.dialer.cfg.Limits.MaxBytes
	c.output.note(fmt.Sprintf("a line over the limit of %d bytes was discarded", limit))
	if known {
		c.fail(id, &Error{Code: TooLarge, Limit: limit})
	}
}
