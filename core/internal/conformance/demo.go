package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/drawbridge-mcp/drawbridge/core/demo"
)

// Demo serves `drawbridge demo --http` from this process, at a free port of
// localhost, until stop is called, which waits for its end. The error holds what
// the demo said.
func Demo(ctx context.Context) (url string, stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	said, stderr := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		code := demo.Command(ctx, []string{"--http", "localhost:0"}, strings.NewReader(""), io.Discard, stderr)
		_ = stderr.CloseWithError(fmt.Errorf("the demo ended with code %d", code))
	}()
	stop = func() {
		cancel()
		_ = said.Close()
		<-ended
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if line = strings.TrimSpace(line); err == nil && !strings.HasPrefix(line, "http://") {
		err = errors.New(line)
	}
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("start the demo: %w", err)
	}
	return line, stop, nil
}
