package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// patience bounds the wait for anything: the program is built with the race
// detector, and the machine may be busy.
const patience = 60 * time.Second

// App is the running program, in a home of its own.
type App struct {
	Home string
	Spec string // its servers.json

	tb     testing.TB
	binary string
	env    []string
	cmd    *exec.Cmd
	stderr lockedBuffer
	ended  chan error
}

// lockedBuffer is written by the program while the test reads.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Prepare makes a home for the program with this servers.json; "" writes none.
func Prepare(tb testing.TB, servers string) *App {
	tb.Helper()
	binary := os.Getenv("DRAWBRIDGE_BINARY")
	if binary == "" {
		missing(tb, "DRAWBRIDGE_BINARY names no program: run `make test`")
	}
	// A short path, since pictures show it.
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(home) })
	a := &App{
		Home: home, Spec: filepath.Join(home, ".config", "drawbridge", "servers.json"), tb: tb,
		binary: filepath.Join(home, "bin", "drawbridge"),
	}
	a.env = []string{
		"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "LANG=en_US.UTF-8", "DBUS_SESSION_BUS_ADDRESS=disabled:",
		"PATH=" + a.Bin() + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
	for _, dir := range []string{filepath.Dir(a.Spec), a.Bin()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	a.place(binary)
	if servers != "" {
		if err := os.WriteFile(a.Spec, []byte(servers), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return a
}

// Bin is a folder of its PATH.
func (a *App) Bin() string { return filepath.Join(a.Home, "bin") }

// Setenv sets a variable for the program.
func (a *App) Setenv(name, value string) { a.env = append(a.env, name+"="+value) }

// place puts the program into Bin, as a link where that can be done.
func (a *App) place(binary string) {
	a.tb.Helper()
	if os.Link(binary, a.binary) == nil {
		return
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		a.tb.Fatal(err)
	}
	if err := os.WriteFile(a.binary, text, 0o700); err != nil {
		a.tb.Fatal(err)
	}
}

// Start starts the program with these arguments, on a display or on none.
func (a *App) Start(d *Display, args ...string) {
	a.tb.Helper()
	a.cmd = exec.Command(a.binary, args...)
	a.cmd.Env = a.env
	if d != nil {
		a.cmd.Env = append(slices.Clone(a.env), "DISPLAY="+d.Name)
	}
	a.cmd.Stdout, a.cmd.Stderr = &a.stderr, &a.stderr
	a.cmd.WaitDelay = patience
	if err := a.cmd.Start(); err != nil {
		a.tb.Fatal(err)
	}
	a.ended = make(chan error, 1)
	go func() { a.ended <- a.cmd.Wait() }()
	a.tb.Cleanup(func() {
		if a.tb.Failed() && d != nil {
			d.Screenshot("failed-" + strings.ReplaceAll(a.tb.Name(), "/", "-"))
		}
		if a.cmd.ProcessState == nil {
			a.cmd.Process.Kill()
			<-a.ended
		}
		if a.tb.Failed() {
			a.tb.Logf("the program's output:\n%s", a.stderr.String())
		}
		if fault := concurrencyFault(a.stderr.String()); fault != "" {
			a.tb.Errorf("the program broke a rule of concurrency:\n%s", fault)
		}
	})
}

// concurrencyFault returns the reports of the race detector and the toolkit's
// complaints about its thread in a program's output. Left out is one of the
// toolkit's own making: at the end of its loop it closes a queue that its event
// goroutine may be writing to (Fyne 2.7.1, internal/async).
func concurrencyFault(output string) string {
	var faults []string
	for block := range strings.SplitSeq(output, "==================") {
		own := strings.Contains(block, "runtime.closechan()") && strings.Contains(block, "async.(*UnboundedChan[") && strings.Contains(block, "RunEventQueue()")
		if strings.Contains(block, "WARNING: DATA RACE") && !own || strings.Contains(block, "Error in Fyne call thread") {
			faults = append(faults, block)
		}
	}
	return strings.Join(faults, "\n")
}

// Run runs one command of the program beside the running one.
func (a *App) Run(args ...string) (stdout string, err error) {
	cmd := exec.Command(a.binary, args...)
	cmd.Env = a.env
	out, err := cmd.Output()
	return string(out), err
}

// Status asks the running program. It is nil while none answers.
func (a *App) Status() *hub.Snapshot {
	out, err := a.Run("status", "--json")
	if err != nil {
		return nil
	}
	var s hub.Snapshot
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		a.tb.Fatalf("status: %v: %s", err, out)
	}
	return &s
}

// Await waits until ok holds.
func (a *App) Await(what string, ok func() bool) {
	a.tb.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		select {
		case err := <-a.ended:
			a.ended <- err
			a.tb.Fatalf("waiting for %s: the program ended: %v", what, err)
		default:
		}
		if time.Now().After(deadline) {
			a.tb.Fatalf("waited in vain for %s", what)
		}
	}
}

// Quit asks the program to end as the system does, and returns how long it took
// and its exit code.
func (a *App) Quit() (time.Duration, int) {
	a.tb.Helper()
	begin := time.Now()
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		a.tb.Fatal(err)
	}
	select {
	case err := <-a.ended:
		a.ended <- err
	case <-time.After(patience):
		a.tb.Fatal("the program does not end")
	}
	return time.Since(begin), a.cmd.ProcessState.ExitCode()
}
