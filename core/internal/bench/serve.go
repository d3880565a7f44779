package bench

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// serve starts the server over HTTP; stop ends it, by the end of its stdin.
func serve(path string, legacy bool) (url string, stop func(), err error) {
	cmd := exec.Command(path, "-http", "127.0.0.1:0")
	if legacy {
		cmd.Args = append(cmd.Args, "-stateful")
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		in.Close()
		_ = cmd.Wait() // how it ends says nothing about what was measured
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		stop()
		return "", nil, fmt.Errorf("%s says %q in place of where it listens: %w", path, line, err)
	}
	return url, stop, nil
}
