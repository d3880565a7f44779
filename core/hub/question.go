package hub

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// questions are the elicitations that wait for a person, guarded by Hub.mu.
type questions struct {
	byID  map[string]*question
	order []*question
}

type question struct {
	view          Question
	elicitationID string
	answer        chan Answer // buffered; takes the one answer
}

func (q *questions) views() []*Question {
	out := make([]*Question, 0, len(q.order))
	for _, x := range q.order {
		v := x.view
		out = append(out, &v)
	}
	return out
}

// take removes a question; it is nil when somebody else took it before.
func (q *questions) take(id string) *question {
	x := q.byID[id]
	if x != nil {
		delete(q.byID, id)
		q.order = slices.DeleteFunc(q.order, func(o *question) bool { return o == x })
	}
	return x
}

// ask puts a server's question to a person and waits. The question vanishes when
// ctx ends: its call, or its server, is gone (field case 109).
func (h *Hub) ask(ctx context.Context, v *server, origin string, e client.Elicitation) (mcp.ElicitResult, error) {
	q := &question{
		view: Question{
			ID: rand.Text(), Server: v.name, Origin: origin, Call: h.cfg.Mask.Mask(e.Call), CallUncertain: e.Uncertain,
			URLMode: e.Mode == "url", Message: h.cfg.Mask.Mask(e.Message), Schema: e.RequestedSchema, URL: e.URL, Asked: time.Now(),
		},
		elicitationID: e.ElicitationID,
		answer:        make(chan Answer, 1),
	}
	h.mu.Lock()
	h.questions.byID[q.view.ID] = q
	h.questions.order = append(h.questions.order, q)
	h.touch()
	h.mu.Unlock()
	select {
	case a := <-q.answer:
		r := mcp.ElicitResult{Action: mcp.Action(a.Action)}
		if r.Action == mcp.Accept && !q.view.URLMode {
			r.Content = a.Content
		}
		return r, nil
	case <-ctx.Done():
		h.mu.Lock()
		h.questions.take(q.view.ID)
		h.touch()
		h.mu.Unlock()
		return mcp.ElicitResult{}, context.Cause(ctx)
	}
}

// Answer answers a question. Only the first answer counts; one to a question that
// is gone does nothing.
func (h *Hub) Answer(id string, a Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.Action == Opened {
		if q := h.questions.byID[id]; q != nil {
			q.view.Opened = true
			h.touch()
		}
		return
	}
	switch mcp.Action(a.Action) {
	case mcp.Accept, mcp.Decline, mcp.Cancel:
	default:
		return
	}
	if q := h.questions.take(id); q != nil {
		q.answer <- a
		h.touch()
	}
}

// completed is a legacy server's word that a url elicitation is done. It counts
// only for that server's own question, and only once the person has opened the URL.
func (h *Hub) completed(server, elicitationID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, q := range h.questions.order {
		if q.view.Server == server && q.elicitationID == elicitationID && elicitationID != "" && q.view.Opened {
			h.questions.take(q.view.ID)
			q.answer <- Answer{Action: string(mcp.Accept)}
			h.touch()
			return
		}
	}
}
