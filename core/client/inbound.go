package client

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// maxQuestions is how many questions of one server may wait at a time; more are
// refused as errors, never as a person's decline (field case 109).
const maxQuestions = 16

// askKey names a request of the server that we are answering.
type askKey struct {
	link *link
	id   jsonrpc.ID
}

// inbound takes what the server sends unasked. It runs on the connection's
// goroutine.
func (s *Session) inbound(l *link, of *exchange, m *jsonrpc.Message) {
	if m.Kind() == jsonrpc.Request {
		s.serve(l, of, m)
		return
	}
	switch m.Method {
	case mcp.NotifyProgress:
		// Late progress and unknown tokens are no errors (field case 67).
		x := of
		if x == nil {
			x = l.byID(jsonrpc.Get(m.Params, mcp.MetaProgressToken))
		}
		if x != nil && x.progress != nil {
			x.progress(m.Params)
		}
	case mcp.NotifyToolsChanged:
		s.refresh(Tools)
	case mcp.NotifyResourcesChanged:
		s.invalidate(l)
		s.refresh(Resources)
		s.refresh(ResourceTemplates)
	case mcp.NotifyPromptsChanged:
		s.refresh(Prompts)
	case mcp.NotifyResourceUpdated:
		var uri string
		if json.Unmarshal(jsonrpc.Get(m.Params, "uri"), &uri) == nil {
			s.invalidate(l)
			s.follows.changed(uri)
		}
	case mcp.NotifySubscriptionAccepted:
		x := of
		if x == nil {
			x = l.bySubscription(m.Params)
		}
		if x != nil && x.acknowledged != nil {
			x.acknowledged(m.Params)
		}
	case mcp.NotifyMessage:
		s.message(m.Params)
		x := of
		if x == nil {
			l.mu.Lock()
			x = l.only()
			l.mu.Unlock()
		}
		if x != nil && x.message != nil {
			x.message(m.Params)
		}
	case mcp.NotifyCancelled:
		s.withdraw(l, m.Params)
	case mcp.NotifyElicitationComplete:
		var id string
		if json.Unmarshal(jsonrpc.Get(m.Params, "elicitationId"), &id) == nil && s.cfg.ElicitationComplete != nil {
			s.cfg.ElicitationComplete(id)
		}
	default:
		s.cfg.Log.Debug("ignored a notification", "server", s.cfg.Name, "method", clip(m.Method))
	}
}

func (s *Session) message(params json.RawMessage) {
	if s.cfg.Message == nil {
		return
	}
	var p struct {
		Level  string          `json:"level"`
		Logger string          `json:"logger"`
		Data   json.RawMessage `json:"data"`
	}
	if json.Unmarshal(params, &p) == nil {
		s.cfg.Message(p.Level, p.Logger, p.Data)
	}
}

// withdraw ends our work on a request that the server takes back.
func (s *Session) withdraw(l *link, params json.RawMessage) {
	id, err := jsonrpc.ParseID(jsonrpc.Get(params, "requestId"))
	if err != nil {
		return
	}
	s.mu.Lock()
	cancel := s.st.asked[askKey{l, id}]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// serve answers a request of a legacy server (C4). What we do not serve gets
// -32601 at once. A modern server must not send requests, and we must not answer
// (stdio "Sending Messages").
func (s *Session) serve(l *link, of *exchange, m *jsonrpc.Message) {
	switch {
	case l.modern():
		s.cfg.Log.Warn("a modern server sent a request", "server", s.cfg.Name, "method", clip(m.Method))
	case m.Method == mcp.MethodPing:
		s.respond(l, m.Method, jsonrpc.Reply(m.ID, json.RawMessage(`{}`)))
	case asksForInput(m.Method):
		s.asked(l, of, m)
	default:
		s.respond(l, m.Method, jsonrpc.Refuse(m.ID, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "Method not found")))
	}
}

// respond delivers a response off the connection's goroutine.
func (s *Session) respond(l *link, method string, reply *jsonrpc.Message) {
	s.wg.Go(func() {
		select {
		case <-l.up:
		case <-l.done:
			return
		}
		if err := l.conn.Respond(method, reply); err != nil {
			s.cfg.Log.Warn("a response could not be sent", "server", s.cfg.Name, "error", err)
		}
	})
}

// asked answers what a legacy server asks for. A question on a call's own stream
// belongs to that call; one that came on none is attributed only if a single call is
// in flight (G4), and otherwise is the session's own to answer. The clocks of the
// calls stand still meanwhile (T8), and the question goes away with its call or
// connection.
func (s *Session) asked(l *link, of *exchange, m *jsonrpc.Message) {
	calls := []*exchange{of}
	if of == nil {
		calls = l.suspects()
	}
	if len(calls) == 1 {
		of = calls[0]
	}
	ask, refusal := s.answering(of, len(calls) > 1, m)
	if refusal != nil {
		s.respond(l, m.Method, jsonrpc.Refuse(m.ID, refusal))
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	key := askKey{l, m.ID}
	s.mu.Lock()
	_, twice := s.st.asked[key]
	full := len(s.st.asked) >= maxQuestions
	if !twice && !full {
		s.st.asked[key] = cancel
	}
	s.mu.Unlock()
	if twice || full {
		cancel()
		s.respond(l, m.Method, jsonrpc.Refuse(m.ID, jsonrpc.Errorf(jsonrpc.CodeInternal, "Too many questions are waiting for a person")))
		return
	}
	paid := l.owe(calls)
	s.wg.Go(func() {
		defer cancel()
		stop := watch(cancel, l, of)
		result, err := ask(ctx)
		stop()
		paid()
		s.mu.Lock()
		delete(s.st.asked, key)
		s.mu.Unlock()
		if l.err() != nil || errors.Is(err, context.Canceled) {
			return // nobody waits for the answer
		}
		reply := jsonrpc.Refuse(m.ID, jsonrpc.Errorf(jsonrpc.CodeInternal, "The request could not be put to a person or client"))
		if err == nil {
			reply = jsonrpc.Reply(m.ID, result)
		}
		s.respond(l, m.Method, reply)
	})
}

// answering finds who answers a request: the call it belongs to, else the session.
func (s *Session) answering(of *exchange, uncertain bool, m *jsonrpc.Message) (func(context.Context) (json.RawMessage, error), *jsonrpc.Error) {
	if of != nil && of.input != nil {
		return func(ctx context.Context) (json.RawMessage, error) { return of.input(ctx, m.Method, m.Params) }, nil
	}
	if m.Method != mcp.MethodElicit || s.cfg.Elicit == nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "Method not found")
	}
	e := Elicitation{Uncertain: uncertain}
	if json.Unmarshal(m.Params, &e.ElicitParams) != nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Invalid params")
	}
	if of != nil {
		e.Call = of.target
	}
	return func(ctx context.Context) (json.RawMessage, error) {
		r, err := s.cfg.Elicit(ctx, e)
		if err != nil {
			return nil, err
		}
		return json.Marshal(r)
	}, nil
}

// watch cancels when the link dies or the exchange, if any, ends; the returned
// function ends the watch.
func watch(cancel func(), l *link, of *exchange) (stop func()) {
	over := make(chan struct{})
	var ended <-chan struct{}
	if of != nil {
		ended = of.done
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		select {
		case <-l.done:
			cancel()
		case <-ended:
			cancel()
		case <-over:
		}
	}()
	return func() {
		close(over)
		<-finished
	}
}

// clip bounds a foreign word for a log.
func clip(s string) string { return bound(s, 64) }
