package peerbin

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/gofrs/flock"
)

// missing fails or skips the test, by DRAWBRIDGE_REQUIRE_PEERS.
func missing(tb testing.TB, err error) {
	tb.Helper()
	if os.Getenv("DRAWBRIDGE_REQUIRE_PEERS") == "1" {
		tb.Fatalf("test peer is missing (run `make peers`): %v", err)
	}
	tb.Skipf("test peer is missing (run `make peers`): %v", err)
}

// root is the folder of Drawbridge's go.mod, found upwards of the test's folder.
var root = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "core", "internal", "peers", "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not inside the source tree")
		}
		dir = parent
	}
})

// programs is the folder with the built programs.
var programs = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("DRAWBRIDGE_PEERS"); dir != "" {
		return dir, nil
	}
	top, err := root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(top, "build", "peers")
	return dir, build(filepath.Join(top, "core", "internal", "peers"), dir)
})

// build builds the programs of the peers module, one test binary at a time.
func build(module, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(dir, ".lock"))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("build peers: %w", err)
	}
	defer lock.Unlock()
	cmd := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./gosdk-server", "./gosdk-client", "./gosdk-bench", "./mcpgo-server")
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build peers: %w\n%s", err, out)
	}
	return nil
}

// Go returns the path of a program of the peers module: gosdk-server,
// gosdk-client, gosdk-bench or mcpgo-server.
func Go(tb testing.TB, name string) string {
	tb.Helper()
	dir, err := programs()
	if err != nil {
		missing(tb, err)
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		missing(tb, err)
	}
	return path
}

// npm returns a path below the installed npm packages.
func npm(tb testing.TB, elem ...string) string {
	tb.Helper()
	top, err := root()
	if err != nil {
		missing(tb, err)
	}
	path := filepath.Join(append([]string{top, "core", "internal", "peers", "npm", "node_modules"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		missing(tb, err)
	}
	return path
}
