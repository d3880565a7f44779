package transport_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

// Acceptance 37, T6: whoever prints a dialer, its configuration or a connection in
// use sees names, and "[redacted]" in the place of values.
func TestPrintingShowsNoSecret(t *testing.T) {
	srv := fakeserver.StartHTTP(t, fakeserver.HTTP{})
	remote := transport.HTTPConfig{
		URL:     strings.Replace(srv.URL, "://", "://me:secret@", 1) + "?key=secret#secret",
		Headers: []transport.Header{{Name: "Authorization", Value: "Bearer secret"}, {Name: "X-Team", Value: "secret"}},
	}
	web := openWeb(t, remote)
	web.shake()
	command, args := fakeserver.Command(t, fakeserver.Script{Name: "secret"})
	local := transport.StdioConfig{Command: command, Args: args, Env: []string{"TOKEN=secret", "ODD"}}
	var r transporttest.Recorder
	pipe := openStdio(t, local, &r)
	for name, v := range map[string]any{
		"header": remote.Headers[0], "headers": remote.Headers, "request": transport.Request{Method: "m", ParamHeaders: remote.Headers},
		"HTTP config": remote, "HTTP dialer": newHTTP(t, remote), "HTTP connection": web.conn,
		"stdio config": local, "stdio dialer": transport.NewStdio(local), "stdio connection": pipe,
		"in a struct": struct {
			D transport.Dialer
			C transport.HTTPConfig
		}{newHTTP(t, remote), remote},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			text := fmt.Sprintf(verb, v)
			if strings.Contains(text, "secret") || strings.Contains(text, "session-1") || strings.Contains(text, fmt.Sprintf("%x", "secret")) {
				t.Errorf("%s with %s: %s", name, verb, text)
			}
			if strings.HasPrefix(name, "h") && !strings.Contains(text, "Authorization: [redacted]") {
				t.Errorf("%s with %s names nothing: %s", name, verb, text)
			}
		}
		// Encoding may fail: a configuration holds functions.
		if b, err := json.Marshal(v); err == nil && strings.Contains(string(b), "secret") {
			t.Errorf("%s as JSON: %s", name, b)
		}
	}
	if got, want := fmt.Sprint(newHTTP(t, remote)), "HTTP server at "+web.origin+" [Authorization: [redacted] X-Team: [redacted]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want := fmt.Sprintf("stdio server %s with %d arguments [TOKEN=[redacted] ODD=[redacted]]", command, len(args))
	if got := fmt.Sprint(transport.NewStdio(local)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
