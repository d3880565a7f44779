package secrets

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal returns the two ends of a new pseudo-terminal.
func openTerminal(t *testing.T) (keyboard, terminal *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	fd := int(keyboard.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return keyboard, terminal
}

func echoes(t *testing.T, terminal *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

func waitHidden(t *testing.T, terminal *os.File) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); echoes(t, terminal); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the terminal still shows what is typed")
		}
	}
}

func TestSetAtATerminalDoesNotShowTheValue(t *testing.T) {
	keyboard, terminal := openTerminal(t)
	screen := make(chan string)
	go func() {
		data, _ := io.ReadAll(keyboard) // ends with the terminal
		screen <- string(data)
	}()
	var m Memory
	var errs strings.Builder
	done := make(chan int)
	go func() {
		done <- Command(t.Context(), &m, []string{"set", "TOKEN"}, terminal, io.Discard, &errs)
	}()
	waitHidden(t, terminal)
	if _, err := io.WriteString(keyboard, "t0ken value\n"); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 0 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	wantValue(t, &m, "TOKEN", "t0ken value")
	if !echoes(t, terminal) {
		t.Error("the terminal was left without echo")
	}
	_ = terminal.Close()
	if shown := <-screen; strings.Contains(shown, "t0ken") {
		t.Errorf("the terminal showed %q", shown)
	}
}

func TestSetInterruptedLeavesTheTerminalAsItWas(t *testing.T) {
	keyboard, terminal := openTerminal(t)
	ctx, cancel := context.WithCancel(t.Context())
	var m Memory
	var errs strings.Builder
	done := make(chan int)
	go func() {
		done <- Command(ctx, &m, []string{"set", "TOKEN"}, terminal, io.Discard, &errs)
	}()
	waitHidden(t, terminal)
	cancel()
	if code := <-done; code != 1 || !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	if !echoes(t, terminal) {
		t.Error("the terminal was left without echo")
	}
	_, _ = io.WriteString(keyboard, "\n") // ends the read that was left behind
}
