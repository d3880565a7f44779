package server

import (
	"encoding/json"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// method is how one method is served. Exactly one of inline and prepare is set.
type method struct {
	legacy, modern bool
	// feature must be declared, else the method is unknown; -1 for none.
	feature Feature
	// read has the read authorizer asked first (S4).
	read bool
	// inline answers at once, from what the machine holds.
	inline func(*Call) (json.RawMessage, *jsonrpc.Error)
	// prepare finds the handler, which then runs in a worker.
	prepare func(*Call) (Handler, *jsonrpc.Error)
}

const none Feature = -1

var methods = map[string]method{
	mcp.MethodPing:        {legacy: true, feature: none, inline: empty},
	mcp.MethodDiscover:    {modern: true, feature: none, inline: func(c *Call) (json.RawMessage, *jsonrpc.Error) { return c.conn.server.discover(), nil }},
	mcp.MethodToolsList:   {true, true, Tools, true, (*Call).listTools, nil},
	mcp.MethodToolsCall:   {true, true, Tools, false, nil, (*Call).findTool},
	mcp.MethodPromptsList: {true, true, Prompts, true, (*Call).listPrompts, nil},
	mcp.MethodPromptsGet:  {true, true, Prompts, true, nil, (*Call).findPrompt},

	mcp.MethodResourcesList:          {true, true, Resources, true, (*Call).listResources, nil},
	mcp.MethodResourcesTemplatesList: {true, true, Resources, true, (*Call).listTemplates, nil},
	mcp.MethodResourcesRead:          {true, true, Resources, true, nil, (*Call).findResource},
	mcp.MethodResourcesSubscribe:     {true, false, Resources, true, (*Call).subscribe, nil},
	mcp.MethodResourcesUnsubscribe:   {true, false, Resources, true, (*Call).unsubscribe, nil},

	mcp.MethodComplete: {true, true, Completions, true, nil, (*Call).findCompletion},
	mcp.MethodSetLevel: {true, false, Logging, true, (*Call).setLevel, nil},
}

func empty(*Call) (json.RawMessage, *jsonrpc.Error) { return json.RawMessage(`{}`), nil }

// request answers one request or starts its handler. What is wrong is looked for
// in the order: era and metadata, version, method, id, then the method's own.
func (c *Conn) request(m *jsonrpc.Message) {
	params := fieldsOf(m.Params)
	meta := fieldsOf(params["_meta"])
	refuse := func(err *jsonrpc.Error) {
		_ = c.send(c.ctx, jsonrpc.Refuse(m.ID, err), m.ID)
		c.out.Ended(m.ID)
	}
	if m.Method == mcp.MethodInitialize && !opensModern(meta) {
		result, err := c.initialize(params)
		if err != nil {
			refuse(err)
			return
		}
		_ = c.send(c.ctx, jsonrpc.Reply(m.ID, result), m.ID)
		c.out.Ended(m.ID)
		return
	}
	who, err := c.caller(m.Method, meta)
	if err != nil {
		refuse(err)
		return
	}
	call := newCall(c, m, params, meta, who)
	if m.Method == mcp.MethodListen && who.Modern() {
		c.listen(call)
		return
	}
	how, ok := methods[m.Method]
	if !ok || (who.Modern() && !how.modern) || (!who.Modern() && !how.legacy) ||
		(how.feature != none && !c.server.registry.Declares(how.feature)) {
		refuse(unknownMethod(m.Method))
		return
	}
	if how.read && c.server.readAuthorizer != nil {
		if !c.admit(call) {
			refuse(errIDInUse())
			return
		}
		c.start(call, how.gated)
		return
	}
	if how.inline != nil {
		result, err := how.inline(call)
		call.answer(result, err)
		c.out.Ended(m.ID)
		return
	}
	handle, err := how.prepare(call)
	if err == nil {
		err = call.openState()
	}
	if err == nil && !c.admit(call) {
		err = errIDInUse()
	}
	if err != nil {
		refuse(err)
		return
	}
	c.start(call, redeeming(handle))
}

func errIDInUse() *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the id is in use by another request")
}

// caller decides the era (S1).
func (c *Conn) caller(method string, meta map[string]json.RawMessage) (Caller, *jsonrpc.Error) {
	if opensModern(meta) {
		who, err := modernCaller(meta)
		if err == nil {
			err = supports(who.Version)
		}
		return who, err
	}
	c.mu.Lock()
	legacy := c.legacy
	c.mu.Unlock()
	switch {
	case legacy != nil:
		return *legacy, nil
	case method == mcp.MethodPing:
		return Caller{Version: mcp.LatestLegacy}, nil // allowed before initialize
	}
	if _, ok := methods[method]; !ok && method != mcp.MethodListen {
		return Caller{}, unknownMethod(method)
	}
	_, err := modernCaller(meta)
	err.Message += "; clients of earlier revisions send initialize first"
	return Caller{}, err
}

func unknownMethod(method string) *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "Unknown method: %.200s", method)
}

// admit enters the call under its id, ready to run; false when the id is taken.
func (c *Conn) admit(call *Call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.calls[call.id]; taken {
		return false
	}
	call.arm()
	c.calls[call.id] = call
	return true
}

// start runs the handler in a worker, or answers that the server is busy (S3).
func (c *Conn) start(call *Call, handle Handler) {
	if !call.takeWorker() {
		call.finish(nil, ErrBusy)
		return
	}
	if !c.begin() {
		call.leaveWorker()
		call.stop(ErrGone)
		return
	}
	go func() {
		defer c.work.Done()
		defer call.leaveWorker()
		call.clock.start()
		defer call.clock.stop()
		// For a handler that ends its goroutine: runtime.Goexit, as of t.FailNow.
		defer call.finish(nil, ErrPanicked)
		v, err := call.guarded(handle)
		call.finish(v, err)
	}()
}

// takeWorker and leaveWorker are for the handler's goroutine alone.
func (call *Call) takeWorker() bool {
	call.working = call.conn.server.workers.take(call.Peer.Owner)
	return call.working
}

func (call *Call) leaveWorker() {
	if call.working {
		call.conn.server.workers.release(call.Peer.Owner)
	}
	call.working = false
}

// guarded runs the handler; a panic fails this one call (S3) and its text is
// logged only, never returned to a model.
func (call *Call) guarded(handle Handler) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			call.conn.server.logPanic(call.ctx, call.Method, call.Name, p)
			v, err = nil, ErrPanicked
		}
	}()
	return handle(call.ctx, call)
}
