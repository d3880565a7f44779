package transport_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

// The seam's sentences, in both eras.
func TestHTTPSeam(t *testing.T) {
	for _, v := range []mcp.Version{mcp.V20260728, mcp.V20251125} {
		t.Run(string(v), func(t *testing.T) {
			transporttest.Run(t, transporttest.Binding{
				Dialer: func(t *testing.T, gate transport.Gate) transport.Dialer {
					return newHTTP(t, transport.HTTPConfig{URL: serveSuite(t), Gate: gate})
				},
				Version: v,
				Streams: true,
				NoAsks:  v.Modern(),
			})
		})
	}
}

// serveSuite puts the suite's server behind event streams and returns its URL.
func serveSuite(t *testing.T) string {
	var peer transporttest.Server
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		m, err := jsonrpc.Decode(body)
		if err != nil {
			t.Errorf("the server got %q: %v", body, err)
			return
		}
		switch m.Method {
		case transporttest.MethodFail:
			panic(http.ErrAbortHandler)
		case transporttest.MethodDie:
			go srv.CloseClientConnections()
			<-r.Context().Done()
			return
		}
		if m.Kind() != jsonrpc.Request {
			<-peer.Handle(r.Context(), m, nil)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		<-peer.Handle(r.Context(), m, func(m *jsonrpc.Message) {
			_, _ = w.Write(append(m.Append([]byte("data: ")), "\n\n"...))
			w.(http.Flusher).Flush()
		})
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}
