package peers_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dir holds the programs under test.
var dir string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	tmp, err := os.MkdirTemp("", "peers")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(tmp)
	dir = tmp
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./gosdk-server", "./gosdk-client", "./mcpgo-server")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	return m.Run()
}

// Each peer is what its name promises: every tool works for the SDK's own client,
// in the version that the mode speaks.
func TestPeers(t *testing.T) {
	for _, tc := range []struct {
		name    string
		server  []string
		ask     string // version the client asks for
		version string
		steps   int // progress notifications that arrive for certain; mcp-go over HTTP may drop the last
	}{
		{"gosdk stdio", []string{"gosdk-server"}, "", "2026-07-28", 3},
		{"gosdk stdio legacy", []string{"gosdk-server"}, "2025-11-25", "2025-11-25", 3},
		{"gosdk stateless", []string{"gosdk-server", "-http", "127.0.0.1:0"}, "", "2026-07-28", 3},
		{"gosdk stateful", []string{"gosdk-server", "-http", "127.0.0.1:0", "-stateful"}, "", "2025-11-25", 3},
		{"mcpgo stdio", []string{"mcpgo-server"}, "", "2026-07-28", 3},
		{"mcpgo stateless", []string{"mcpgo-server", "-http", "127.0.0.1:0"}, "", "2026-07-28", 1},
		{"mcpgo stateful", []string{"mcpgo-server", "-http", "127.0.0.1:0", "-stateful"}, "", "2026-07-28", 1},
		{"mcpgo stateful legacy", []string{"mcpgo-server", "-http", "127.0.0.1:0", "-stateful"}, "2025-11-25", "2025-11-25", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			target := append([]string{filepath.Join(dir, tc.server[0])}, tc.server[1:]...)
			if len(tc.server) > 1 {
				target = []string{serve(t, target)}
			}
			args := []string{
				"-version", tc.ask, "-call", `echo={"text":"<hé>"}`, "-call", `fail={"text":"on purpose"}`,
				"-call", `slow={"ms":3,"steps":3}`, "-call", "ask",
			}
			cmd := exec.Command(filepath.Join(dir, "gosdk-client"), append(args, target...)...)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var r struct {
				Version  string
				Tools    []string
				Progress int
				Asked    int
				Calls    []struct {
					Text, Error string
					IsError     bool
				}
			}
			if err := json.Unmarshal(out, &r); err != nil {
				t.Fatal(err)
			}
			if slices.Sort(r.Tools); r.Version != tc.version || strings.Join(r.Tools, " ") != "ask echo fail slow" {
				t.Errorf("%s", out)
			}
			if r.Calls[0].Text != "<hé>" || r.Calls[1].Text != "on purpose" || !r.Calls[1].IsError || r.Calls[2].Text != "done" || r.Progress < tc.steps {
				t.Errorf("%s", out)
			}
			if r.Calls[3].Text != "Hello, gosdk!" || r.Asked != 1 {
				t.Errorf("%s", out)
			}
		})
	}
}

// serve starts a server over HTTP, ended by the end of its stdin.
func serve(t *testing.T, command []string) (url string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}
