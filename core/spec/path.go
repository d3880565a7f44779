package spec

import (
	"fmt"
	"os"
	"path/filepath"
)

// DefaultPath returns where servers.json is when nobody says otherwise:
// drawbridge/servers.json in the user's configuration directory.
func DefaultPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the configuration directory: %w", err)
	}
	return filepath.Join(dir, "drawbridge", "servers.json"), nil
}
