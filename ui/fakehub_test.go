package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"go.uber.org/goleak"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// queue is the dispatcher of tests: functions wait until the test's goroutine,
// which is the UI goroutine, drains them.
type queue struct {
	mu  sync.Mutex
	fns []func()
}

func (q *queue) Do(f func()) {
	q.mu.Lock()
	q.fns = append(q.fns, f)
	q.mu.Unlock()
}

// drain runs what waits, and what that adds.
func (q *queue) drain() {
	for {
		q.mu.Lock()
		fns := q.fns
		q.fns = nil
		q.mu.Unlock()
		if len(fns) == 0 {
			return
		}
		for _, f := range fns {
			f()
		}
	}
}

// until drains until a condition holds, and fails the test when it never does.
func (q *queue) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		q.drain()
		if ok() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// given is one answer that the hub was given.
type given struct {
	ID string
	hub.Answer
}

// fakeHub is a hub in memory. Snapshots are scripted with publish; what the window
// wishes is recorded.
type fakeHub struct {
	mu      sync.Mutex
	snap    *hub.Snapshot
	watches map[chan *hub.Snapshot]bool

	answers []given
	wanted  map[string]bool
	actions []hub.ActionKind
	calls   []json.RawMessage
	demos   int

	// reads are the URIs that were read, wishes the resources that were to be
	// followed, or not, asked what was to be completed.
	reads  []string
	wishes []string
	asked  []hub.Completing
	// decisions are about calls that waited.
	decisions []string

	// What is called like a method scripts it; nil ones answer with nothing. doErr is what SetWanted, Do and AddDemo return.
	call      func(ctx context.Context, server, tool string, args json.RawMessage, progress func(hub.Progress)) (*hub.Outcome, error)
	toolList  map[string][]hub.Tool
	resources map[string][]hub.Resource
	prompts   map[string][]hub.Prompt
	prompt    func(ctx context.Context, name string, args json.RawMessage) (*hub.Outcome, error)
	follows   map[string][]hub.Follow
	read      func(ctx context.Context, uri string) (*hub.Outcome, error)
	complete  func(ctx context.Context, c hub.Completing) ([]string, error)
	lines     map[string][]hub.LogLine
	doErr     error
}

var _ Hub = (*fakeHub)(nil)

func newFakeHub(s *hub.Snapshot) *fakeHub {
	if s == nil {
		s = &hub.Snapshot{}
	}
	return &fakeHub{snap: s, watches: map[chan *hub.Snapshot]bool{}, wanted: map[string]bool{}}
}

// publish makes s the current snapshot.
func (f *fakeHub) publish(s *hub.Snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.snap = s
	for ch := range f.watches {
		select {
		case <-ch:
		default:
		}
		ch <- s
	}
}

func (f *fakeHub) Watch(ctx context.Context, fn func(*hub.Snapshot)) {
	ch := make(chan *hub.Snapshot, 1)
	f.mu.Lock()
	f.watches[ch] = true
	first := f.snap
	f.mu.Unlock()
	fn(first)
	for {
		select {
		case <-ctx.Done():
			f.mu.Lock()
			delete(f.watches, ch)
			f.mu.Unlock()
			return
		case s := <-ch:
			fn(s)
		}
	}
}

func (f *fakeHub) SetWanted(_ context.Context, server string, on bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted[server] = on
	return f.doErr
}

func (f *fakeHub) Do(_ context.Context, _ string, action hub.ActionKind) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.actions = append(f.actions, action)
	return f.doErr
}

func (f *fakeHub) Tools(server string) []hub.Tool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.toolList[server]
}

func (f *fakeHub) Call(ctx context.Context, server, tool string, args json.RawMessage, progress func(hub.Progress)) (*hub.Outcome, error) {
	f.mu.Lock()
	f.calls = append(f.calls, args)
	call := f.call
	f.mu.Unlock()
	if call == nil {
		return &hub.Outcome{}, nil
	}
	return call(ctx, server, tool, args, progress)
}

func (f *fakeHub) Resources(server string) []hub.Resource {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.resources[server]
}

func (f *fakeHub) Follows(server string) []hub.Follow {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.follows[server]
}

func (f *fakeHub) Follow(_, uri string, on bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wishes = append(f.wishes, fmt.Sprint(uri, " ", on))
	return f.doErr
}

func (f *fakeHub) Read(ctx context.Context, _, uri string, _ func(hub.Progress)) (*hub.Outcome, error) {
	f.mu.Lock()
	f.reads = append(f.reads, uri)
	read := f.read
	f.mu.Unlock()
	if read == nil {
		return &hub.Outcome{}, nil
	}
	return read(ctx, uri)
}

func (f *fakeHub) Prompts(server string) []hub.Prompt {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.prompts[server]
}

func (f *fakeHub) GetPrompt(ctx context.Context, _, name string, args json.RawMessage, _ func(hub.Progress)) (*hub.Outcome, error) {
	f.mu.Lock()
	f.calls = append(f.calls, args)
	prompt := f.prompt
	f.mu.Unlock()
	if prompt == nil {
		return &hub.Outcome{}, nil
	}
	return prompt(ctx, name, args)
}

func (f *fakeHub) Complete(ctx context.Context, _ string, c hub.Completing) ([]string, error) {
	f.mu.Lock()
	f.asked = append(f.asked, c)
	complete := f.complete
	f.mu.Unlock()
	if complete == nil {
		return nil, nil
	}
	return complete(ctx, c)
}

func (f *fakeHub) Answer(id string, a hub.Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers = append(f.answers, given{id, a})
}

func (f *fakeHub) Log(server string, after uint64, max int) []hub.LogLine {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []hub.LogLine
	for _, l := range f.lines[server] {
		if l.Seq > after {
			out = append(out, l)
		}
	}
	if len(out) > max {
		out = out[len(out)-max:]
	}
	return out
}

func (f *fakeHub) Allow(ask string, scope hub.Scope, by string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.decisions = append(f.decisions, ask+" "+string(scope)+" "+by)
	return nil
}

func (f *fakeHub) Deny(ask, by string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.decisions = append(f.decisions, ask+" deny "+by)
	return nil
}

// decided are the decisions about calls.
func (f *fakeHub) decided() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.decisions)
}

func (f *fakeHub) AddDemo(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.demos++
	return f.doErr
}

// given returns the answers so far.
func (f *fakeHub) given() []given {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]given(nil), f.answers...)
}

// called returns the arguments of the calls so far.
func (f *fakeHub) called() []json.RawMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]json.RawMessage(nil), f.calls...)
}

// stage is a UI on the test driver.
type stage struct {
	*UI
	app  fyne.App
	q    *queue
	hub  *fakeHub
	mu   sync.Mutex
	urls []string // opened
	// saved are the names of files that were saved.
	saved   []string
	openErr error
}

// newStage builds a UI over a fake hub; the test ends it.
func newStage(t *testing.T, h *fakeHub, change ...func(*Config)) *stage {
	t.Helper()
	s := &stage{app: test.NewTempApp(t), q: &queue{}, hub: h}
	cfg := Config{
		App: s.app, Hub: h, Do: s.q.Do, Version: "test",
		Open: func(u *url.URL) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.urls = append(s.urls, u.String())
			return s.openErr
		},
		Save: func(_ fyne.Window, name string, _ []byte) { s.saved = append(s.saved, name) },
	}
	for _, c := range change {
		c(&cfg)
	}
	s.UI = New(cfg)
	t.Cleanup(func() {
		s.UI.Close()
		s.q.drain()
	})
	s.q.drain()
	return s
}

// opened returns the addresses that were opened so far.
func (s *stage) opened() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.urls...)
}

// shot writes a picture of a window into the directory that UI_SHOTS names.
func shot(t *testing.T, w fyne.Window, name string) {
	t.Helper()
	dir := os.Getenv("UI_SHOTS")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, w.Canvas().Capture()); err != nil {
		t.Fatal(err)
	}
}

// all returns every object of a kind in a tree that can be seen, in order.
func all[T fyne.CanvasObject](root fyne.CanvasObject) []T {
	var out []T
	for _, o := range test.LaidOutObjects(root) {
		if x, ok := o.(T); ok && o.Visible() {
			out = append(out, x)
		}
	}
	return out
}
