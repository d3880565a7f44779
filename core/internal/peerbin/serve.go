package peerbin

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// ServeGo starts gosdk-server or mcpgo-server over HTTP on a free loopback port
// until the test ends, and returns the URL of its endpoint. args may hold
// "-stateful".
func ServeGo(tb testing.TB, name string, args ...string) (url string) {
	tb.Helper()
	cmd := exec.Command(Go(tb, name), append([]string{"-http", "127.0.0.1:0"}, args...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		in.Close() // its sign to end
		if err := cmd.Wait(); err != nil {
			tb.Errorf("%s ended with %v", name, err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return strings.TrimPrefix(strings.TrimSpace(line), "listening on ")
}

// ServeEverything starts server-everything over Streamable HTTP on a free port
// until the test ends, and returns the URL of its endpoint.
func ServeEverything(tb testing.TB) (url string) {
	tb.Helper()
	return serveEverything(tb, "streamableHttp") + "/mcp"
}

// ServeEverythingSSE is [ServeEverything] over HTTP+SSE of 2024-11-05.
func ServeEverythingSSE(tb testing.TB) (url string) {
	tb.Helper()
	return serveEverything(tb, "sse") + "/sse"
}

func serveEverything(tb testing.TB, transport string) (origin string) {
	tb.Helper()
	c := everything(tb, transport)
	port := freePort(tb)
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port), "HOME="+tb.TempDir())
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tb.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	deadline := time.After(60 * time.Second)
	for {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			return "http://" + addr
		}
		select {
		case err := <-ended:
			ended <- err
			tb.Fatalf("server-everything ended with %v: %s", err, log.String())
		case <-deadline:
			tb.Fatal("server-everything does not listen")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func freePort(tb testing.TB) int {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
