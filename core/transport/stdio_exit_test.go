package transport_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

// Case 12: a death at the start is visible at once, with what was said last.
func TestStdioDeathAtStartIsVisible(t *testing.T) {
	t.Parallel()
	var r transporttest.Recorder
	conn := fake(t, fakeserver.Script{Stderr: "Error: API_KEY missing\n", Exit: &fakeserver.Exit{Code: 3}}, transport.StdioConfig{}, &r)
	begin := time.Now()
	err := closedError(t, &r)
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if err.Code != transport.Exited || err.ExitCode != 3 || err.Signal != "" || err.Error() != "exited (code 3)" {
		t.Errorf("closed with %v", err)
	}
	if !slices.Equal(err.Words, []string{"Error: API_KEY missing"}) {
		t.Errorf("last words %q", err.Words)
	}
	if sendErr := conn.Send(1, transport.Request{Method: "m"}); transport.CodeOf(sendErr) != transport.Broken {
		t.Errorf("send gave %v", sendErr)
	}
}

// Case 12: help text on stdout and an exit with 0.
func TestStdioExitWithHelpText(t *testing.T) {
	t.Parallel()
	var r transporttest.Recorder
	fake(t, fakeserver.Script{Preamble: []byte("Usage: npx …\n"), Exit: &fakeserver.Exit{}}, transport.StdioConfig{}, &r)
	err := closedError(t, &r)
	if err.Code != transport.Exited || err.ExitCode != 0 || !slices.Equal(err.Words, []string{"Usage: npx …"}) {
		t.Errorf("closed with %v, %q", err, err.Words)
	}
}

// Acceptance 94: an exit ends the connection with its code, and the next connect
// gives a fresh process.
func TestStdioExitDuringACall(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "journal")
	command, args := fakeserver.Command(t, fakeserver.Script{Journal: journal, Replies: map[string]fakeserver.Reply{"die": {Exit: &fakeserver.Exit{Code: 3}}}})
	d := transport.NewStdio(transport.StdioConfig{Command: command, Args: args, Env: []string{quickExit}})
	for range 2 {
		var r transporttest.Recorder
		conn, err := d.Connect(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		handshake(t, conn, &r)
		request(t, conn, 3, "die", `{}`)
		if err := closedError(t, &r); err.Code != transport.Exited || err.ExitCode != 3 {
			t.Errorf("closed with %v", err)
		}
		if got := r.Outcomes(3); len(got) != 0 {
			t.Errorf("the call ended with %v too", got)
		}
	}
	entries, err := fakeserver.ReadJournal(journal)
	if err != nil {
		t.Fatal(err)
	}
	pids := map[int]bool{}
	for _, e := range entries {
		pids[e.PID] = true
	}
	if len(pids) != 2 {
		t.Errorf("%d processes ran", len(pids))
	}
}

// Case 12: stdout closed is the end, though the process lives.
func TestStdioServerThatClosesItsOutput(t *testing.T) {
	t.Parallel()
	var r transporttest.Recorder
	conn := play(t, transport.StdioConfig{}, &r, "mute")
	err := closedError(t, &r)
	if err.Code != transport.Broken || err.Reason != "eof" || !slices.Equal(err.Words, []string{"closing my output"}) {
		t.Errorf("closed with %v, %q", err, err.Words)
	}
	begin := time.Now()
	conn.Close()
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("a later Close took %v", took)
	}
}

// Case 12: the last message and the last words are not lost, line end or not.
func TestStdioLastWords(t *testing.T) {
	t.Parallel()
	for range 20 {
		var r transporttest.Recorder
		play(t, transport.StdioConfig{}, &r, "last")
		err := closedError(t, &r)
		events := r.Events()
		if len(events) != 2 || events[0].Kind != transporttest.Message || events[0].Msg.Method != "last" {
			t.Fatalf("events %v", events)
		}
		if err.ExitCode != 3 || !slices.Equal(err.Words, []string{"last words"}) {
			t.Fatalf("closed with %v, %q", err, err.Words)
		}
	}
}

// Case 8: stderr is drained whatever comes, and is no error.
func TestStdioDrainsStderr(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]fakeserver.Script{
		"one line":      {StderrFlood: 1 << 20},
		"many lines":    {StderrFlood: 1 << 20, StderrLines: true},
		"progress bars": {Stderr: strings.Repeat("\r[####      ] 40% of the download", 3000) + "\rdone\nready\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r transporttest.Recorder
			var out console
			conn := fake(t, s, transport.StdioConfig{Log: out.log}, &r)
			handshake(t, conn, &r)
			conn.Close()
			for _, line := range out.all() {
				if len(line) > 17000 {
					t.Fatalf("a line of %d bytes was passed on", len(line))
				}
			}
			if s.Stderr != "" && !slices.Equal(out.all(), []string{"stderr: done", "stderr: ready"}) {
				t.Errorf("the log is %.300q", out.all())
			}
		})
	}
}

// The last words are the last ones.
func TestStdioLastWordsAreBounded(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	var r transporttest.Recorder
	fake(t, fakeserver.Script{Stderr: text.String(), Exit: &fakeserver.Exit{Code: 1}}, transport.StdioConfig{}, &r)
	err := closedError(t, &r)
	if n := len(err.Words); n != 20 || err.Words[0] != "line 980" || err.Words[n-1] != "line 999" {
		t.Errorf("last words %q", err.Words)
	}
}

// Case 4: what was received is delivered, however slow the sink, though the
// process is long dead.
func TestStdioSlowSinkLosesNothingAtTheEnd(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	r := transporttest.Recorder{Hook: func(e transporttest.Event) { <-gate }}
	file := t.TempDir() + "/out"
	writeFile(t, file, strings.Repeat(`{"jsonrpc":"2.0","method":"n"}`+"\n", 1000)) // less than a pipe holds
	openStdio(t, transport.StdioConfig{Command: "cat", Args: []string{file}}, &r)
	r.Noted(t, "n")
	time.Sleep(2 * time.Second) // longer than any wait for leftovers
	close(gate)
	closedError(t, &r)
	if got := len(r.Events()); got != 1001 {
		t.Errorf("%d events came", got)
	}
}
