package control

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOneInstance(t *testing.T) {
	dir := t.TempDir()
	if err := Show(t.Context(), dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("nobody runs: got %v", err)
	}
	// What a crashed instance leaves does not matter.
	if err := os.WriteFile(filepath.Join(dir, socketName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(dir); !errors.Is(err, ErrRunning) {
		t.Errorf("a second instance got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	shown, told := 0, 0
	go func() {
		ended <- first.Serve(ctx, Handlers{
			Status: func() any { return map[string]int{"servers": 3} }, Show: func() { shown++ }, SecretsChanged: func() { told++ },
		})
	}()
	var got map[string]int
	if err := Status(t.Context(), dir, &got); err != nil || got["servers"] != 3 {
		t.Errorf("got %v, %v", got, err)
	}
	if err := errors.Join(Show(t.Context(), dir), SecretsChanged(t.Context(), dir)); err != nil || shown != 1 || told != 1 {
		t.Errorf("got %v, shown %d, told %d", err, shown, told)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	first.Close()
	again, err := Claim(dir)
	if err != nil {
		t.Fatalf("after the end: %v", err)
	}
	again.Close()
}

func TestNoWindow(t *testing.T) {
	dir := t.TempDir()
	i, err := Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = i.Serve(ctx, Handlers{})
	}()
	if err := Show(t.Context(), dir); !errors.Is(err, ErrNoWindow) {
		t.Errorf("got %v", err)
	}
	cancel()
	<-ended
	i.Close()
}

func TestDirIsPrivate(t *testing.T) {
	base := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", base)
	if err := os.Mkdir(filepath.Join(base, "drawbridge"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
}
