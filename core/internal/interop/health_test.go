package interop

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// site is one HTTP server with the tables that its sessions share (E7).
type site struct {
	*fakeserver.HTTPServer
	t        *testing.T
	dialer   *transport.HTTPDialer
	key      era.Key
	verdicts *era.Verdicts
	breakers *breaker.Table
}

func newSite(t *testing.T, threshold int, h fakeserver.HTTP) *site {
	t.Helper()
	s := &site{HTTPServer: fakeserver.StartHTTP(t, h), t: t, verdicts: era.NewVerdicts(), breakers: breaker.NewTable(threshold, time.Hour)}
	var err error
	if s.dialer, err = transport.NewHTTP(transport.HTTPConfig{URL: s.URL, Breakers: s.breakers}); err != nil {
		t.Fatal(err)
	}
	if s.key, err = era.URLKey(s.URL); err != nil {
		t.Fatal(err)
	}
	return s
}

// open runs a session until the test ends.
func (s *site) open(l client.Limits) *client.Session {
	return keep(s.t, client.Config{
		Name: "site", Dialer: s.dialer, Key: s.key, Verdicts: s.verdicts,
		Info: mcp.Implementation{Name: "drawbridge-test", Version: "0"}, Limits: l,
	})
}

func (s *site) failures() int { return s.breakers.State(s.dialer.Origin()).Failures }

func (s *site) wantNoVerdict() {
	s.t.Helper()
	if v, ok := s.verdicts.Get(s.key, time.Hour); ok {
		s.t.Errorf("cached %+v", v)
	}
}

// settles waits for a state with an error.
func settles(t *testing.T, s *client.Session, want client.State) client.Status {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		st := s.Status()
		if st.State == want && st.Err != nil {
			return st
		}
		if time.Now().After(deadline) {
			t.Fatalf("the session is %s: %v", st.State, st.Err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Acceptance 23, E3: a server that refuses everything with 400 gets no verdict, one
// breaker failure for the two requests together, and an error that names both answers.
func TestRefusedEverywhere(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, fakeserver.HTTP{Answers: map[string]fakeserver.Answer{
		"server/discover": fakeserver.Status(400), "initialize": fakeserver.Status(422),
	}})
	err := settles(t, s.open(client.Limits{VerdictTTL: -1}), client.Retrying).Err
	if te, ok := errors.AsType[*transport.Error](err); !ok || te.Code == transport.BreakerOpen || !strings.Contains(err.Error(), "400") || !strings.Contains(err.Error(), "422") {
		t.Errorf("failed with %v", err)
	}
	s.wantNoVerdict()
	// At a threshold of one, a failure by the probe would have stopped initialize.
	if s.failures() != 1 || s.Count(mcp.MethodDiscover) != 1 || s.Count(mcp.MethodInitialize) != 1 {
		t.Errorf("%d failures after %d probes and %d handshakes", s.failures(), s.Count(mcp.MethodDiscover), s.Count(mcp.MethodInitialize))
	}
}

// Acceptance 26, E3: one 403 is health, not an era: no verdict, one breaker failure, no
// handshake; a later session finds the modern server.
func TestForbiddenOnce(t *testing.T) {
	t.Parallel()
	refusal := fakeserver.Status(403)
	refusal.Times = 1
	s := newSite(t, 9, fakeserver.HTTP{Script: fakeserver.Script{Era: fakeserver.Modern}, Answers: map[string]fakeserver.Answer{"server/discover": refusal}})
	err := settles(t, s.open(client.Limits{VerdictTTL: -1}), client.SignIn).Err
	if te, ok := errors.AsType[*transport.Error](err); !ok || te.Code != transport.HTTPStatus || te.Status != 403 {
		t.Errorf("failed with %v", err)
	}
	s.wantNoVerdict()
	if s.failures() != 1 || len(s.Requests()) != 1 {
		t.Errorf("%d failures after %d requests", s.failures(), len(s.Requests()))
	}
	if st := ready(t, s.open(client.Limits{VerdictTTL: -1})); st.Verdict.Era != era.Modern {
		t.Errorf("era %v", st.Verdict.Era)
	}
	if v, ok := s.verdicts.Get(s.key, time.Hour); !ok || v.Era != era.Modern || s.failures() != 0 {
		t.Errorf("cached %+v, %v; %d failures", v, ok, s.failures())
	}
}

// Acceptance 27, C8: after five recorded failures a session fails to open, and the
// server sees nothing of it.
func TestOpenBreakerSendsNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0, fakeserver.HTTP{})
	for range 5 {
		lease, err := s.breakers.Allow(s.dialer.Origin())
		if err != nil {
			t.Fatal(err)
		}
		lease.Failure()
	}
	st := settles(t, s.open(client.Limits{VerdictTTL: -1}), client.Retrying)
	if transport.CodeOf(st.Err) != transport.BreakerOpen || time.Until(st.RetryAt) < 50*time.Minute {
		t.Errorf("failed with %v, retries at %v", st.Err, st.RetryAt)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// Acceptance 83, T8: an answer that stops in its middle ends its call after the
// silence limit, and the session goes on.
func TestSilenceInTheMiddleOfABody(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]fakeserver.Answer{
		"JSON":   {ContentType: "application/json", Body: `{"jsonrpc":"2.0","id":$id,"res`, HangBody: true, Times: 1},
		"events": {ContentType: "text/event-stream", Body: ": hi\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":$id,\"res", HangBody: true, Times: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, 9, fakeserver.HTTP{Answers: map[string]fakeserver.Answer{"tools/call": a}})
			session := s.open(client.Limits{VerdictTTL: -1, Silence: 2 * time.Second})
			ready(t, session)
			began := time.Now()
			_, err := session.CallTool(context.Background(), "echo", json.RawMessage(`{"text":"x"}`), nil)
			if !errors.Is(err, &transport.Error{Code: transport.Timeout, Reason: "idle"}) || time.Since(began) < 2*time.Second {
				t.Errorf("ended with %v after %v", err, time.Since(began))
			}
			result, err := session.CallTool(context.Background(), "echo", json.RawMessage(`{"text":"again"}`), nil)
			if err != nil || !strings.Contains(string(result), "again") {
				t.Errorf("the next call gave %s, %v", result, err)
			}
		})
	}
}
