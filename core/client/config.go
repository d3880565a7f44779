package client

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// Defaults of the limits (T5, T8, E5).
const (
	defaultTotal     = 15 * time.Minute
	defaultSilence   = 60 * time.Second
	defaultHandshake = 60 * time.Second
	defaultProbe     = 5 * time.Second
	defaultQueue     = 64
	defaultPool      = 8
	statelessCap     = 64
	maxRounds        = 10
)

// Config is what a session needs. Name, Dialer, Key, Verdicts and Info are
// required.
type Config struct {
	// Name is the server's configured name, for logs.
	Name   string
	Dialer transport.Dialer
	// Key is the verdict's key: a URL's or a spec fingerprint's (E4, E5).
	Key era.Key
	// Verdicts is the hub's table, shared by all sessions (E7).
	Verdicts *era.Verdicts
	// Info is how we name ourselves to servers.
	Info   mcp.Implementation
	Limits Limits
	Log    *slog.Logger
	Handlers
}

// Limits are the bounds of one session; zero fields mean the defaults of T5 and
// T8.
type Limits struct {
	// Total bounds a call, queue and wire together.
	Total time.Duration
	// Silence bounds the time on the wire without any sign of life.
	Silence time.Duration
	// Handshake bounds initialize, Probe the wait for server/discover on stdio.
	Handshake, Probe time.Duration
	// Queue is how many calls may wait for a slot.
	Queue int
	// Pool is the number of slots of a pooled session.
	Pool int
	// Concurrency overrides what the era implies; "" does not.
	Concurrency Concurrency
	// VerdictTTL is how long an HTTP verdict holds; negative means the default,
	// 0 probes every time (E4).
	VerdictTTL time.Duration
	// GiveUp is how many quick failures in a row end the retries of a command
	// server; 0 means ten (field case 13).
	GiveUp int
}

// Handlers are what a session calls. All are optional.
type Handlers struct {
	// Changed is called, without locks and possibly often, when Status has
	// something new. It must return at once.
	Changed func()
	// Elicit asks a person. It blocks until there is an answer or ctx ends,
	// which means that nobody waits for the answer any more. An error is told to
	// the server as an error, never as a decline (case 62).
	Elicit func(ctx context.Context, e Elicitation) (mcp.ElicitResult, error)
	// Capabilities are declared to servers, a ClientCapabilities object, where the
	// calls' own [Call.Input] serves more than these handlers; nil declares what
	// the handlers serve.
	Capabilities json.RawMessage
	// ElicitationComplete tells that a url elicitation of 2025-11-25 was
	// completed out of band.
	ElicitationComplete func(elicitationID string)
	// Message gets the server's log messages, on the connection's goroutine.
	Message func(level, logger string, data json.RawMessage)
}

// Elicitation is one question of the server.
type Elicitation struct {
	mcp.ElicitParams
	// Call is the tool (or prompt, or resource) whose call it belongs to, ""
	// when it came outside of one.
	Call string
	// Uncertain says that it belongs to one of several calls in flight (G4).
	Uncertain bool
}

// Concurrency is how many calls may be on the wire at a time (T5).
type Concurrency string

// The three policies.
const (
	Stateless  Concurrency = "stateless"
	Pooled     Concurrency = "pooled"
	Serialized Concurrency = "serialized"
)

// implied returns the policy that follows from era and transport: a modern server
// keeps no state, a pipe tells calls apart by id, and some deployed legacy HTTP
// servers break when two calls share a session.
func implied(kind transport.Kind, e era.Era) Concurrency {
	if e == era.Modern || kind == transport.Stdio {
		return Stateless
	}
	return Serialized
}

func (l Limits) concurrency(kind transport.Kind, e era.Era) Concurrency {
	switch l.Concurrency {
	case Stateless, Pooled, Serialized:
		return l.Concurrency
	}
	return implied(kind, e)
}

func (l Limits) slots(c Concurrency) int {
	switch c {
	case Stateless:
		return statelessCap
	case Pooled:
		return l.Pool
	}
	return 1
}

func (l Limits) withDefaults() Limits {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&l.Total, defaultTotal)
	def(&l.Silence, defaultSilence)
	def(&l.Handshake, defaultHandshake)
	def(&l.Probe, defaultProbe)
	if l.Queue <= 0 {
		l.Queue = defaultQueue
	}
	if l.Pool <= 0 {
		l.Pool = defaultPool
	}
	if l.GiveUp <= 0 {
		l.GiveUp = 10
	}
	if l.VerdictTTL < 0 {
		l.VerdictTTL = era.DefaultTTL
	}
	return l
}
