//go:build unix

package transport

import "io/fs"

// runnable returns path if it is an executable file; the error is fs.ErrPermission
// or that of stat. On Unix the name is taken as it is.
func runnable(path string, _ []string) (string, error) {
	info, err := isFile(path)
	if err != nil {
		return path, err
	}
	if info.Mode()&0o111 == 0 {
		return path, fs.ErrPermission
	}
	return path, nil
}
