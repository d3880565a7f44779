package transport_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
)

// When this program is killed, a server that ignores the end of its input does not
// stay behind.
func TestStdioServerDiesWithUs(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "journal")
	command, args := fakeserver.Command(t, fakeserver.Script{Journal: journal, IgnoreEOF: true})
	self, hostArgs := childCommand(t, append([]string{"host", command}, args...)...)
	host := exec.Command(self, hostArgs...)
	host.Stderr = os.Stderr
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
		t.Fatalf("the host said %q, %v", line, err)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	host.Wait()
	entries, err := fakeserver.ReadJournal(journal)
	if err != nil || len(entries) == 0 {
		t.Fatalf("journal %v, %v", entries, err)
	}
	eventually(t, "end of the server", func() bool { return gone(entries[0].PID) })
}
