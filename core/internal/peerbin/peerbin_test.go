package peerbin

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// Each npm server starts and shakes hands, with nothing but its command.
func TestNpmServersAnswer(t *testing.T) {
	for name, c := range map[string]Command{
		"everything": Everything(t), "filesystem": Filesystem(t, t.TempDir()), "memory": Memory(t),
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(c.Path, c.Args...)
			cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "MEMORY_FILE_PATH="+t.TempDir()+"/memory.json")
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
			defer cmd.Wait()
			defer cmd.Process.Kill()
			io.WriteString(in, initialize+"\n")
			var answer struct {
				Result struct{ ProtocolVersion string }
			}
			if err := json.NewDecoder(out).Decode(&answer); err != nil || answer.Result.ProtocolVersion != "2025-11-25" {
				t.Errorf("%+v, %v", answer, err)
			}
		})
	}
}

func TestServersOverHTTPAnswer(t *testing.T) {
	for name, url := range map[string]string{
		"everything": ServeEverything(t), "gosdk": ServeGo(t, "gosdk-server", "-stateful"), "mcpgo": ServeGo(t, "mcpgo-server"),
	} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(initialize))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 || !strings.Contains(string(body), `"protocolVersion":"2025-11-25"`) {
			t.Errorf("%s: %d %s", name, resp.StatusCode, body)
		}
	}
}

func TestConformanceSuiteStarts(t *testing.T) {
	c := Conformance(t, "--version")
	out, err := exec.Command(c.Path, c.Args...).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "0.2.0-alpha.12" {
		t.Errorf("%s, %v", out, err)
	}
}
