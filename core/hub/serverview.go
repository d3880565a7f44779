package hub

import (
	"errors"
	"fmt"
	"slices"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/spec"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// view returns the server as a person sees it; the same value as long as nothing
// changed.
func (v *server) view() *Server {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shown == nil {
		v.shown = v.draw()
	}
	return v.shown
}

// draw makes the view; v.mu is held.
func (v *server) draw() *Server {
	out := &Server{
		Name: v.name, Wanted: !v.entry.Disabled, Tools: -1, Resources: -1, Prompts: -1, FollowsRev: v.follows.rev, LogRev: v.log.seq(),
	}
	for _, n := range v.entry.Notes {
		out.Notes = append(out.Notes, n.String())
	}
	host := hostOf(v.entry.Spec)
	if sp := v.entry.Spec; sp != nil {
		out.Remote, out.Target, out.Secrets = sp.Remote(), target(sp), spec.Secrets(sp)
		out.Transport = "command"
		if sp.Remote() {
			out.Transport = "HTTP"
		}
		if sp.AllowInsecureHTTP {
			out.Notes = append(out.Notes, "Plain http to any address is allowed for this server.")
		}
	}
	if v.session == nil {
		f := v.fixed
		out.State, out.Since, out.Action = f.state, f.since, f.action
		out.Sentence, out.Words = v.masked(f.explanation)
		return out
	}
	st := v.session.Status()
	out.State, out.Since, out.RetryAt = stateOf(st), st.Since, st.RetryAt
	if x, ok := v.trouble(st, out.State, host); ok {
		out.Sentence, out.Words = v.masked(x)
		out.Action = x.action
	}
	v.drawReady(out, st, host)
	if out.Action == (Action{}) && v.waitsInLine(st) {
		out.Action = actParallel
	}
	out.Era = eraView(st)
	out.Health = v.health(st, host)
	return out
}

// waitsInLine reports whether calls have had to wait although nobody said that they
// must: only the era and the wire imply it (T5).
func (v *server) waitsInLine(st client.Status) bool {
	return st.State == client.Ready && st.Waited && st.Concurrency == client.Serialized && v.entry.Spec.Concurrency == ""
}

// trouble explains why a session is not ready; false when it is.
func (v *server) trouble(st client.Status, state State, host string) (explanation, bool) {
	if st.Err == nil {
		return explanation{}, false
	}
	x := explain(st.Err, host)
	switch {
	case state == BreakerOpen && st.LastErr != nil:
		cause := explain(st.LastErr, host)
		x = explanation{sentence: cause.sentence + " " + x.sentence, words: cause.words, action: cause.action}
	case state == Failed && !v.entry.Spec.Remote() && st.Restarts > 1:
		// Giving up is said, with the way back (field case 13).
		x.sentence += fmt.Sprintf(" It failed %d times in a row and is left alone until you reconnect.", st.Restarts)
		x.action = actReconnect
	case state == Retrying && x.action == (Action{}):
		x.action = actReconnect
	}
	return x, true
}

// drawReady fills in what a live connection says.
func (v *server) drawReady(out *Server, st client.Status, host string) {
	mask := v.hub.cfg.Mask.Mask
	out.ServerName, out.ServerVersion = mask(st.Info.Name), mask(st.Info.Version)
	out.Instructions = mask(st.Instructions)
	for name := range st.Capabilities {
		if st.Capabilities.Has(name) {
			out.Capabilities = append(out.Capabilities, mask(name))
		}
	}
	slices.Sort(out.Capabilities)
	out.Subscribes = st.Capabilities.HasSub("resources", "subscribe")
	out.Completes = st.Capabilities.Has("completions")
	out.ResourcesRev = st.Lists[client.Resources].Rev + st.Lists[client.ResourceTemplates].Rev
	out.PromptsRev = st.Lists[client.Prompts].Rev
	tools := st.Lists[client.Tools]
	out.Tools, out.ToolsRev = tools.Count, tools.Rev
	out.Resources, out.Prompts = st.Lists[client.Resources].Count, st.Lists[client.Prompts].Count
	for _, k := range []client.ListKind{client.Tools, client.Resources, client.Prompts} {
		l := st.Lists[k]
		out.Incomplete = out.Incomplete || l.Incomplete
		if l.Note != "" {
			out.Notes = append(out.Notes, l.Note)
		}
		if l.Incomplete {
			out.Notes = append(out.Notes, "The list of "+string(k)+" is incomplete: the server's pages do not end.")
		}
		if l.Err != nil && out.Sentence == "" && st.State == client.Ready {
			x := explain(l.Err, host)
			out.Sentence, out.Words = v.masked(x)
			out.Sentence = "Its " + string(k) + " could not be listed. " + out.Sentence
			out.Action = x.action
		}
	}
}

// masked prepares an explanation for showing: known secrets hidden, bounded (K4).
func (v *server) masked(x explanation) (string, []string) {
	const maxWords, maxWord = 20, 500
	var words []string
	for _, w := range x.words[max(0, len(x.words)-maxWords):] {
		words = append(words, cut(v.hub.cfg.Mask.Mask(w), maxWord))
	}
	return v.hub.cfg.Mask.Mask(x.sentence), words
}

func eraView(st client.Status) Era {
	v := st.Verdict
	e := Era{
		Modern: v.Era == era.Modern, Legacy: v.Era == era.Legacy, Version: string(st.Version),
		At: v.DecidedAt, FromCache: st.Cached,
	}
	if v.Era != era.Unknown {
		e.Evidence, e.Until = v.Record.String(), v.Until()
	}
	return e
}

func (v *server) health(st client.Status, host string) Health {
	b := v.hub.breakers.State(v.breakerKey())
	h := Health{
		Breaker: b.Phase.String(), Failures: b.Failures, Restarts: st.Restarts,
		InFlight: st.InFlight, Cap: st.Slots, Queued: st.Queued, Concurrency: string(st.Concurrency),
	}
	for _, c := range st.Calls {
		h.Calls = append(h.Calls, Call(c))
	}
	if n := len(h.Calls); n > 0 {
		h.Latency = h.Calls[n-1].Duration
	}
	if st.State == client.Ready {
		h.UpSince = st.Since
	}
	var te *transport.Error
	if st.LastErr != nil && !(errors.As(st.LastErr, &te) && te.Code == transport.Cancelled) {
		h.LastError, _ = v.masked(explain(st.LastErr, host))
		h.LastErrorAt = st.LastErrAt
	}
	return h
}

// breakerKey is the key of the breaker that this server's wire uses.
func (v *server) breakerKey() string {
	sp := v.entry.Spec
	if sp == nil {
		return ""
	}
	if !sp.Remote() {
		return "stdio:" + v.name + ":" + spec.Fingerprint(sp)
	}
	return v.origin
}
