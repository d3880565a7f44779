package hub

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/gateway"
	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
)

// An AI client calls a tool of a configured server through the gateway; the call waits
// in the snapshot until the person decides, and no token is anybody's (G5, S6, A1).
func TestACallThroughTheGateway(t *testing.T) {
	r := newRig(t, map[string]entry{"old": fake(t, fakeserver.Script{})}, func(c *Config) {
		c.Gateway = &GatewayConfig{Addr: "127.0.0.1:0"}
	})
	r.server("old", Ready)
	var url string
	r.until("the gateway is open", func(s *Snapshot) bool { url = s.Gateway.URL; return url != "" })
	clients, err := r.Clients()
	if err != nil {
		t.Fatal(err)
	}
	token, err := clients.Add("editor", gateway.Access{})
	if err != nil {
		t.Fatal(err)
	}
	tool := r.Tools("old")[0].Name
	if status, _ := post(t, url, "dbr_nobody", "old__"+tool); status != http.StatusUnauthorized {
		t.Errorf("a stranger got %d", status)
	}
	for _, allow := range []bool{false, true} {
		answered := make(chan string, 1)
		go func() {
			_, body := post(t, url, token, "old__"+tool)
			answered <- body
		}()
		var a *Ask
		r.until("the call waits", func(s *Snapshot) bool {
			if len(s.Asks) > 0 {
				a = s.Asks[0]
			}
			return a != nil
		})
		if a.Client != "editor" || a.Server != "old" || a.Tool != tool || a.Why == "" {
			t.Errorf("got %+v", a)
		}
		if p := (&Snapshot{Asks: []*Ask{a}}).Public(); p.Asks[0].Arguments != nil {
			t.Error("the status shows a call's arguments")
		}
		if allow {
			err = r.Allow(a.ID, AllowOnce, "test")
		} else {
			err = r.Deny(a.ID, "test")
		}
		if err != nil {
			t.Fatal(err)
		}
		body := <-answered
		if denied := strings.Contains(body, "authorization_required"); denied == allow || !strings.Contains(body, `"content"`) {
			t.Errorf("allowed %v: got %s", allow, body)
		}
		r.until("nothing waits", func(s *Snapshot) bool { return len(s.Asks) == 0 })
	}
}

// post calls a tool as a client of 2026-07-28 does.
func post(t *testing.T, url, token, tool string) (int, string) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + token,
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		req.Header.Set(name, value)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(b)
}
