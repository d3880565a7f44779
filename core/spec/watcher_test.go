package spec

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	oneServer  = `{"mcpServers": {"a": {"command": "x"}}}`
	twoServers = `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`
)

// system is a notifier that reports what a test says.
type system struct {
	events chan fsnotify.Event
	errs   chan error

	mu             sync.Mutex
	openErr        error
	addErr         error
	opened, closed int
}

func (s *system) open() (notifier, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.openErr != nil {
		return nil, s.openErr
	}
	s.opened++
	return s, nil
}

func (s *system) Add(string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addErr
}

func (s *system) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed++
	return nil
}

func (s *system) Remove(string) error           { return nil }
func (s *system) Events() <-chan fsnotify.Event { return s.events }
func (s *system) Errors() <-chan error          { return s.errs }

// refuse makes the system refuse in its two ways; nil mends it.
func (s *system) refuse(open, add error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.openErr, s.addErr = open, add
}

// rig is a watcher in a bubble of fake time, over a real file.
type rig struct {
	*testing.T
	*Watcher
	path   string
	system *system

	mu     sync.Mutex
	states []State
}

// told returns the states that were told so far.
func (r *rig) told() []State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.states)
}

// bubble runs test with a watcher of a file that holds content; "" is no file.
// setup may change what the system does.
func bubble(t *testing.T, content string, setup func(*rig), test func(*rig)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, path: filepath.Join(dir, "servers.json")}
		if content != "" {
			r.save(content)
		}
		r.Watcher = NewWatcher(r.path, func(s State) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.states = append(r.states, s)
		})
		r.system = &system{events: make(chan fsnotify.Event), errs: make(chan error)}
		r.open = r.system.open
		if setup != nil {
			setup(r)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Serve(ctx) }()
		r.wait(0)
		test(r)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve: %v", err)
		}
		if r.system.opened != r.system.closed {
			t.Error("the notifier was left open")
		}
	})
}

// save writes the file without telling.
func (r *rig) save(content string) {
	r.Helper()
	write(r.T, r.path, content)
}

// event tells that something happened to the file.
func (r *rig) event() { r.system.events <- fsnotify.Event{Name: r.path, Op: fsnotify.Write} }

func (r *rig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *rig) want(servers int, problem string) {
	r.Helper()
	s := r.State()
	if len(s.File.Entries) != servers || problem == "" && s.Problem != nil || problem != "" && (s.Problem == nil || !strings.Contains(s.Problem.Error(), problem)) {
		r.Errorf("%d servers, problem %v; want %d, %q", len(s.File.Entries), s.Problem, servers, problem)
	}
	if told := r.told(); len(told) > 0 && told[len(told)-1].File != s.File {
		r.Error("the last state was not told")
	}
}

// Case 13, top25 6: 50 touches in 2 s change nothing and tell nothing.
func TestTouchingTellsNothing(t *testing.T) {
	bubble(t, oneServer, nil, func(r *rig) {
		for range 50 {
			r.save(oneServer)
			r.event()
			r.wait(40 * time.Millisecond)
		}
		r.wait(time.Minute)
		r.want(1, "")
		if len(r.told()) != 0 {
			r.Errorf("told %d times", len(r.told()))
		}
	})
}

// Case 94, top25 21: truncated, then written in two steps 50 ms apart.
func TestHalfWrittenFileIsWaitedFor(t *testing.T) {
	bubble(t, oneServer, nil, func(r *rig) {
		for _, half := range []string{"", twoServers[:20], twoServers} {
			r.save(half)
			r.event()
			r.wait(50 * time.Millisecond)
		}
		r.wait(time.Second)
		r.want(2, "")
		if len(r.told()) != 1 {
			r.Errorf("told %d times", len(r.told()))
		}
	})
}

// P2, case 92: a file that stays broken is reported with line and column, and the
// last good one runs on.
func TestBrokenFileKeepsTheLastGoodOne(t *testing.T) {
	bubble(t, twoServers, nil, func(r *rig) {
		r.save("{\n  \"mcpServers\": }")
		r.event()
		r.wait(patience)
		r.want(2, "")
		r.wait(2 * quiet)
		r.want(2, "line 2, column 17")
		r.wait(time.Minute)
		if len(r.told()) != 1 {
			r.Errorf("told %d times", len(r.told()))
		}
		r.save("{\n  \"mcpServers\": ]")
		r.event()
		r.wait(2 * quiet)
		r.save(oneServer)
		r.event()
		r.wait(2 * quiet)
		r.want(1, "")
	})
}

func TestBackToTheLastGoodOne(t *testing.T) {
	bubble(t, oneServer, nil, func(r *rig) {
		file := r.State().File
		r.save("{")
		r.event()
		r.wait(2 * patience)
		r.save(oneServer)
		r.event()
		r.wait(2 * quiet)
		r.want(1, "")
		if r.State().File != file || len(r.told()) != 2 {
			r.Error("an unchanged file is another")
		}
	})
}

func TestBrokenFromTheStart(t *testing.T) {
	bubble(t, "{", nil, func(r *rig) {
		r.want(0, "line 1")
		r.save(oneServer)
		r.event()
		r.wait(2 * quiet)
		r.want(1, "")
	})
}

// Case 94: deleted and recreated after 300 ms.
func TestDeletedFileIsWaitedFor(t *testing.T) {
	bubble(t, oneServer, nil, func(r *rig) {
		os.Remove(r.path)
		r.event()
		r.wait(300 * time.Millisecond)
		r.save(twoServers)
		r.event()
		r.wait(time.Second)
		r.want(2, "")
		if len(r.told()) != 1 {
			r.Errorf("told %d times", len(r.told()))
		}
	})
}

// Case 94: a missing or emptied file never clears the running servers.
func TestMissingFileClearsNothing(t *testing.T) {
	bubble(t, oneServer, nil, func(r *rig) {
		os.Remove(r.path)
		r.event()
		r.wait(2 * patience)
		r.want(1, "gone")
		r.save("// nothing\n")
		r.event()
		r.wait(2 * patience)
		r.want(1, "empty")
		r.save(`{"mcpServers": {}}`)
		r.event()
		r.wait(2 * quiet)
		r.want(0, "")
		os.Remove(r.path)
		r.event()
		r.wait(2 * patience)
		r.want(0, "")
	})
}

func TestFileThatAppears(t *testing.T) {
	bubble(t, "", nil, func(r *rig) {
		r.want(0, "")
		r.save(oneServer)
		r.event()
		r.wait(2 * quiet)
		r.want(1, "")
	})
}

func TestChangeBeforeServeIsSeen(t *testing.T) {
	bubble(t, oneServer, func(r *rig) { r.save(twoServers) }, func(r *rig) {
		r.wait(2 * quiet)
		r.want(2, "")
	})
}

// Events without end put a reading off, but not for ever.
func TestBusyDirectory(t *testing.T) {
	bubble(t, oneServer, nil, func(r *rig) {
		r.save(twoServers)
		for range 50 {
			r.event()
			r.wait(quiet / 2)
		}
		r.want(2, "")
	})
}

func TestOtherFilesAreNotListenedTo(t *testing.T) {
	bubble(t, oneServer, nil, func(r *rig) {
		r.wait(time.Second)
		r.save(twoServers)
		r.system.events <- fsnotify.Event{Name: r.path + ".swp", Op: fsnotify.Write}
		r.wait(time.Second)
		r.want(1, "")
		// But a network file system reports nothing at all.
		r.wait(pollSlow)
		r.want(2, "")
	})
}

func TestReloadReadsAtOnce(t *testing.T) {
	bubble(t, oneServer, nil, func(r *rig) {
		r.save(twoServers)
		r.Reload()
		r.wait(0)
		r.want(2, "")
		r.save("{")
		r.Reload()
		r.Reload()
		r.wait(0)
		r.want(2, "line 1")
	})
}

// Case 98: without inotify the file is polled, a note names the limit, and the
// system is asked again later.
func TestPollingWithoutInotify(t *testing.T) {
	for name, c := range map[string]struct {
		open, add error
		note      string
	}{
		"EMFILE from the constructor": {
			os.NewSyscallError("inotify_init1", syscall.EMFILE), nil,
			"fs.inotify.max_user_instances",
		},
		"ENOSPC from Add": {
			nil, &os.PathError{Op: "inotify_add_watch", Err: syscall.ENOSPC},
			"fs.inotify.max_user_watches",
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, oneServer, func(r *rig) { r.system.refuse(c.open, c.add) }, func(r *rig) {
				s := r.State()
				if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], c.note) || len(r.told()) != 1 {
					r.Fatalf("notes %q, told %d times", s.Notes, len(r.told()))
				}
				r.save(twoServers)
				r.wait(pollFast + 2*quiet)
				r.want(2, "")
				r.save("{")
				r.wait(pollFast + 2*patience)
				r.want(2, "line 1")
				r.save(oneServer)
				r.Reload()
				r.wait(0)
				r.want(1, "")
				told := len(r.told())
				r.wait(5 * rearm)
				if n := len(r.told()) - told; n != 0 {
					r.Errorf("told %d times", n)
				}
				r.system.refuse(nil, nil)
				r.wait(2 * rearm)
				if s := r.State(); len(s.Notes) != 0 {
					r.Errorf("notes %q", s.Notes)
				}
				r.save(twoServers)
				r.event()
				r.wait(2 * quiet)
				r.want(2, "")
			})
		})
	}
}

func TestLostEventsAreMadeUpFor(t *testing.T) {
	bubble(t, oneServer, nil, func(r *rig) {
		r.save(twoServers)
		r.system.errs <- fsnotify.ErrEventOverflow
		r.wait(2 * quiet)
		r.want(2, "")
		if s := r.State(); len(s.Notes) != 0 {
			r.Errorf("notes %q", s.Notes)
		}
	})
}

func TestNotifierThatDies(t *testing.T) {
	bubble(t, oneServer, nil, func(r *rig) {
		close(r.system.events)
		r.wait(0)
		if s := r.State(); len(s.Notes) != 1 {
			r.Errorf("notes %q", s.Notes)
		}
		r.save(twoServers)
		r.wait(2 * pollFast)
		r.want(2, "")
	})
}

// A comment is content, but restarts nothing.
func TestCommentChangesNoServer(t *testing.T) {
	bubble(t, oneServer, nil, func(r *rig) {
		before := r.State().File
		r.save("// new\n" + oneServer)
		r.event()
		r.wait(2 * quiet)
		if len(r.told()) != 1 || !Diff(before, r.State().File).Empty() {
			r.Errorf("told %d times, %v", len(r.told()), Diff(before, r.State().File))
		}
	})
}
