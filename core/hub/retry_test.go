package hub

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/spec"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/secrets"
)

// K1: a server that was refused with an old secret is tried with the new one, when it
// is set and when a person asks.
func TestNewSecretIsUsed(t *testing.T) {
	var got atomic.Value
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer srv.Close()
	r := newRig(t, nil)
	set := func(value string) {
		if err := r.store.Set(context.Background(), "TOKEN", value); err != nil {
			t.Fatal(err)
		}
	}
	sent := func(want string) {
		t.Helper()
		deadline := time.Now().Add(patience)
		for got.Load() != want {
			if time.Now().After(deadline) {
				t.Fatalf("the server saw %v, want %q", got.Load(), want)
			}
			time.Sleep(5 * time.Millisecond)
		}
		r.server("a", SignInNeeded)
	}
	set("first-token-1")
	r.write(map[string]entry{"a": {"url": srv.URL, "headers": map[string]string{"Authorization": "Bearer ${secret:TOKEN}"}}})
	sent("Bearer first-token-1")
	set("second-token-2")
	r.Retry()
	sent("Bearer second-token-2")
	set("third-token-3")
	if err := r.Do(context.Background(), "a", Reconnect); err != nil {
		t.Fatal(err)
	}
	sent("Bearer third-token-3")
}

// C8: a person who asks for a reconnect is not refused by the breaker.
func TestReconnectClosesTheBreaker(t *testing.T) {
	r := newRig(t, map[string]entry{"a": {"command": "no-such-command-anywhere"}})
	r.server("a", Failed)
	v, err := r.find("a")
	if err != nil {
		t.Fatal(err)
	}
	v.mu.Lock()
	key := v.breakerKey()
	v.mu.Unlock()
	for range breaker.DefaultThreshold {
		if lease, err := r.breakers.Allow(key); err == nil {
			lease.Failure()
		}
	}
	if p := r.breakers.State(key).Phase; p != breaker.Open {
		t.Fatalf("the breaker is %v", p)
	}
	if err := r.Do(context.Background(), "a", Reconnect); err != nil {
		t.Fatal(err)
	}
	if s := r.breakers.State(key); s.Phase != breaker.Closed {
		t.Errorf("the breaker is %+v", s)
	}
	if s := r.server("a", Failed); s.Sentence != "The command no-such-command-anywhere was not found." {
		t.Errorf("got %q", s.Sentence)
	}
}

// stubborn is a server that takes its time to end, and notes its starts.
func stubborn(t *testing.T, journal string) entry {
	return fake(t, fakeserver.Script{IgnoreEOF: true, IgnoreTERM: true, Journal: journal})
}

func starts(t *testing.T, journal string) (n int) {
	t.Helper()
	entries, err := fakeserver.ReadJournal(journal)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Event == fakeserver.Started {
			n++
		}
	}
	return n
}

// Field case 13: edits that come while the old process ends make one new one.
func TestEditsDuringTheEndMakeOneStart(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "j")
	r := newRig(t, map[string]entry{"a": stubborn(t, journal)})
	r.server("a", Ready)
	v, err := r.find("a")
	if err != nil {
		t.Fatal(err)
	}
	v.mu.Lock()
	e := v.entry
	v.mu.Unlock()
	v.set(e)
	r.changed()
	r.server("a", ShuttingDown)
	v.set(e)
	r.changed()
	r.server("a", Ready)
	time.Sleep(300 * time.Millisecond) // for a start that must not come
	if s := r.server("a", Ready); starts(t, journal) != 2 {
		t.Errorf("%d starts; %+v", starts(t, journal), s)
	}
}

// Field case 13: a server that is removed and put back starts once the old process is
// gone.
func TestOldTreeIsGoneBeforeTheNextStarts(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "j")
	servers := map[string]entry{"a": stubborn(t, journal)}
	r := newRig(t, servers)
	r.server("a", Ready)
	old, err := r.find("a")
	if err != nil {
		t.Fatal(err)
	}
	r.write(map[string]entry{"b": {"command": "no-such-command-anywhere"}})
	r.until("a is removed", func(s *Snapshot) bool { return s.find("a") == nil })
	r.write(servers)
	r.server("a", Ready)
	select {
	case <-old.gone:
	default:
		t.Error("both run at once")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.removed) > 1 {
		t.Errorf("%d servers are remembered", len(r.removed))
	}
}

// A call on a server whose entry has just become invalid fails in a sentence.
func TestCallOnAnEntryThatBecameInvalid(t *testing.T) {
	r := newRig(t, map[string]entry{"a": fake(t, fakeserver.Script{})})
	r.server("a", Ready)
	v, err := r.find("a")
	if err != nil {
		t.Fatal(err)
	}
	v.mu.Lock()
	v.entry = &spec.Entry{Name: "a", Err: &spec.InvalidError{Sentence: "it is wrong"}} // the session ends later
	v.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Call(ctx, "a", "echo", nil, nil); err == nil || err.Error() == "" {
		t.Errorf("got %v", err)
	}
}

// K4: what is cut for showing is masked first, so that no part of a secret stays.
func TestMaskedBeforeCut(t *testing.T) {
	mask := new(secrets.Masker)
	mask.Add("abcdefghijklmnop")
	v := &server{hub: New(Config{Mask: mask}), log: &logRing{mask: mask.Mask}}
	_, words := v.masked(explanation{words: []string{strings.Repeat("-", 495) + "abcdefghijklmnop"}})
	if strings.Contains(words[0], "abcde") {
		t.Errorf("a part of the secret stays: %q", words[0][490:])
	}
	v.log.add("stderr", "info", strings.Repeat("-", maxLogLine-5)+"abcdefghijklmnop")
	if text := v.log.after(0, 0)[0].Text; strings.Contains(text, "abcde") {
		t.Errorf("a part of the secret stays: %q", text[maxLogLine-10:])
	}
}

// E3: when both the probe and the handshake were refused, both answers are shown, the
// later one first.
func TestBothAnswersAreReported(t *testing.T) {
	x := explain(errors.Join(
		&jsonrpc.Error{Code: -32602, Message: "late words"},
		&transport.Error{Code: transport.HTTPStatus, Status: 400, Words: []string{"early words"}},
	), "a.example")
	if x.sentence != "The server refused with error -32602." {
		t.Errorf("got %q", x.sentence)
	}
	if got := strings.Join(x.words, "|"); got != "late words|Before that: The server refused with HTTP 400.|early words" {
		t.Errorf("got %q", got)
	}
}
