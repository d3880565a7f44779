package transport_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// Acceptance 49, T2: what a server says to a response is nobody's outcome, be it a
// 202 without a body or a refusal, and costs neither the connection nor the breaker.
func TestResponseHasNoOutcome(t *testing.T) {
	for name, status := range map[string]int{"accepted": http.StatusAccepted, "empty": http.StatusNoContent, "refused": http.StatusBadRequest} {
		t.Run(name, func(t *testing.T) {
			var seen seenRequests
			url := handler(t, func(w http.ResponseWriter, r *http.Request, body string) {
				if strings.Contains(body, `"error"`) {
					w.WriteHeader(status)
					seen.add(r, body)
					return
				}
				writeJSON(w, reply(body, `{}`))
			})
			w := openWeb(t, transport.HTTPConfig{URL: url})
			w.conn.Adopt(mcp.V20251125)
			refusal := jsonrpc.Refuse(jsonrpc.StringID("q"), jsonrpc.Errorf(-32601, "Method not found"))
			if err := w.conn.Respond(mcp.MethodElicit, refusal); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the response", func() bool { return len(seen.all()) == 1 })
			if got, want := seen.all()[0].Body, `{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"Method not found"}}`; got != want {
				t.Errorf("sent %s, want %s", got, want)
			}
			w.call(mcp.MethodToolsList, `{}`)
			w.conn.Close() // returns when nothing runs any more
			for _, e := range w.sink.Events() {
				if !e.Ends(w.next) && e.Msg != nil {
					t.Errorf("the answer to a response came up as %v", e)
				}
			}
		})
	}
}
