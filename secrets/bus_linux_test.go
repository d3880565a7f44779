package secrets

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// C4: where the bus is, and that a missing one is never started.
func TestBusAddress(t *testing.T) {
	with := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(with, "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file := t.TempDir()
	if err := os.WriteFile(filepath.Join(file, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	socket := "unix:path=" + filepath.Join(with, "bus")
	for name, tt := range map[string]struct{ address, runtime, want string }{
		"the variable":              {"unix:path=/x", with, "unix:path=/x"},
		"switched off":              {"disabled:", with, "disabled:"},
		"the runtime directory":     {"", with, socket},
		"autolaunch is not wanted":  {"autolaunch:", with, socket},
		"autolaunch, scoped":        {"autolaunch:scope=*user", with, socket},
		"nowhere":                   {"", t.TempDir(), ""},
		"a file that is no socket":  {"", file, ""},
		"nowhere, and autolaunched": {"autolaunch:", t.TempDir(), ""},
	} {
		env := map[string]string{busVariable: tt.address, "XDG_RUNTIME_DIR": tt.runtime}
		if got := busAddress(func(k string) string { return env[k] }); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// A bus that takes the connection and says nothing holds nobody.
func TestSilentBusIsLeft(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv(busVariable, "unix:path="+filepath.Join(dir, "bus"))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = osVault{}.locked(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("locked: %v", err)
	}
	if err := (osVault{}).unlock(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("unlock: %v", err)
	}
	if (osVault{}).asking(ctx) {
		t.Error("asking")
	}
}
