package soak

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
)

// website is a demo server behind HTTP that can be killed and comes back under the
// same address. It belongs to one goroutine, but for url.
type website struct {
	addr, era, journals string
	cmd                 *exec.Cmd
}

func (w *website) url() string { return "http://" + w.addr + "/mcp" }

// start runs the server's process and returns once it listens.
func (w *website) start(t testing.TB) {
	t.Helper()
	cmd := exec.Command(self(t), serverMarker, w.journals, w.addr, w.era)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return
	}
	w.cmd = cmd
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Errorf("the server at %s says %q, %v", w.addr, line, err)
	}
}

func (w *website) kill() {
	if w.cmd != nil {
		_ = w.cmd.Process.Kill()
		_ = w.cmd.Wait()
		w.cmd = nil
	}
}

func self(t testing.TB) string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// freeAddr returns an address that nobody uses. It lies below the ports that the
// system gives to connections: while a server is down, one of ours must not get its.
func freeAddr(t testing.TB, next *int) string {
	t.Helper()
	for ; *next < 32000; *next++ {
		addr := fmt.Sprintf("127.0.0.1:%d", *next)
		if ln, err := net.Listen("tcp", addr); err == nil {
			_ = ln.Close()
			*next++
			return addr
		}
	}
	t.Fatal("no free port")
	return ""
}
