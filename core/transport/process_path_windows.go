package transport

import (
	"path/filepath"
	"strings"
)

// runnable returns path, or path with the first extension of PATHEXT under which
// there is a file (case 9).
func runnable(path string, env []string) (string, error) {
	list := getEnv(env, "PATHEXT")
	if list == "" {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	extensions := strings.Split(list, ";")
	for _, ext := range extensions {
		if ext != "" && strings.EqualFold(filepath.Ext(path), ext) {
			_, err := isFile(path)
			return path, err
		}
	}
	var first error
	for _, ext := range extensions {
		if ext == "" {
			continue
		}
		_, err := isFile(path + ext)
		if err == nil {
			return path + ext, nil
		}
		if first == nil {
			first = err
		}
	}
	return path, first
}
