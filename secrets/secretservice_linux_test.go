package secrets

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Variables of a scenario's process and everything it starts.
const (
	scenarioVariable = "DRAWBRIDGE_TEST_SCENARIO"
	markVariable     = "DRAWBRIDGE_TEST_MARK"
)

// requireVariable, set to 1 by `make test`, makes missing tools a failure.
const requireVariable = "DRAWBRIDGE_REQUIRE_KEYRING"

// needTools ends the test if what a private Secret Service takes is missing.
func needTools(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"dbus-run-session", "dbus-launch", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		text := tool + " is missing: the tests against a real keyring need `apt-get install gnome-keyring dbus dbus-x11`"
		if os.Getenv(requireVariable) == "1" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
}

// emptyBus is a session bus that starts no services.
const emptyBus = `<busconfig>
  <type>session</type>
  <listen>unix:dir=%s</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
  </policy>
</busconfig>`

// K2, cases 79 and 80, on a real D-Bus and, where it says so, a real
// gnome-keyring. Each scenario is a process of its own with a home of its own.
func TestSecretService(t *testing.T) {
	needTools(t)
	tests := []struct {
		name string
		bus  string // "session", "empty" or "none"
	}{
		{"values come back byte for byte", "session"},
		{"fifty at once", "session"},
		{"the daemon restarts locked", "session"},
		{"no default keyring", "session"},
		{"no bus, and dbus-launch could start one", "none"},
		{"the bus address is of no bus", "none"},
		{"a bus without a secret service", "empty"},
		{"one prompt for fifty readers", "empty"},
		{"the prompt is dismissed", "empty"},
		{"the prompt is withdrawn", "empty"},
		{"the service ends during the prompt", "empty"},
		{"an item asks inside the call", "empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			runInSession(t, tt.name, tt.bus)
		})
	}
}

func runInSession(t *testing.T, scenario, bus string) {
	// Not t.TempDir: its path is too long for sockets.
	home, err := os.MkdirTemp("", "drawbridge")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	runtime := filepath.Join(home, "run")
	if err := os.Mkdir(runtime, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{self}
	switch bus {
	case "session":
		args = []string{"dbus-run-session", "--", self}
	case "empty":
		config := filepath.Join(home, "bus.conf")
		if err := os.WriteFile(config, fmt.Appendf(nil, emptyBus, runtime), 0o600); err != nil {
			t.Fatal(err)
		}
		args = []string{"dbus-run-session", "--config-file=" + config, "--", self}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	mark := rand.Text()
	// Nothing of the person's own session: no bus, no display, no home.
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8",
		"HOME=" + home, "XDG_RUNTIME_DIR=" + runtime, "TMPDIR=" + home,
		scenarioVariable + "=" + scenario, markVariable + "=" + mark,
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s", err, out.Bytes())
	}
	wantNoProcess(t, mark)
}

// wantNoProcess fails if a process that the scenario started, such as a bus
// that was launched on the way, outlives it.
func wantNoProcess(t *testing.T, mark string) {
	t.Helper()
	var left map[int]string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if left = marked(mark); len(left) == 0 {
			return
		}
	}
	for pid, line := range left {
		t.Errorf("still running: %s", line)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// marked returns the command lines of the processes started with mark.
func marked(mark string) map[int]string {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	found := map[int]string{}
	for _, path := range environs {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte(markVariable+"="+mark)) {
			continue
		}
		dir := filepath.Dir(path)
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err == nil && len(line) > 0 { // a zombie has none
			found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
		}
	}
	return found
}
