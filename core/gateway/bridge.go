package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/server"
)

// bridge is one call to a server on behalf of a client, over the client's rounds.
//
// What the server asks meanwhile reaches [bridge.input], in either era of the server.
// A person answers it here, or the client does: a legacy client on its connection; a
// modern one by an input_required result, for which the call to the server is held
// until the client comes again. Where both sides are modern and the client answers,
// nothing is held: the server's own input_required passes through, with its state
// sealed in ours (G4).
type bridge struct {
	view      *view
	upstream  string
	modern    bool // the server is
	asks      bool // in the client, where it can
	target    string
	method    string
	arguments json.RawMessage
	began     time.Time
	ctx       context.Context
	cancel    context.CancelCauseFunc

	// questions are for the client; the handler takes them.
	questions chan *inquiry
	done      chan struct{}
	result    json.RawMessage
	err       error

	mu   sync.Mutex
	call *server.Call // of the current round
	// pending are the questions that the client has been given and not answered.
	pending map[string]*inquiry
	last    int
}

// inquiry is one question for the client.
type inquiry struct {
	server.Input
	key    string
	answer chan reply // buffered; takes the one answer
}

type reply struct {
	result json.RawMessage
	err    error
}

func newBridge(v *view, u Upstream, call *server.Call, target string, asks bool) *bridge {
	b := &bridge{
		view: v, upstream: u.Name, modern: u.Session.Status().Version.Modern(), asks: asks,
		target: target, method: call.Method, arguments: call.Arguments(), began: time.Now(),
		questions: make(chan *inquiry), done: make(chan struct{}), call: call, pending: map[string]*inquiry{},
	}
	b.ctx, b.cancel = context.WithCancelCause(v.gateway.ctx)
	return b
}

// run sends the call on a goroutine of its own, since it may outlast the request that
// began it.
func (b *bridge) run(s Session, c client.Call) {
	b.view.gateway.wg.Go(func() {
		defer close(b.done)
		defer b.cancel(nil)
		b.result, b.err = s.Do(b.ctx, c)
		if b.err == nil && text(b.result, "resultType") == mcp.ResultInputRequired && c.PassInput {
			return // the call goes on in another request
		}
		b.record(b.result, b.err)
	})
}

func (b *bridge) current() *server.Call {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.call
}

func (b *bridge) progress(params json.RawMessage) { b.current().PassProgress(params) }
func (b *bridge) message(params json.RawMessage)  { b.current().PassLog(params) }

// passes reports whether input_required goes through as it is.
func (b *bridge) passes() bool {
	return b.modern && b.asks && b.call.Caller.Modern() && b.call.Caller.Capabilities.Has("elicitation")
}

// capabilities are what the server is told about who asks: that elicitation is
// answered, by a person here if not by the client, and what else the client can do.
func (b *bridge) capabilities() json.RawMessage {
	theirs := b.call.Caller.Capabilities
	if b.passes() {
		if raw, err := json.Marshal(theirs); err == nil {
			return raw
		}
	}
	ours := map[string]json.RawMessage{"elicitation": json.RawMessage(`{"form":{},"url":{}}`)}
	for _, name := range []string{"sampling", "roots"} {
		if theirs.Has(name) {
			ours[name] = theirs[name]
		}
	}
	raw, err := json.Marshal(ours)
	if err != nil {
		return nil
	}
	return raw
}

// errNobody says that what a server asks for cannot be had from this client.
var errNobody = errors.New("the client cannot answer this request")

// input answers what the server asks for, on a goroutine of the session.
func (b *bridge) input(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	in := server.Input{Method: method, Params: params}
	if method == mcp.MethodElicit && !(b.asks && b.current().Can(in)) {
		return b.person(ctx, params)
	}
	if !b.current().Can(in) {
		return nil, errNobody
	}
	b.mu.Lock()
	b.last++
	q := &inquiry{in, "input-" + strconv.Itoa(b.last), make(chan reply, 1)}
	b.mu.Unlock()
	select {
	case b.questions <- q:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case r := <-q.answer:
		return r.result, r.err
	case <-ctx.Done():
		b.mu.Lock()
		delete(b.pending, q.key)
		b.mu.Unlock()
		return nil, ctx.Err()
	}
}

// person has the question answered here.
func (b *bridge) person(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	e := client.Elicitation{Call: b.target}
	if err := json.Unmarshal(params, &e.ElicitParams); err != nil {
		return nil, err
	}
	r, err := b.view.gateway.cfg.Person(ctx, b.upstream, e)
	if err != nil {
		return nil, err
	}
	return json.Marshal(r)
}

// serve returns the answer for the client, asking it what the server asks for
// meanwhile. It ends the call when the client does.
func (b *bridge) serve(ctx context.Context, call *server.Call) (json.RawMessage, error) {
	if b.waits() {
		return b.hold(call) // the client left out some of the answers
	}
	for {
		select {
		case q := <-b.questions:
			if call.Caller.Modern() {
				b.give(q)
				return b.hold(call)
			}
			answers, err := call.Ask(ctx, server.Inputs{q.key: q.Input})
			q.answer <- reply{answers[q.key], err}
		case <-b.done:
			return b.outcome(call)
		case <-ctx.Done():
			b.cancel(context.Cause(ctx))
			<-b.done
			return nil, context.Cause(ctx)
		}
	}
}

// outcome is the server's answer in the form of the client's era.
func (b *bridge) outcome(call *server.Call) (json.RawMessage, error) {
	if b.err != nil {
		return nil, b.failure(call)
	}
	if !b.passes() || text(b.result, "resultType") != mcp.ResultInputRequired {
		return b.result, nil
	}
	need := &server.InputRequired{Inputs: server.Inputs{}}
	members, _ := jsonrpc.Members(jsonrpc.Get(b.result, "inputRequests"))
	for _, m := range members {
		need.Inputs[m.Name] = server.Input{Method: text(m.Value, "method"), Params: jsonrpc.Get(m.Value, "params")}
	}
	var keep json.RawMessage
	if state := jsonrpc.Get(b.result, "requestState"); state != nil && string(state) != "null" {
		keep, _ = json.Marshal(kept{State: state}) // a value of JSON always marshals
	}
	call.Keep(keep)
	return nil, need
}

// give notes a question that the client is about to get.
func (b *bridge) give(q *inquiry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending[q.key] = q
}

func (b *bridge) waits() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pending) > 0
}

// hold ends the round with the questions. The call to the server goes on.
func (b *bridge) hold(call *server.Call) (json.RawMessage, error) {
	for more := true; more; { // what the server asks together is asked together
		select {
		case q := <-b.questions:
			b.give(q)
		default:
			more = false
		}
	}
	id, ok := b.view.gateway.held.put(b)
	if !ok {
		b.cancel(errTooManyHeld)
		<-b.done
		return nil, failed(b.upstream, call, "too_many_held", "too many calls wait for answers of their clients")
	}
	keep, _ := json.Marshal(kept{Held: id})
	call.Keep(keep)
	need := &server.InputRequired{Inputs: server.Inputs{}}
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, q := range b.pending {
		need.Inputs[key] = q.Input
	}
	return nil, need
}

// resume continues with the client's retry and the answers it brought.
func (b *bridge) resume(call *server.Call) {
	call.Keep(nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.call = call
	for key, answer := range call.Responses() {
		if q := b.pending[key]; q != nil {
			delete(b.pending, key)
			q.answer <- reply{result: answer}
		}
	}
}
