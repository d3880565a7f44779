package transport_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// One operation is one call to a server on loopback and back.
func BenchmarkHTTPRoundTrip(b *testing.B) {
	for _, form := range []string{"json", "sse"} {
		url := handler(b, func(w http.ResponseWriter, _ *http.Request, body string) {
			if form == "json" {
				writeJSON(w, reply(body, `{"ok":true}`))
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+reply(body, `{"ok":true}`)+"\n\n")
		})
		for _, callers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/callers=%d", form, callers), func(b *testing.B) {
				var w waiters
				conn, err := newHTTP(b, transport.HTTPConfig{URL: url}).Connect(b.Context(), &w)
				if err != nil {
					b.Fatal(err)
				}
				defer conn.Close()
				conn.Adopt(mcp.V20260728)
				b.ReportAllocs()
				var next, left atomic.Int64
				left.Store(int64(b.N))
				b.ResetTimer()
				var wg sync.WaitGroup
				for range callers {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							id := next.Add(1)
							done := make(chan struct{})
							w.byID.Store(id, done)
							if err := conn.Send(id, transport.Request{Method: mcp.MethodToolsCall, Params: json.RawMessage(`{"name":"x"}`)}); err != nil {
								b.Error(err)
								return
							}
							<-done
						}
					})
				}
				wg.Wait()
			})
		}
	}
}

// One operation is reading a stream of 1,000 events of 200 bytes.
func BenchmarkEvents(b *testing.B) {
	stream := strings.Repeat("event: message\ndata: "+strings.Repeat("x", 200)+"\n\n", 1000)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		if events, _, _ := transport.ReadEventsForTest(strings.NewReader(stream), 1<<20); len(events) != 1000 {
			b.Fatal(len(events))
		}
	}
}
