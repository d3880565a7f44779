package fakeserver

import (
	"context"
	"encoding/json"
)

const subscriptionID = "io.modelcontextprotocol/subscriptionId"

// subscribe serves subscriptions/listen until the client cancels it.
func (p *peer) subscribe(ctx context.Context, m message, ps params, to sink) (any, *Error) {
	meta := map[string]any{subscriptionID: m.ID}
	// Under the lock, so that nothing announced falls before or between.
	p.mu.Lock()
	to.send(notification("notifications/subscriptions/acknowledged", map[string]any{
		"_meta": meta, "notifications": ps.Notifications,
	}))
	p.listen[string(m.ID)] = to
	p.mu.Unlock()
	for range p.script.Storm {
		to.send(notification("notifications/tools/list_changed", map[string]any{"_meta": meta}))
	}
	<-ctx.Done()
	p.mu.Lock()
	delete(p.listen, string(m.ID))
	p.mu.Unlock()
	return nil, nil
}

// announce sends a notification that belongs to no request: to each subscription
// of a modern client, else to the connection.
func (p *peer) announce(method string, params map[string]any) {
	p.mu.Lock()
	modern := p.modern
	streams := make(map[string]sink, len(p.listen))
	for id, s := range p.listen {
		streams[id] = s
	}
	p.mu.Unlock()
	if !modern {
		var given any
		if len(params) > 0 {
			given = params
		}
		p.broadcast(notification(method, given))
		return
	}
	for id, s := range streams {
		tagged := map[string]any{"_meta": map[string]any{subscriptionID: json.RawMessage(id)}}
		for k, v := range params {
			tagged[k] = v
		}
		s.send(notification(method, tagged))
	}
}
