package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Display is a virtual screen of its own, without a window manager: the newest
// window has the keyboard and lies where it asked to lie.
type Display struct {
	tb   testing.TB
	Name string // for DISPLAY
}

// missing fails or skips the test, by DRAWBRIDGE_REQUIRE_DISPLAY.
func missing(tb testing.TB, what string) {
	tb.Helper()
	if os.Getenv("DRAWBRIDGE_REQUIRE_DISPLAY") == "1" {
		tb.Fatal(what)
	}
	tb.Skip(what)
}

// StartDisplay starts a screen of that size, such as "1280x800", until the test ends.
func StartDisplay(tb testing.TB, size string) *Display {
	tb.Helper()
	for _, tool := range []string{"Xvfb", "xdotool", "import"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing(tb, tool+" is missing: run .ci/setup test")
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", size+"x24", "-nolisten", "tcp", "-noreset")
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	w.Close()
	tb.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		tb.Fatalf("Xvfb did not start: %v", err)
	}
	return &Display{tb: tb, Name: ":" + strings.TrimSpace(number)}
}

// do runs a tool of the display and returns what it printed.
func (d *Display) do(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "DISPLAY="+d.Name)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// must is do, failing the test.
func (d *Display) must(name string, args ...string) string {
	d.tb.Helper()
	out, err := d.do(name, args...)
	if err != nil {
		d.tb.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return out
}
