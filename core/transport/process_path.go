package transport

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// findCommand returns the path of the file to run. A name without a separator is
// looked up on the PATH in env, which is the one that the child gets; any other is
// taken relative to dir. The error is a Spawn error whose Words name the command
// and the PATH (case 1).
func findCommand(command, dir string, env []string) (string, error) {
	if command == "" {
		return "", spawnError(nil, "not_found", "the command is empty")
	}
	if filepath.Base(command) != command {
		if !filepath.IsAbs(command) {
			command = filepath.Join(dir, command)
		}
		path, err := filepath.Abs(command)
		if err == nil {
			path, err = runnable(path, env)
		}
		switch {
		case err == nil:
			return path, nil
		case errors.Is(err, fs.ErrPermission):
			return "", spawnError(err, "permission", "not an executable file: "+path)
		case errors.Is(err, fs.ErrNotExist):
			return "", spawnError(err, "not_found", "no such file: "+path)
		}
		return "", spawnError(err, "other", "could not be looked at: "+path)
	}

	list := getEnv(env, "PATH")
	forbidden := ""
	for _, entry := range filepath.SplitList(list) {
		if !filepath.IsAbs(entry) {
			continue // the working directory must not decide what runs
		}
		path, err := runnable(filepath.Join(entry, command), env)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, fs.ErrPermission) && forbidden == "" {
			forbidden = path
		}
	}
	searched := "searched PATH: " + list
	if forbidden != "" {
		return "", spawnError(fs.ErrPermission, "permission", "not an executable file: "+forbidden, searched)
	}
	return "", spawnError(fs.ErrNotExist, "not_found", fmt.Sprintf("command not found: %s", command), searched)
}

// isFile is nil for an existing file that is no directory.
func isFile(path string) (os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fs.ErrPermission
	}
	return info, nil
}
