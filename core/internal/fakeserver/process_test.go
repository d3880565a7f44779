package fakeserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	Main()
	goleak.VerifyTestMain(m)
}

// pipe is a running fake server and both ends of its pipes.
type pipe struct {
	tb     testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
}

func start(tb testing.TB, s Script) *pipe {
	tb.Helper()
	path, args := Command(tb, s)
	p := &pipe{tb: tb, cmd: exec.Command(path, args...)}
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = 10 * time.Second
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		p.in.Close()
		p.cmd.Process.Kill()
		p.cmd.Wait()
	})
	return p
}

func (p *pipe) send(line string) {
	p.tb.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.tb.Fatal(err)
	}
}

func (p *pipe) line() string {
	p.tb.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.tb.Fatalf("read: %v, stderr: %.200s", err, &p.stderr)
	}
	return line
}

func (p *pipe) answer() message {
	p.tb.Helper()
	var m message
	if err := json.Unmarshal([]byte(p.line()), &m); err != nil {
		p.tb.Fatal(err)
	}
	return m
}

// ended waits for the end and returns the exit code.
func (p *pipe) ended() int {
	p.tb.Helper()
	io.Copy(io.Discard, p.out)
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	probe      = `{"jsonrpc":"2.0","id":"d1","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`
	modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
)

func TestAnswers(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script Script
		send   string
		want   string
	}{
		{"legacy handshake", Script{}, initialize, `"protocolVersion":"2025-11-25"`},
		{"legacy handshake with an unknown version", Script{}, strings.ReplaceAll(initialize, "2025-11-25", "1999-01-01"), `"protocolVersion":"2025-11-25"`},
		{"chosen version", Script{Negotiate: "2024-11-05"}, initialize, `"protocolVersion":"2024-11-05"`},
		{"legacy does not know discovery", Script{}, probe, `"id":"d1","error":{"code":-32601`},
		{"modern discovery", Script{Era: Modern}, probe, `"supportedVersions":["2026-07-28"]`},
		{"dual discovery", Script{Era: Dual}, probe, `"supportedVersions":["2026-07-28","2025-11-25"`},
		{"discovery without a modern version", Script{Era: Modern, Versions: []string{"2025-11-25"}}, probe, `"supportedVersions":["2025-11-25"]`},
		{"modern refuses the handshake", Script{Era: Modern}, initialize, `"code":-32022`},
		{"probe error", Script{Replies: map[string]Reply{"server/discover": {Error: &Error{Code: -32000, Message: "no"}}}}, probe, `"error":{"code":-32000,"message":"no"}`},
		{"raw reply", Script{Replies: map[string]Reply{"server/discover": {Raw: "nonsense $id"}}}, probe, `nonsense "d1"`},
		{"late but usual reply", Script{Era: Modern, Replies: map[string]Reply{"server/discover": {After: time.Millisecond}}}, probe, `"supportedVersions"`},
		{"ids as strings", Script{IDs: AsStrings}, initialize, `"id":"1"`},
		{"ids as fractions", Script{IDs: AsFractions}, initialize, `"id":1.0`},
		{"ids as null", Script{IDs: AsNull}, initialize, `"id":null`},
		{"echo", Script{}, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"<héllo>"}}}`, `"text":"<héllo>"`},
		{"fail", Script{}, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fail","arguments":{"text":"no"}}}`, `"isError":true`},
		{"refuse", Script{}, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"refuse","arguments":{"code":-5,"message":"x"}}}`, `"error":{"code":-5`},
		{"unknown method", Script{}, `{"jsonrpc":"2.0","id":2,"method":"no/such"}`, `-32601`},
		{"carriage returns", Script{EOL: "\r\n"}, initialize, "}}\r\n"},
		{"modern result", Script{Era: Modern}, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + modernMeta + `}}`, `"resultType":"complete"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := start(t, tc.script)
			p.send(tc.send)
			if got := p.line(); !strings.Contains(got, tc.want) {
				t.Errorf("answer %s\nlacks  %s", got, tc.want)
			}
			p.in.Close()
			if code := p.ended(); code != 0 {
				t.Errorf("exit code %d at end of input", code)
			}
		})
	}
}

// Case 45: the process ends on a first message that is not initialize.
func TestEndsOnTheProbe(t *testing.T) {
	for _, after := range []time.Duration{0, 500 * time.Millisecond} {
		p := start(t, Script{InitializeFirst: &Exit{Code: 7, After: after}})
		p.send(probe)
		if code := p.ended(); code != 7 {
			t.Errorf("after %v: exit code %d", after, code)
		}
	}
	p := start(t, Script{InitializeFirst: &Exit{Code: 7}})
	p.send(initialize)
	p.answer()
	p.send(probe)
	if m := p.answer(); m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("after initialize: %+v", m)
	}
}

func TestSilentReplyLeavesOthersAnswered(t *testing.T) {
	p := start(t, Script{Replies: map[string]Reply{"server/discover": {Silent: true}}})
	p.send(probe)
	p.send(initialize)
	if m := p.answer(); string(m.ID) != "1" {
		t.Errorf("first answer is for %s", m.ID)
	}
}

func TestReplyHoldsForSomeRequestsOnly(t *testing.T) {
	p := start(t, Script{Replies: map[string]Reply{"*": {Error: &Error{Code: -1}, Times: 1}}})
	p.send(initialize)
	if m := p.answer(); m.Error == nil {
		t.Error("first request was served")
	}
	p.send(initialize)
	if m := p.answer(); m.Error != nil {
		t.Error("second request was refused")
	}
}

// Cases 8, 15, 16: all of it stands before the answer.
func TestNoiseBeforeTheAnswer(t *testing.T) {
	p := start(t, Script{
		Preamble: []byte("Welcome!\n\n{bad json\n"), Noise: []string{"", "[2026-01-01] hi"},
		Stderr: "starting\n", StderrFlood: 256 << 10, StderrLines: true,
	})
	p.send(initialize)
	var got []string
	for range 6 {
		got = append(got, strings.TrimSpace(p.line()))
	}
	if want := []string{"Welcome!", "", "{bad json", "", "[2026-01-01] hi"}; !slices.Equal(got[:5], want) {
		t.Errorf("got %q", got[:5])
	}
	if !strings.HasPrefix(got[5], `{"jsonrpc"`) {
		t.Errorf("got %.80q", got[5])
	}
	p.in.Close()
	p.ended()
	if n := p.stderr.Len(); n != 256<<10+len("starting\n") {
		t.Errorf("%d bytes on stderr", n)
	}
}

func TestExits(t *testing.T) {
	begin := time.Now()
	p := start(t, Script{Stderr: "API_KEY missing\n", Exit: &Exit{Code: 3}})
	if code := p.ended(); code != 3 || p.stderr.String() != "API_KEY missing\n" {
		t.Errorf("code %d, stderr %q", code, &p.stderr)
	}
	p = start(t, Script{Exit: &Exit{After: 50 * time.Millisecond}})
	if code := p.ended(); code != 0 || time.Since(begin) < 50*time.Millisecond {
		t.Errorf("code %d after %v", code, time.Since(begin))
	}
	p = start(t, Script{})
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"die","arguments":{"code":9}}}`)
	if code := p.ended(); code != 9 {
		t.Errorf("die: code %d", code)
	}
}

func TestCancelledCallIsNotAnswered(t *testing.T) {
	p := start(t, Script{})
	p.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"never"}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	p.send(`{"jsonrpc":"2.0","id":6,"method":"ping"}`)
	if m := p.answer(); string(m.ID) != "6" {
		t.Errorf("answer for %s", m.ID)
	}
}

func TestProgress(t *testing.T) {
	p := start(t, Script{})
	p.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow","arguments":{"ms":3,"steps":3},"_meta":{"progressToken":"tok"}}}`)
	for i := range 3 {
		if m := p.answer(); m.Method != "notifications/progress" || !strings.Contains(string(m.Params), `"progress":`+strconv.Itoa(i+1)) {
			t.Errorf("step %d: %+v", i, m)
		}
	}
	if m := p.answer(); m.Result == nil {
		t.Errorf("no result: %+v", m)
	}
}

func TestLegacyElicitation(t *testing.T) {
	p := start(t, Script{})
	p.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask"}}`)
	q := p.answer()
	if q.Method != "elicitation/create" || !strings.Contains(string(q.Params), `"requestedSchema"`) {
		t.Fatalf("question %+v", q)
	}
	p.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":{"action":"decline"}}`)
	if m := p.answer(); !strings.Contains(string(m.Result), `{\"action\":\"decline\"}`) {
		t.Errorf("result %s", m.Result)
	}
}

// Case 66.
func TestModernElicitationTakesItsRounds(t *testing.T) {
	p := start(t, Script{Era: Modern})
	const ask = `"name":"ask","arguments":{"rounds":2},` + modernMeta
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + ask + `}}`)
	for i := range 2 {
		var r struct {
			ResultType   string
			RequestState string
		}
		if err := json.Unmarshal(p.answer().Result, &r); err != nil || r.ResultType != "input_required" {
			t.Fatalf("round %d: %+v, %v", i, r, err)
		}
		state := string(encode(r.RequestState))
		p.send(`{"jsonrpc":"2.0","id":` + strconv.Itoa(i+2) + `,"method":"tools/call","params":{` + ask +
			`,"requestState":` + state + `,"inputResponses":{"answer":{"action":"accept","content":{"name":"x"}}}}}`)
	}
	if m := p.answer(); !strings.Contains(string(m.Result), `\"action\":\"accept\"`) {
		t.Errorf("final %+v", m)
	}
	p.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{` + ask + `,"requestState":"made up"}}`)
	if m := p.answer(); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("forged state: %+v", m)
	}
	p.send(`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{` + strings.ReplaceAll(ask, `"elicitation":{}`, "") + `}}`)
	if m := p.answer(); m.Error == nil || m.Error.Code != -32021 {
		t.Errorf("undeclared capability: %+v", m)
	}
}

// Case 58.
func TestCursors(t *testing.T) {
	page := func(p *pipe, cursor string) (n int, next *string) {
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + cursor + `}}`)
		var r struct {
			Tools      []json.RawMessage
			NextCursor *string
		}
		if err := json.Unmarshal(p.answer().Result, &r); err != nil {
			t.Fatal(err)
		}
		return len(r.Tools), r.NextCursor
	}
	for mode, want := range map[string][]int{
		"": {10, 10, 5}, CursorsEmptyWord: {10, 10, 5},
		CursorsEmptyEver: {10, 10, 10, 10}, CursorsSame: {10, 10, 10, 10}, CursorsEndless: {10, 10, 5, 0, 0},
	} {
		t.Run("mode "+mode, func(t *testing.T) {
			p := start(t, Script{ToolCount: 25, PageSize: 10, Cursors: mode})
			var got []int
			n, next := page(p, "")
			got = append(got, n)
			for next != nil && len(got) < len(want) {
				n, next = page(p, `"cursor":`+string(encode(*next)))
				got = append(got, n)
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages %v, want %v", got, want)
			}
			if endless := mode == CursorsEmptyEver || mode == CursorsSame || mode == CursorsEndless; (next != nil) != endless {
				t.Errorf("ends: %v", next == nil)
			}
		})
	}
}

func TestStormAndSubscription(t *testing.T) {
	p := start(t, Script{Storm: 3})
	p.send(initialize)
	p.answer()
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for range 3 {
		if m := p.answer(); m.Method != "notifications/tools/list_changed" || m.Params != nil {
			t.Errorf("got %+v", m)
		}
	}
	p = start(t, Script{Era: Modern, Storm: 1})
	p.send(`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`)
	if m := p.answer(); m.Method != "notifications/subscriptions/acknowledged" {
		t.Errorf("got %+v", m)
	}
	if m := p.answer(); !strings.Contains(string(m.Params), `"io.modelcontextprotocol/subscriptionId":"s"`) {
		t.Errorf("got %s", m.Params)
	}
}

// Cases 4 and 7: nothing but force ends it.
func TestStubbornProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	p := start(t, Script{IgnoreEOF: true, IgnoreTERM: true, Journal: path})
	p.send(initialize)
	p.answer()
	p.in.Close()
	await(t, path, EndOfInput)
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	await(t, path, Terminated)
	entries, err := ReadJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for _, e := range entries {
		events = append(events, e.Event)
		if e.PID != p.cmd.Process.Pid {
			t.Errorf("entry of process %d", e.PID)
		}
	}
	if want := []string{Started, Received, EndOfInput, Terminated}; !slices.Equal(events, want) {
		t.Errorf("events %q", events)
	}
	p.cmd.Process.Kill()
	if code := p.ended(); code != -1 {
		t.Errorf("it ended by itself with %d", code)
	}
}

// Case 2: the grandchild outlives the server and holds its pipes.
func TestGrandchild(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	p := start(t, Script{Grandchild: pidFile})
	p.send(initialize)
	p.answer()
	p.cmd.Process.Kill()
	p.cmd.Process.Wait()
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	child, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Kill(); err != nil {
		t.Errorf("the grandchild is gone already: %v", err)
	}
}

func TestShellLine(t *testing.T) {
	cmd := exec.Command("sh", "-c", ShellLine(t, Script{Name: "it's"})+" & wait")
	cmd.Stdin = strings.NewReader(initialize + "\n")
	out, err := cmd.Output()
	// A shell gives background jobs an empty stdin, so the server just ends.
	if err != nil || len(out) != 0 {
		t.Errorf("%q, %v", out, err)
	}
	cmd = exec.Command("sh", "-c", ShellLine(t, Script{Replies: map[string]Reply{"initialize": {Raw: "it's $id"}}}))
	in, out2 := mustPipes(t, cmd)
	io.WriteString(in, initialize+"\n")
	line, err := bufio.NewReader(out2).ReadString('\n')
	if line != "it's 1\n" {
		t.Errorf("%q, %v", line, err)
	}
	in.Close()
	cmd.Wait()
}

func mustPipes(t *testing.T, cmd *exec.Cmd) (io.WriteCloser, io.Reader) {
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out
}

func await(t *testing.T, journal, event string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		entries, err := ReadJournal(journal)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Event == event {
				return
			}
		}
	}
	t.Fatalf("no %q in the journal", event)
}
