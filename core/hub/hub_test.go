package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/spec"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/secrets"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	fakeserver.Main()
	goleak.VerifyTestMain(m)
}

// patience bounds every wait for real processes.
const patience = 60 * time.Second

// rig is a running hub over a spec file of its own.
type rig struct {
	*Hub
	t     *testing.T
	path  string
	store *secrets.Memory
	mask  *secrets.Masker
}

// entry is one server of a test's spec file.
type entry map[string]any

func fake(t *testing.T, s fakeserver.Script) entry {
	path, args := fakeserver.Command(t, s)
	return entry{"command": path, "args": args}
}

func newRig(t *testing.T, servers map[string]entry, change ...func(*Config)) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, path: filepath.Join(dir, "servers.json"), store: new(secrets.Memory), mask: new(secrets.Masker)}
	if servers != nil {
		r.write(servers)
	}
	cfg := Config{
		SpecPath: r.path, ErasPath: filepath.Join(dir, "eras.json"), Secrets: r.store, Mask: r.mask, Version: "0",
		Executable: "/nowhere/drawbridge",
	}
	for _, f := range change {
		f(&cfg)
	}
	r.Hub = New(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = r.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return r
}

func (r *rig) write(servers map[string]entry) {
	r.t.Helper()
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		r.t.Fatal(err)
	}
	r.writeText(string(b))
}

func (r *rig) writeText(text string) {
	r.t.Helper()
	tmp := r.path + ".tmp"
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Rename(tmp, r.path); err != nil {
		r.t.Fatal(err)
	}
}

// until waits for a snapshot that satisfies ok.
func (r *rig) until(what string, ok func(*Snapshot) bool) *Snapshot {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var last *Snapshot
	good := false
	r.Watch(ctx, func(s *Snapshot) {
		if good {
			return
		}
		if last = s; ok(s) {
			good = true
			cancel()
		}
	})
	if !good {
		b, _ := json.MarshalIndent(last, "", " ")
		r.t.Fatalf("never: %s; last %s", what, b)
	}
	return last
}

func (s *Snapshot) find(name string) *Server {
	for _, v := range s.Servers {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// server waits until a server is in a state, with its tools listed if that is Ready.
func (r *rig) server(name string, want State) *Server {
	r.t.Helper()
	var got *Server
	r.until(name+" is "+string(want), func(s *Snapshot) bool {
		got = s.find(name)
		return got != nil && got.State == want && (want != Ready || got.Tools >= 0)
	})
	return got
}

// A person sees a modern and a legacy server with their true eras and the evidence
// (E9), calls a tool, and gets the result.
func TestBothErasEndToEnd(t *testing.T) {
	r := newRig(t, map[string]entry{
		"old": fake(t, fakeserver.Script{}), "new": fake(t, fakeserver.Script{Era: fakeserver.Modern, Instructions: "be kind"}),
	})
	old, neu := r.server("old", Ready), r.server("new", Ready)
	if !old.Era.Legacy || old.Era.Badge() != "Legacy 2025-11-25" || !strings.Contains(old.Era.Evidence, "initialize") {
		t.Errorf("old: %+v", old.Era)
	}
	if !neu.Era.Modern || neu.Era.Badge() != "2026-07-28" || !strings.Contains(neu.Era.Evidence, "server/discover") || neu.Instructions != "be kind" {
		t.Errorf("new: %+v", neu)
	}
	for _, name := range []string{"old", "new"} {
		out, err := r.Call(context.Background(), name, "echo", json.RawMessage(`{"text":"hello"}`), nil)
		if err != nil || out.IsError || len(out.Content) == 0 || !strings.Contains(out.Content[0].Text, "hello") {
			t.Errorf("%s: got %+v, %v", name, out, err)
		}
		if tools := r.Tools(name); len(tools) != len(fakeserver.Tools()) {
			t.Errorf("%s: %d tools", name, len(tools))
		}
	}
	if h := r.server("old", Ready).Health; len(h.Calls) == 0 || h.Latency == 0 || h.Breaker != "closed" || h.UpSince.IsZero() {
		t.Errorf("health %+v", h)
	}
}

// T9, top case 5, field case 12: a process that dies at start says why, with secrets
// masked (K4), and what to do.
func TestDeathAtStartIsVisible(t *testing.T) {
	path, args := fakeserver.Command(t, fakeserver.Script{Stderr: "API_KEY s3cr3t-value missing\n", Exit: &fakeserver.Exit{Code: 3}})
	r := newRig(t, nil)
	if err := r.store.Set(context.Background(), "KEY", "s3cr3t-value"); err != nil {
		t.Fatal(err)
	}
	r.write(map[string]entry{"a": {"command": path, "args": args, "env": map[string]string{"K": "${secret:KEY}"}}})
	v := r.server("a", Retrying)
	if v.Sentence != "The process ended with code 3." || v.Action.Kind != ShowLog {
		t.Errorf("got %q, %+v", v.Sentence, v.Action)
	}
	words := strings.Join(v.Words, "\n")
	if !strings.Contains(words, "API_KEY") || strings.Contains(words, "s3cr3t-value") {
		t.Errorf("words %q", words)
	}
	for _, l := range r.Log("a", 0, 0) {
		if strings.Contains(l.Text, "s3cr3t-value") {
			t.Errorf("the log shows the secret: %q", l.Text)
		}
	}
}

// Issue: with 20 servers of which 3 are dead, 17 are ready while the dead ones say
// what is wrong (top case 22, field cases 87 and 90).
func TestTheDeadDoNotHoldUpTheLiving(t *testing.T) {
	servers := map[string]entry{
		"hung":    fake(t, fakeserver.Script{Replies: map[string]fakeserver.Reply{"*": {Silent: true}}}),
		"refused": {"url": "http://127.0.0.1:1/mcp"},
		"bad":     {"command": "no-such-command-anywhere"},
	}
	for i := range 17 {
		s := fakeserver.Script{}
		if i%2 == 0 {
			s.Era = fakeserver.Modern
		}
		servers[fmt.Sprintf("live%02d", i)] = fake(t, s)
	}
	r := newRig(t, servers)
	s := r.until("17 are ready and two have failed", func(s *Snapshot) bool {
		ready := 0
		for _, v := range s.Servers {
			if v.State == Ready && v.Tools > 0 {
				ready++
			}
		}
		return ready == 17 && s.find("bad").State == Failed && s.find("refused").State == Retrying
	})
	if v := s.find("bad"); v.Sentence != "The command no-such-command-anywhere was not found." || v.Action.Kind != EditSpec || len(v.Words) == 0 {
		t.Errorf("bad: %+v", v)
	}
	if v := s.find("refused"); !strings.Contains(v.Sentence, "127.0.0.1:1") || v.RetryAt.IsZero() {
		t.Errorf("refused: %+v", v)
	}
	if v := s.find("hung"); v.State != Starting && v.State != Initializing {
		t.Errorf("hung: %+v", v)
	}
}

// K1, K2: a server whose secret is missing waits and names it; the others run; setting
// the secret and asking again starts it.
func TestServersWaitForTheirSecret(t *testing.T) {
	path, args := fakeserver.Command(t, fakeserver.Script{})
	r := newRig(t, map[string]entry{
		"needy": {"command": path, "args": args, "env": map[string]string{"T": "${secret:TOKEN}"}},
		"unset": {"command": path, "args": args, "env": map[string]string{"U": "${DRAWBRIDGE_TEST_NOPE}"}},
		"free":  fake(t, fakeserver.Script{}),
	})
	r.server("free", Ready)
	v := r.server("needy", WaitingSecret)
	if v.Action.Kind != SetSecret || v.Action.Arg != "TOKEN" || !strings.Contains(v.Sentence, "TOKEN") || v.StateWord() != "Waiting for secret TOKEN" {
		t.Errorf("got %+v", v)
	}
	if u := r.server("unset", Failed); u.Sentence != "Variable DRAWBRIDGE_TEST_NOPE is not set (in env.U)." {
		t.Errorf("got %q", u.Sentence)
	}
	if err := r.store.Set(context.Background(), "TOKEN", "x-long-enough"); err != nil {
		t.Fatal(err)
	}
	r.Retry()
	r.server("needy", Ready)
}

// P2, field cases 13, 93 and 94: only servers whose spec changed restart, a touched
// file restarts nothing, and a broken file keeps the last good one running.
func TestOnlyChangedServersRestart(t *testing.T) {
	dir := t.TempDir()
	script := func(name, note string) entry {
		e := fake(t, fakeserver.Script{Journal: filepath.Join(dir, name)})
		e["env"] = map[string]string{"NOTE": note}
		return e
	}
	starts := func(name string) int {
		entries, err := fakeserver.ReadJournal(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range entries {
			if e.Event == fakeserver.Started {
				n++
			}
		}
		return n
	}
	r := newRig(t, map[string]entry{"a": script("a", "1"), "b": script("b", "1"), "c": script("c", "1")})
	for _, n := range []string{"a", "b", "c"} {
		r.server(n, Ready)
	}
	r.writeText("{ broken")
	r.until("the file is reported", func(s *Snapshot) bool { return strings.Contains(s.Config.Problem, "Line 1, column") })
	r.server("a", Ready)
	for range 50 {
		now := time.Now()
		_ = os.Chtimes(r.path, now, now)
	}
	r.write(map[string]entry{"a": script("a", "1"), "b": script("b", "2"), "d": script("d", "1")})
	r.until("c is gone", func(s *Snapshot) bool { return s.find("c") == nil && s.Config.Problem == "" })
	r.server("d", Ready)
	r.until("b runs anew", func(s *Snapshot) bool { return s.find("b").State == Ready && starts("b") == 2 })
	if a := starts("a"); a != 1 {
		t.Errorf("a was started %d times", a)
	}
}

// The row's switch changes the file and only that path of it (P2).
func TestSwitchIsWrittenToTheFile(t *testing.T) {
	path, args := fakeserver.Command(t, fakeserver.Script{})
	argv, _ := json.Marshal(args)
	cmd, _ := json.Marshal(path)
	text := fmt.Sprintf("{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\"command\": %s, \"args\": %s}, // keep\n  },\n  \"other\": 1,\n}\n", cmd, argv)
	r := newRig(t, nil)
	r.writeText(text)
	r.server("a", Ready)
	if err := r.SetWanted(context.Background(), "a", false); err != nil {
		t.Fatal(err)
	}
	if v := r.server("a", Off); v.Wanted || v.Action.Kind != TurnOn {
		t.Errorf("got %+v", v)
	}
	now, err := os.ReadFile(r.path)
	if err != nil || !strings.Contains(string(now), "// mine") || !strings.Contains(string(now), "// keep") || !strings.Contains(string(now), `"other": 1,`) {
		t.Errorf("the file is now %s, %v", now, err)
	}
	if err := r.Do(context.Background(), "a", TurnOn); err != nil {
		t.Fatal(err)
	}
	r.server("a", Ready)
	if err := r.Do(context.Background(), "nobody", Reconnect); err != ErrNoServer {
		t.Errorf("got %v", err)
	}
}

// The empty state's third card: the demo server is added to a file that may not exist.
func TestAddDemo(t *testing.T) {
	r := newRig(t, nil)
	r.until("an empty list", func(s *Snapshot) bool { return len(s.Servers) == 0 && s.Config.Problem == "" && s.Config.Path != "" })
	if err := r.AddDemo(context.Background()); err != nil {
		t.Fatal(err)
	}
	v := r.server("demo", Failed) // the test's executable does not exist
	if v.Target != "/nowhere/drawbridge (1 argument)" {
		t.Errorf("got %+v", v)
	}
}

// C4, top case 19: a question reaches the person with its origin and call, the first
// answer counts, and it is gone afterwards.
func TestQuestionsReachThePerson(t *testing.T) {
	for _, era := range []string{fakeserver.Legacy, fakeserver.Modern} {
		r := newRig(t, map[string]entry{"a": fake(t, fakeserver.Script{Era: era})})
		r.server("a", Ready)
		type result struct {
			out *Outcome
			err error
		}
		results := make(chan result, 1)
		go func() {
			out, err := r.Call(context.Background(), "a", "ask", json.RawMessage(`{}`), nil)
			results <- result{out, err}
		}()
		s := r.until("a question", func(s *Snapshot) bool { return len(s.Questions) == 1 })
		q := s.Questions[0]
		if q.Server != "a" || q.Call != "ask" || q.CallUncertain || q.URLMode || q.Message == "" || len(q.Schema) == 0 || q.Origin == "" {
			t.Errorf("%s: asked %+v", era, q)
		}
		if p := s.Public().Questions[0]; p.ID != q.ID || p.Schema != nil || len(q.Schema) == 0 {
			t.Errorf("public: %+v", p)
		}
		r.Answer(q.ID, Answer{Action: "nonsense"})
		r.Answer(q.ID, Answer{Action: "accept", Content: json.RawMessage(`{"name":"Ada"}`)})
		r.Answer(q.ID, Answer{Action: "decline"})
		got := <-results
		if got.err != nil || !strings.Contains(got.out.Content[0].Text, "Ada") {
			t.Errorf("%s: got %+v, %v", era, got.out, got.err)
		}
		r.until("no question", func(s *Snapshot) bool { return len(s.Questions) == 0 })
	}
}

// T5: where calls have waited only because of what the server is, the person may let
// them run side by side, or not; the answer is in the spec file and is not asked for
// again.
func TestParallelCallsAreOffered(t *testing.T) {
	for _, c := range []struct {
		answer ActionKind
		policy string
		slots  int
	}{{AllowParallel, "pooled", 8}, {KeepSerial, "serialized", 1}} {
		// That our own lists wait for each other is nobody's loss.
		script := withResources(`{"tools":{},"resources":{}}`, `{"resources":[]}`, `{"resourceTemplates":[{}]}`, `{}`)
		srv := fakeserver.StartHTTP(t, fakeserver.HTTP{Script: script})
		r := newRig(t, map[string]entry{"a": {"url": srv.URL}})
		r.until("all lists", func(*Snapshot) bool { return len(r.Resources("a")) == 1 })
		if v := r.server("a", Ready); v.Action.Kind != NoAction || v.Health.Concurrency != "serialized" {
			t.Fatalf("before: %+v, %+v", v.Action, v.Health)
		}
		wait := func() {
			var calls sync.WaitGroup
			for range 3 {
				calls.Go(func() {
					if _, err := r.Call(context.Background(), "a", "ask", json.RawMessage(`{}`), nil); err != nil {
						t.Error(err)
					}
				})
			}
			for answered := 0; answered < 3; answered++ {
				s := r.until("a question", func(s *Snapshot) bool { return len(s.Questions) > 0 })
				r.Answer(s.Questions[0].ID, Answer{Action: "decline"})
				r.until("it is gone", func(n *Snapshot) bool {
					return len(n.Questions) == 0 || n.Questions[0].ID != s.Questions[0].ID
				})
			}
			calls.Wait()
		}
		wait()
		r.until("the offer", func(s *Snapshot) bool { return s.find("a").Action == actParallel })
		if err := r.Do(context.Background(), "a", c.answer); err != nil {
			t.Fatal(err)
		}
		r.until("the answer is in force", func(s *Snapshot) bool {
			v := s.find("a")
			return v.State == Ready && v.Action.Kind == NoAction && v.Health.Concurrency == c.policy && v.Health.Cap == c.slots
		})
		text, err := os.ReadFile(r.path)
		if err != nil || !strings.Contains(string(text), fmt.Sprintf(`"concurrency": %q`, c.policy)) {
			t.Errorf("the file is now %s, %v", text, err)
		}
		wait()
		if v := r.server("a", Ready); v.Action.Kind != NoAction {
			t.Errorf("it is offered again: %+v", v.Action)
		}
	}
	r := newRig(t, nil)
	if err := r.Do(context.Background(), "nobody", AllowParallel); err != ErrNoServer {
		t.Errorf("got %v", err)
	}
}

// Field case 13: giving up is visible, with a way back.
func TestGivingUpIsSaid(t *testing.T) {
	r := newRig(t, nil)
	v := &server{hub: r.Hub, name: "a", log: &logRing{mask: r.mask.Mask}, entry: &spec.Entry{Spec: &spec.Spec{Type: spec.Stdio, Command: "x", Source: spec.User}}}
	x, ok := v.trouble(client.Status{State: client.Failed, Restarts: 11, Err: &transport.Error{Code: transport.Exited, ExitCode: 3}}, Failed, "x")
	if !ok || x.action != actReconnect || x.sentence != "The process ended with code 3. It failed 11 times in a row and is left alone until you reconnect." {
		t.Errorf("got %+v", x)
	}
}

// Field case 109: a question vanishes with its call.
func TestQuestionVanishesWithItsCall(t *testing.T) {
	r := newRig(t, map[string]entry{"a": fake(t, fakeserver.Script{})})
	r.server("a", Ready)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := r.Call(ctx, "a", "ask", json.RawMessage(`{}`), nil)
		done <- err
	}()
	r.until("a question", func(s *Snapshot) bool { return len(s.Questions) == 1 })
	cancel()
	if ce, ok := (<-done).(*CallError); !ok || !ce.Cancelled {
		t.Errorf("got %v", ce)
	}
	r.until("no question", func(s *Snapshot) bool { return len(s.Questions) == 0 })
}

// Issue: 50 servers logging 100 lines a second: the watcher is called about ten times
// a second at most, and the log stays bounded.
func TestLogFloodIsMerged(t *testing.T) {
	servers := map[string]entry{}
	for i := range 10 {
		servers[fmt.Sprint("s", i)] = fake(t, fakeserver.Script{StderrEvery: 2 * time.Millisecond})
	}
	r := newRig(t, servers)
	for i := range 10 {
		r.server(fmt.Sprint("s", i), Ready)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var mu sync.Mutex
	calls := 0
	r.Watch(ctx, func(*Snapshot) {
		mu.Lock()
		calls++
		mu.Unlock()
	})
	if calls < 2 || calls > 12 {
		t.Errorf("%d repaints in a second", calls)
	}
	if n := len(r.Log("s0", 0, 0)); n == 0 || n > maxLogLines {
		t.Errorf("%d lines", n)
	}
}
