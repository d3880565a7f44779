package transport_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// waiters is a sink that wakes the caller of each id.
type waiters struct{ byID sync.Map }

func (w *waiters) Message(_ int64, m *jsonrpc.Message) {
	id, _ := m.ID.Int64()
	if done, ok := w.byID.LoadAndDelete(id); ok {
		close(done.(chan struct{}))
	}
}
func (*waiters) Alive(int64)         {}
func (*waiters) Failed(int64, error) {}
func (*waiters) Settled(int64)       {}
func (*waiters) Closed(error)        {}

// One operation is one call to an echo server in another process and back.
func BenchmarkStdioRoundTrip(b *testing.B) {
	for _, size := range []int{100, 100_000} {
		for _, callers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("bytes=%d/callers=%d", size, callers), func(b *testing.B) {
				var w waiters
				conn := play(b, transport.StdioConfig{}, &w, "echo")
				params := json.RawMessage(`{"x":"` + strings.Repeat("x", size) + `"}`)
				b.SetBytes(int64(2 * size))
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
							if err := conn.Send(id, transport.Request{Method: "m", Params: params}); err != nil {
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
