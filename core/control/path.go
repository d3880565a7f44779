package control

import (
	"fmt"
	"os"
	"path/filepath"
)

// Dir returns the folder of the socket, made if need be, for its owner alone:
// under $XDG_RUNTIME_DIR where there is one, else under the user's cache folder.
func Dir() (string, error) {
	base := os.Getenv("XDG_RUNTIME_DIR")
	if base == "" || !filepath.IsAbs(base) {
		var err error
		if base, err = os.UserCacheDir(); err != nil {
			return "", fmt.Errorf("find a folder for the socket: %w", err)
		}
	}
	dir := filepath.Join(base, "drawbridge")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the socket: %w", err)
	}
	// A folder that existed with other rights would let others in.
	if err := os.Chmod(dir, 0o700); err != nil {
		return "", fmt.Errorf("protect the folder of the socket: %w", err)
	}
	return dir, nil
}

const (
	lockName   = "instance.lock"
	socketName = "control.sock"
)
