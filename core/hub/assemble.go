package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/spec"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/secrets"
)

// assemble makes a session for a spec: references resolved, values that must not
// be shown made known to the masker, the dialer for the wire. If that fails it
// returns the state to show instead.
func (v *server) assemble(ctx context.Context, sp *spec.Spec) (*client.Session, *fixed) {
	h := v.hub
	r, err := spec.Resolve(ctx, sp, h.cfg.LookupEnv, h.cfg.Secrets)
	if len(spec.Secrets(sp)) > 0 {
		h.heard(ctx, err)
	}
	if err != nil {
		return nil, unresolved(err)
	}
	h.cfg.Mask.Add(r.Sensitive...)
	d, key, err := v.dialer(sp, r)
	if err != nil {
		x := explain(err, hostOf(sp))
		return nil, &fixed{state: Failed, explanation: x}
	}
	cfg := client.Config{
		Name: v.name, Dialer: d, Key: key, Verdicts: h.verdicts,
		Info: h.info(), Limits: limitsOf(sp), Log: h.cfg.Log,
		Handlers: client.Handlers{
			Changed: v.dirty,
			Elicit: func(ctx context.Context, e client.Elicitation) (mcp.ElicitResult, error) {
				return h.ask(ctx, v, originOf(sp), e)
			},
			ElicitationComplete: func(id string) { h.completed(v.name, id) },
			Message:             v.message,
		},
	}
	return client.New(cfg), nil
}

// unresolved says why a spec's references do not resolve (K1, K2).
func unresolved(err error) *fixed {
	f := &fixed{state: Failed, explanation: explanation{sentence: sentence(err), action: actEdit}}
	var ref *spec.ReferenceError
	var blocked *spec.BlockedError
	switch {
	case errors.As(err, &blocked):
		f.state, f.explanation = Blocked, explainBlocked(&transport.Error{Code: transport.Blocked, Reason: "source"})
	case errors.As(err, &ref) && errors.Is(err, spec.ErrSecret):
		f.state = WaitingSecret
		if e, ok := errors.AsType[*secrets.Error](err); ok {
			f.sentence = fmt.Sprintf("The secret %s, used in %s, cannot be had: %s.", ref.Name, ref.Place, e.Reason)
		}
		f.action = Action{Kind: SetSecret, Label: "How to set it", Arg: ref.Name}
	}
	return f
}

// sentence makes a sentence of an error made for people.
func sentence(err error) string {
	b := []byte(err.Error())
	if len(b) > 0 && b[0] >= 'a' && b[0] <= 'z' {
		b[0] -= 'a' - 'A'
	}
	return string(b) + "."
}

// dialer returns the binding for a spec and the key of its verdict.
func (v *server) dialer(sp *spec.Spec, r *spec.Resolved) (transport.Dialer, era.Key, error) {
	gate := func() error { return spec.Permit(sp, nil) }
	limits := transport.Limits{ConnectTimeout: sp.ConnectTimeout, MaxBytes: sp.MaxMessageBytes}
	log := func(source, line string) { v.note(source, "info", line) }
	if !sp.Remote() {
		print := spec.Fingerprint(sp)
		env := make([]string, 0, len(r.Env))
		for _, e := range r.Env {
			env = append(env, e.Name+"="+e.Value)
		}
		return transport.NewStdio(transport.StdioConfig{
			Command: r.Command, Args: r.Args, Env: env, Dir: r.Dir, Gate: gate, Limits: limits, Log: log,
			Breakers: v.hub.breakers, BreakerKey: "stdio:" + v.name + ":" + print,
		}), era.SpecKey(print), nil
	}
	key, err := era.URLKey(r.URL)
	if err != nil {
		return nil, era.Key{}, &transport.Error{Code: transport.Blocked, Reason: "url"}
	}
	headers := make([]transport.Header, 0, len(r.Headers))
	for _, e := range r.Headers {
		headers = append(headers, transport.Header{Name: e.Name, Value: e.Value})
	}
	d, err := transport.NewHTTP(transport.HTTPConfig{
		URL: r.URL, Headers: headers, Gate: gate, Limits: limits, Log: log, Breakers: v.hub.breakers,
		Policy:    transport.AddressPolicy{Workspace: sp.Source != spec.User, AllowHTTP: sp.AllowInsecureHTTP},
		SSE:       sp.Type == spec.SSE,
		UserAgent: "drawbridge/" + v.hub.cfg.Version,
	})
	if err != nil {
		return nil, era.Key{}, err
	}
	v.mu.Lock()
	v.origin = transport.Origin(d)
	v.mu.Unlock()
	return d, key, nil
}

func limitsOf(sp *spec.Spec) client.Limits {
	l := client.Limits{
		Total: sp.CallTimeout, Silence: sp.SilenceTimeout, Handshake: sp.HandshakeTimeout,
		Queue: sp.Queue, Pool: sp.PoolSize, Concurrency: client.Concurrency(sp.Concurrency), VerdictTTL: -1,
	}
	if sp.EraTTL != nil {
		l.VerdictTTL = *sp.EraTTL
	}
	return l
}

// hostOf is where a server is, for sentences. sp is nil when the entry is invalid,
// which it can become while its session still runs.
func hostOf(sp *spec.Spec) string {
	if sp == nil {
		return "the server"
	}
	if !sp.Remote() {
		return sp.Redact().Command
	}
	if u, err := url.Parse(sp.Redact().URL); err == nil && u.Host != "" {
		return u.Host
	}
	return "its address"
}

// originOf says who a server really is, for a question: its command or host.
func originOf(sp *spec.Spec) string {
	if sp.Remote() {
		return hostOf(sp)
	}
	return target(sp)
}

// target is the redacted command line or URL of a spec (P5).
func target(sp *spec.Spec) string {
	r := sp.Redact()
	if sp.Remote() {
		return r.URL
	}
	if r.Args == 0 {
		return r.Command
	}
	if r.Args == 1 {
		return r.Command + " (1 argument)"
	}
	return fmt.Sprintf("%s (%d arguments)", r.Command, r.Args)
}

// message takes a log message of the server.
func (v *server) message(level, logger string, data json.RawMessage) {
	text := string(data)
	var s string
	if json.Unmarshal(data, &s) == nil {
		text = s
	}
	if logger != "" {
		text = logger + ": " + text
	}
	v.note("server", levelOf(level), text)
}

// levelOf maps the eight levels of MCP to four.
func levelOf(level string) string {
	switch level {
	case "debug", "info", "warning":
		return level
	case "error", "critical", "alert", "emergency":
		return "error"
	}
	return "info"
}
