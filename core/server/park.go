package server

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Asker puts a question to whoever can approve a call: the person at the desktop,
// or through its own client the one who called ([InClient]).
type Asker interface {
	// Reaches reports whether there is anybody to ask about this call. If not, the
	// call is denied at once and nothing waits.
	Reaches(*Call) bool
	// Ask waits for the decision and holds no worker meanwhile. Its time limit is
	// the asker's own; running out of it is an answer that does not approve. It
	// returns when ctx ends, whose cause says why: [ErrCancelled], [ErrGone], or
	// that the call was denied to make room. Its answer no longer counts then.
	// An error denies, and its text stays here.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Question is a call that waits for a decision.
type Question struct {
	// ID is the ask's id, unguessable.
	ID string
	// Prompt and About are the authorizer's.
	Prompt string
	About  any
	// Call says who calls what: Peer, Name, Arguments. It may report progress; it
	// does so by itself too, so that a caller's time limit does not end the wait.
	Call *Call
}

// Answer is the decision. Detail is said to the client unless approved, such as
// "user decline".
type Answer struct {
	Approved bool
	Detail   string
}

// What the client is told when nobody approved.
const (
	askFailed   = "elicitation failed"
	askTimedOut = "elicitation timed out"
	askCrowded  = "too many elicitations pending"
	askFull     = "too many elicitations pending on this server"
)

// errRoom is the cause that ends an ask to make room for another owner's.
var errRoom = errors.New("another call needs the place")

// waitingProgress is the time between two signs of life of a call that waits.
const waitingProgress = 15 * time.Second

// approve is nil when the call may run (S6, S7), with a worker held again.
func (c *Call) approve(ctx context.Context, d Decision) error {
	if c.rounds.approved {
		return nil // in an earlier round of this very call
	}
	asker := d.Asker
	if asker == nil {
		asker = c.conn.server.asker
	}
	if !asker.Reaches(c) {
		return &Denied{c.Name, Ask, d.Text}
	}
	if asker == InClient && c.Caller.Modern() {
		return c.approveInRounds(d)
	}
	return c.park(ctx, asker, d)
}

// park holds the call until it is decided, without a worker, its clock standing
// still. Whoever takes it out of the lot first ends it.
func (c *Call) park(ctx context.Context, asker Asker, d Decision) error {
	s := c.conn.server
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p, crowded := s.lot.enter(c.Peer.Owner, cancel)
	if p == nil {
		return &Denied{c.Name, Ask, crowded}
	}
	c.clock.pause()
	c.leaveWorker()
	stop := c.showWaiting()
	answer := c.ask(ctx, asker, Question{p.id, d.Text, d.About, c})
	stop()
	switch left := s.lot.leave(p); {
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	case !left:
		return &Denied{c.Name, Ask, askFull}
	case !answer.Approved:
		return &Denied{c.Name, Ask, answer.Detail}
	}
	if !c.takeWorker() {
		c.conn.server.states.giveBack(c.rounds.ticket)
		return ErrBusy
	}
	c.clock.start()
	c.rounds.approved = true
	return nil
}

// ask gets the one answer; a panic or an error is none that approves.
func (c *Call) ask(ctx context.Context, asker Asker, q Question) (a Answer) {
	defer func() {
		if p := recover(); p != nil {
			c.conn.server.logPanic(c.conn.ctx, c.Method, c.Name, p)
			a = Answer{Detail: askFailed}
		}
	}()
	a, err := asker.Ask(ctx, q)
	if err != nil {
		return Answer{Detail: askFailed}
	}
	return a
}

// showWaiting sends progress to a caller that wants it until stop. The steps are
// small, so that a handler that counts from zero is hardly disturbed.
func (c *Call) showWaiting() (stop func()) {
	if c.token == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(waitingProgress)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-tick.C:
				c.Progress(float64(n)/1e6, 0, "Waiting for approval")
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// InClient asks the person through the calling client, by elicitation: of a legacy
// one on its connection, of a modern one by an input_required result (S6, S8). It
// is for clients that declared elicitation and can be reached.
var InClient Asker = inClient{}

type inClient struct{}

func (inClient) Reaches(c *Call) bool {
	if !c.Can(approval("")) {
		return false
	}
	o, ok := c.conn.out.(interface{ hears(*Call) bool })
	return c.Caller.Modern() || !ok || o.hears(c)
}

func (inClient) Ask(ctx context.Context, q Question) (Answer, error) {
	c := q.Call
	ctx, cancel := context.WithTimeoutCause(ctx, c.conn.server.limits.AskTimeout, ErrUnanswered)
	defer cancel()
	raw, err := c.conn.ask(ctx, q.ID, c.id, approval(q.Prompt))
	switch {
	case errors.Is(err, ErrUnanswered):
		return Answer{Detail: askTimedOut}, nil
	case err != nil:
		return Answer{}, err
	}
	return approved(raw), nil
}

// approval is the form that a client shows.
func approval(prompt string) Input {
	p, _ := json.Marshal(map[string]any{
		"message": prompt,
		"requestedSchema": map[string]any{
			"type":       "object",
			"properties": map[string]any{"approve": map[string]string{"type": "boolean", "title": "Approve", "description": "Let this call run"}},
			"required":   []string{"approve"},
		},
	}) // strings always marshal
	return Input{mcp.MethodElicit, p}
}

// approved reads the client's answer: nothing but an accepted form with approve
// exactly true approves.
func approved(raw json.RawMessage) Answer {
	fields := fieldsOf(raw)
	var action string
	_ = json.Unmarshal(fields["action"], &action)
	if action == string(mcp.Accept) && string(fieldsOf(fields["content"])["approve"]) == "true" {
		return Answer{Approved: true}
	}
	switch mcp.Action(action) {
	case mcp.Accept, mcp.Decline, mcp.Cancel:
		return Answer{Detail: "user " + action}
	}
	return Answer{Detail: "user declined"}
}

// approveInRounds asks a modern client, whose call ends with the question and comes
// again with the answer. An answer counts only under the key that the sealed state
// of this very call names.
func (c *Call) approveInRounds(d Decision) error {
	r := &c.rounds
	if r.approved {
		return nil
	}
	if raw, ok := r.fresh[r.ask]; ok && r.ask != "" {
		delete(r.fresh, r.ask)
		a := approved(raw)
		if time.Now().After(r.askUntil) {
			a = Answer{Detail: askTimedOut}
		}
		r.ask, r.approved = "", a.Approved
		if !a.Approved {
			return &Denied{c.Name, Ask, a.Detail}
		}
		return nil
	}
	r.ask, r.askUntil = newAskID(), time.Now().Add(c.conn.server.limits.AskTimeout)
	return &InputRequired{Inputs{r.ask: approval(d.Text)}}
}
