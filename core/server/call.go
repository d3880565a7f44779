package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Call is one request while it is handled, and the handler's way back to the
// client. After the handler returned, or the call was cancelled, its methods send
// nothing.
type Call struct {
	Method string
	// Params are the request's, as they came.
	Params json.RawMessage
	// Name is what the call is about: a tool, a prompt, a resource's URI.
	Name string
	// Vars are the variables of the resource template that matched.
	Vars map[string]string
	// Caller is who asks, by its own word; Peer what the front door vouches for.
	Caller Caller
	Peer   Peer

	conn   *Conn
	id     jsonrpc.ID
	fields map[string]json.RawMessage
	token  json.RawMessage // the client's progress token, nil for none
	ctx    context.Context
	cancel context.CancelCauseFunc
	clock  *clock
	// working says that a worker is held; the handler's goroutine's alone.
	working bool
	rounds  rounds

	mu       sync.Mutex
	settled  bool
	progress float64
	reported bool
}

func newCall(c *Conn, m *jsonrpc.Message, params, meta map[string]json.RawMessage, who Caller) *Call {
	return &Call{
		Method: m.Method, Params: m.Params, Caller: who, Peer: c.peer,
		conn: c, id: m.ID, fields: params, token: meta[mcp.MetaProgressToken],
	}
}

// arm gives the call what only a handler needs: its context and its time limit.
func (c *Call) arm() {
	c.ctx, c.cancel = context.WithCancelCause(c.conn.ctx)
	c.clock = newClock(c.conn.server.limits.CallTimeout, func() {
		if c.settle() {
			c.deliver(nil, ErrTimeout, ErrTimeout)
		}
	})
}

// Arguments are the call's arguments, an object: of a tool or prompt as they came,
// {} when absent.
func (c *Call) Arguments() json.RawMessage {
	if a := c.fields["arguments"]; a != nil && string(a) != "null" {
		return a
	}
	return json.RawMessage(`{}`)
}

// Bind reads the arguments into v. The error is for the model to act on.
func (c *Call) Bind(v any) error {
	if err := json.Unmarshal(c.Arguments(), v); err != nil {
		var typ *json.UnmarshalTypeError
		if errors.As(err, &typ) && typ.Field != "" {
			return fmt.Errorf("argument %q must be of type %s", typ.Field, typ.Type)
		}
		return errors.New("the arguments are not of the tool's form")
	}
	return nil
}

// Progress reports progress to a client that asked for it by a token, nothing
// otherwise. Total 0 means unknown. A value that does not increase is dropped
// (basic/patterns/progress "The progress value MUST increase").
func (c *Call) Progress(progress, total float64, message string) {
	if c.token == nil {
		return
	}
	c.mu.Lock()
	ok := !c.settled && (!c.reported || progress > c.progress)
	if ok {
		c.progress, c.reported = progress, true
	}
	c.mu.Unlock()
	if !ok {
		return
	}
	p := struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64         `json:"progress"`
		Total    float64         `json:"total,omitempty"`
		Message  string          `json:"message,omitempty"`
	}{c.token, progress, total, message}
	if b, err := json.Marshal(p); err == nil {
		c.Notify(mcp.NotifyProgress, b)
	}
}

// Log sends a log message to a client that wants its level: in the modern era only
// if this request named one (server/utilities/logging), in the legacy one by
// logging/setLevel, "info" before it. Logger may be "".
func (c *Call) Log(level Level, logger string, data any) {
	if !c.level().admits(level) {
		return
	}
	p := struct {
		Level  Level  `json:"level"`
		Logger string `json:"logger,omitempty"`
		Data   any    `json:"data"`
	}{level, logger, data}
	if b, err := json.Marshal(p); err == nil {
		c.Notify(mcp.NotifyMessage, b)
	}
}

func (c *Call) level() Level {
	if c.Caller.Modern() {
		return c.Caller.LogLevel
	}
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	if c.conn.legacy == nil {
		return ""
	}
	return c.conn.legacy.LogLevel
}

// Notify sends a notification that belongs to this call, as it is. It is for
// passing an upstream's on; prefer Progress and Log.
func (c *Call) Notify(method string, params json.RawMessage) {
	c.mu.Lock()
	done := c.settled
	c.mu.Unlock()
	if !done {
		_ = c.conn.send(c.ctx, jsonrpc.Notify(method, params), c.id)
	}
}

// PassProgress passes an upstream's progress notification on under the client's own
// token, everything else in it as it came; like [Call.Progress] it sends nothing
// that does not increase.
func (c *Call) PassProgress(params json.RawMessage) {
	if c.token == nil {
		return
	}
	var progress float64
	if json.Unmarshal(jsonrpc.Get(params, "progress"), &progress) != nil {
		return
	}
	p, err := jsonrpc.With(params, mcp.MetaProgressToken, c.token)
	c.mu.Lock()
	ok := err == nil && !c.settled && (!c.reported || progress > c.progress)
	if ok {
		c.progress, c.reported = progress, true
	}
	c.mu.Unlock()
	if ok {
		c.Notify(mcp.NotifyProgress, p)
	}
}

// PassLog passes an upstream's log message on as it came, to a client that wants its
// level; see [Call.Log].
func (c *Call) PassLog(params json.RawMessage) {
	var level Level
	if json.Unmarshal(jsonrpc.Get(params, "level"), &level) == nil && level.valid() && c.level().admits(level) {
		c.Notify(mcp.NotifyMessage, params)
	}
}

// HangUp closes the HTTP connection that the call's stream is on, where the client
// can resume the stream (legacy era; 2025-11-25 basic/transports "the server MAY
// close the connection"). The call goes on; elsewhere it does nothing.
func (c *Call) HangUp() {
	if o, ok := c.conn.out.(interface{ hangUp(jsonrpc.ID) }); ok && !c.Caller.Modern() {
		o.hangUp(c.id)
	}
}

// answer sends the response. Errors go out as they are.
func (c *Call) answer(result json.RawMessage, err *jsonrpc.Error) {
	m := jsonrpc.Refuse(c.id, err)
	if err == nil {
		m = jsonrpc.Reply(c.id, result)
		if c.Caller.Modern() {
			full, bad := c.conn.server.modernResult(c.Method, result)
			if bad != nil {
				m = jsonrpc.Refuse(c.id, internal(c.Method, ErrBadResult))
			} else {
				m = jsonrpc.Reply(c.id, full)
			}
		}
	}
	_ = c.conn.send(c.conn.ctx, m, c.id)
}

// settle decides who ends the call: the first one does.
func (c *Call) settle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.settled
	c.settled = true
	return !was
}

// finish answers the call, unless it was cancelled, answered or timed out before.
func (c *Call) finish(v any, err error) {
	if c.settle() {
		c.deliver(v, err, nil)
	}
}

// deliver answers the call and ends its context with the cause.
func (c *Call) deliver(v any, err, cause error) {
	result, wire := c.outcome(v, err)
	c.forget()
	c.answer(result, wire)
	c.cancel(cause)
	c.conn.out.Ended(c.id)
}

// stop ends the call without an answer (basic/patterns/cancellation).
func (c *Call) stop(why error) {
	if !c.settle() {
		return
	}
	c.forget()
	c.cancel(why)
	c.conn.out.Ended(c.id)
}

func (c *Call) forget() {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	if c.conn.calls[c.id] == c {
		delete(c.conn.calls, c.id)
	}
}
