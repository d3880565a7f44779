package client

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// Call is one request to the server.
type Call struct {
	Method string
	// Fields is the params object without its _meta; nil means none. Its bytes
	// are sent as they are (A4).
	Fields json.RawMessage
	// Meta holds _meta members of the caller's, nil for none. What the session
	// itself sets there wins.
	Meta json.RawMessage
	// Target is the tool's or prompt's name or the resource's URI.
	Target string
	// Progress gets the params of progress notifications (C7), on the
	// connection's goroutine: it must return at once. Nil still asks for
	// progress, since it breaks the silence (T8, field case 68).
	Progress func(params json.RawMessage)
	// Input answers what the server asks for during this call, in place of the
	// session's handlers (C4): elicitation/create, sampling/createMessage or
	// roots/list, with its params and result as they are. It is called on a
	// goroutine of its own; ctx ends when nobody waits for the answer. Nil leaves
	// it to the session.
	Input func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// PassInput has Do return a modern server's input_required result as it came,
	// for a caller that can answer and retry by itself (basic/patterns/mrtr).
	PassInput bool
	// Capabilities are declared to a modern server for this call in place of the
	// session's; nil means those.
	Capabilities json.RawMessage
	// Message gets the params of log messages that belong to this call, on the
	// connection's goroutine: it must return at once.
	Message func(params json.RawMessage)
	// Fresh asks the server even if it said that an earlier answer still holds.
	Fresh bool
	// own marks what the session itself wants to know.
	own bool
	// args are a tool call's arguments, for the mirrored headers.
	args json.RawMessage
}

// CallTool calls a tool; arguments are sent byte for byte, nil means none.
func (s *Session) CallTool(ctx context.Context, name string, arguments json.RawMessage, progress func(json.RawMessage)) (json.RawMessage, error) {
	quoted, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	fields := append([]byte(`{"name":`), quoted...)
	if arguments != nil {
		fields = append(append(fields, `,"arguments":`...), arguments...)
	}
	return s.Do(ctx, Call{
		Method: mcp.MethodToolsCall, Fields: append(fields, '}'), Target: name, Progress: progress, args: arguments,
	})
}

// Do sends a request and returns its result as it came; one of resources/read may
// be an earlier result that the server said is still fresh. It answers what the server
// asks meanwhile (C4), repeats the request once on a new session when the old one
// was rejected (E6), and once with fresh headers after a header mismatch (field
// case 55). It never repeats a call that may have reached a tool.
//
// The error is a *jsonrpc.Error when the server refused, else a *transport.Error.
func (s *Session) Do(ctx context.Context, c Call) (json.RawMessage, error) {
	renewed, refetched := false, false
	for {
		o, err := s.current()
		if err != nil {
			return nil, err
		}
		if key := cacheKey(o, c); key != "" && !c.Fresh {
			if kept, _ := o.cache.get(key); kept != nil {
				return kept, nil
			}
		}
		result, epoch, err := s.rounds(ctx, o, c)
		switch {
		case err == nil:
			return result, nil
		case transport.CodeOf(err) == transport.SessionRejected && !renewed:
			renewed = true
			if s.renew(ctx, o, epoch) != nil {
				return nil, err
			}
		case rpcCode(err) == mcp.CodeHeaderMismatch && c.Method == mcp.MethodToolsCall && !refetched && o.modern():
			refetched = true
			if s.fetch(ctx, o, Tools) != nil {
				return nil, err
			}
		default:
			s.consider(o, err)
			return nil, err
		}
	}
}

// consider ends the connection when an answer shows that it is of no more use.
func (s *Session) consider(o *opened, err error) {
	var te *transport.Error
	switch {
	case errors.As(err, &te) && te.Code == transport.HTTPStatus && te.Status == 401:
		// Sign-in is needed, and a person decides. A 403 may be about this one
		// tool.
		o.link.end(err)
	case o.modern() && rpcCode(err) == mcp.CodeUnsupportedVersion:
		s.cfg.Verdicts.Forget(s.cfg.Key)
		o.link.end(err)
	}
}

func rpcCode(err error) int64 {
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) {
		return rpc.Code
	}
	return 0
}

// exchange sends the call once and returns its result.
func (s *Session) exchange(ctx context.Context, o *opened, c Call) (json.RawMessage, int, error) {
	x := &exchange{
		req: transport.Request{Method: c.Method}, own: c.own,
		total: s.cfg.Limits.Total, silence: s.cfg.Limits.Silence,
		progress: c.Progress, target: c.Target, input: c.Input, message: c.Message,
	}
	caps := s.caps
	if c.Capabilities != nil {
		caps = c.Capabilities
	}
	x.build = func(id int64) json.RawMessage {
		return s.withMeta(c.Fields, c.Meta, o.version, strconv.AppendInt(nil, id, 10), caps)
	}
	if o.modern() && c.Target != "" && mcp.TargetParam(c.Method) != "" {
		x.req.Name = c.Target
		if c.Method == mcp.MethodToolsCall && !s.stdio() {
			args := c.args
			if args == nil {
				args = jsonrpc.Get(c.Fields, "arguments")
			}
			x.req.ParamHeaders = s.paramHeaders(c.Target, args)
		}
	}
	began := time.Now()
	m, err := o.link.do(ctx, x)
	result, err := outcome(m, err)
	if err == nil && (len(result) == 0 || result[0] != '{') {
		err = &transport.Error{Code: transport.Invalid, Reason: c.Method}
	}
	s.note(o, c.Method, began, err)
	return result, x.epoch, err
}

// outcome turns a response into a result or an error.
func outcome(m *jsonrpc.Message, err error) (json.RawMessage, error) {
	var te *transport.Error
	switch {
	case errors.As(err, &te) && te.RPC != nil && te.Code == transport.HTTPStatus && (te.Status == 400 || te.Status == 404):
		// Under these statuses a modern server's error is an ordinary answer
		// (streamable-http "Protocol Version Header").
		return nil, te.RPC
	case err != nil:
		return nil, err
	case m == nil:
		return nil, &transport.Error{Code: transport.Broken, Reason: "no_answer"}
	case m.Error != nil:
		return nil, m.Error
	}
	return m.Result, nil
}

// note records an exchange for the health history. An error of the server's own
// is an answer, and so counts as healthy. One that we gave up is no fault of the
// server, but proves nothing about its session either (E6).
func (s *Session) note(o *opened, method string, began time.Time, err error) {
	answered := err == nil || rpcCode(err) != 0
	ok := answered || transport.CodeOf(err) == transport.Cancelled
	s.mu.Lock()
	o.unproven = o.unproven && !answered
	s.st.calls.add(CallRecord{At: began, Method: method, Duration: time.Since(began), OK: ok})
	s.mu.Unlock()
	if answered {
		s.cfg.Verdicts.Arm(s.cfg.Key)
	}
	s.changed()
}
