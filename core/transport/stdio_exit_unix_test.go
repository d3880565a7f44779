//go:build unix

package transport_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

// gone reports whether there is no such process. One that nobody has reaped yet
// is dead all the same.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// Case 12: death by a signal is named.
func TestStdioDeathBySignal(t *testing.T) {
	t.Parallel()
	var r transporttest.Recorder
	openStdio(t, transport.StdioConfig{Command: "sh", Args: []string{"-c", "echo help >&2; kill -SEGV $$"}}, &r)
	err := closedError(t, &r)
	if err.Code != transport.Exited || err.Signal != "SIGSEGV" || err.Error() != "exited (signal SIGSEGV)" || !slices.Contains(err.Words, "help") {
		t.Errorf("closed with %v, %q", err, err.Words)
	}
}

// Case 12: a dead child is reaped at once, also while the sink is blocked.
func TestStdioReapsAtOnce(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	r := transporttest.Recorder{Hook: func(transporttest.Event) { <-gate }}
	openStdio(t, transport.StdioConfig{Command: "sh", Args: []string{"-c", `echo "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"pid\":$$}}"; exit 1`}}, &r)
	var pid int
	e := r.Noted(t, "n")
	if _, err := fmt.Sscanf(string(e.Msg.Params), `{"pid":%d}`, &pid); err != nil {
		t.Fatal(err)
	}
	eventually(t, "reaping", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	close(gate)
	closedError(t, &r)
}

// Case 2: when the child dies, what it started dies too, and a grandchild that
// holds the pipes does not hold up the report.
func TestStdioGrandchildOutlivesTheChild(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	var r transporttest.Recorder
	fake(t, fakeserver.Script{Grandchild: pidFile, Stderr: "goodbye\n", Exit: &fakeserver.Exit{Code: 4, After: 100 * time.Millisecond}}, transport.StdioConfig{}, &r)
	pid := pidIn(t, pidFile)
	err := closedError(t, &r)
	if err.ExitCode != 4 || !slices.Equal(err.Words, []string{"goodbye"}) {
		t.Errorf("closed with %v, %q", err, err.Words)
	}
	eventually(t, "end of the grandchild", func() bool { return gone(pid) })
}

// closeSoon closes and measures. The waits add up to less than T9's 3 s, see
// TestCloseBudget; as much again is for a machine that is busy with other tests.
func closeSoon(t *testing.T, conn transport.Conn) {
	t.Helper()
	begin := time.Now()
	conn.Close()
	if took := time.Since(begin); took > 6*time.Second {
		t.Errorf("Close took %v", took)
	}
}

// Case 7: a server that exits at the end of its input costs no wait.
func TestStdioCloseOfAnOrderlyServer(t *testing.T) {
	t.Parallel()
	for try := 1; ; try++ {
		journal := filepath.Join(t.TempDir(), "journal")
		var r transporttest.Recorder
		conn := fake(t, fakeserver.Script{Journal: journal}, transport.StdioConfig{}, &r)
		handshake(t, conn, &r)
		begin := time.Now()
		conn.Close()
		took := time.Since(begin)
		entries, err := fakeserver.ReadJournal(journal)
		if err != nil {
			t.Fatal(err)
		}
		last := entries[len(entries)-1]
		if took < 300*time.Millisecond && last.Event == fakeserver.EndOfInput {
			return
		}
		if try == 10 { // not a busy machine any more
			t.Fatalf("Close took %v, and the server's last note is %+v", took, last)
		}
	}
}

// Case 4, acceptance 107 and 108: neither the end of input nor TERM moves it, its
// grandchild holds the pipes, and all is over within 3 s.
func TestStdioCloseOfAStubbornServer(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]fakeserver.Script{
		"ignores the end of input": {IgnoreEOF: true},
		"ignores TERM too":         {IgnoreEOF: true, IgnoreTERM: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s.Journal, s.Grandchild = filepath.Join(dir, "journal"), filepath.Join(dir, "pid")
			var r transporttest.Recorder
			var out console
			conn := fake(t, s, transport.StdioConfig{Log: out.log}, &r)
			handshake(t, conn, &r)
			grandchild := pidIn(t, s.Grandchild)
			answered(t, conn, &r, 3, "tools/call", `{"name":"echo","arguments":{"text":"x"}}`)
			closeSoon(t, conn)
			entries, err := fakeserver.ReadJournal(s.Journal)
			if err != nil {
				t.Fatal(err)
			}
			var order []string
			for _, e := range entries {
				if e.Event == fakeserver.EndOfInput || e.Event == fakeserver.Terminated {
					order = append(order, e.Event)
				}
			}
			if !slices.Equal(order, []string{fakeserver.EndOfInput, fakeserver.Terminated}) {
				t.Errorf("the server noticed %q", order)
			}
			if pid := entries[0].PID; !gone(pid) || !gone(grandchild) {
				t.Errorf("after Close: child gone %v, grandchild gone %v", gone(pid), gone(grandchild))
			}
		})
	}
}

// Case 2: a wrapper, as npx is one. The real server ignores the end of its input.
func TestStdioCloseReachesBehindAWrapper(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]string{"background": "%s & wait", "foreground": "%s; true"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := fakeserver.Script{Journal: filepath.Join(dir, "journal"), Grandchild: filepath.Join(dir, "pid"), IgnoreEOF: true, IgnoreTERM: true}
			var r transporttest.Recorder
			conn := openStdio(t, transport.StdioConfig{Command: "sh", Args: []string{"-c", fmt.Sprintf(form, fakeserver.ShellLine(t, s))}}, &r)
			grandchild := pidIn(t, s.Grandchild)
			closeSoon(t, conn)
			entries, err := fakeserver.ReadJournal(s.Journal)
			if err != nil || len(entries) == 0 {
				t.Fatalf("journal %v, %v", entries, err)
			}
			if pid := entries[0].PID; !gone(pid) || !gone(grandchild) {
				t.Errorf("after Close: server gone %v, grandchild gone %v", gone(pid), gone(grandchild))
			}
		})
	}
}

// Case 4: everything that does not read, write or listen at once.
func TestStdioCloseWithFullPipesAndABlockedSink(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	t.Cleanup(func() { close(gate) })
	r := transporttest.Recorder{Hook: func(transporttest.Event) { <-gate }}
	script := `trap "" TERM; while :; do echo '{"jsonrpc":"2.0","method":"n"}'; echo noise >&2; done`
	conn := openStdio(t, transport.StdioConfig{Command: "sh", Args: []string{"-c", script}}, &r)
	r.Noted(t, "n")
	big := `{"x":"` + strings.Repeat("x", 1<<20) + `"}`
	request(t, conn, 1, "m", big)
	request(t, conn, 2, "m", "{}")
	closeSoon(t, conn)
}
