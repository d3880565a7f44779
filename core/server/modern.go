package server

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

var lastConn atomic.Int64

func nextConn() string { return "http-" + strconv.FormatInt(lastConn.Add(1), 10) }

// modern answers one request that stands alone (2026-07-28 streamable-http). When
// its client goes, it is cancelled.
func (h *HTTP) modern(w http.ResponseWriter, r *http.Request, s *Server, client string, accept acceptance, m *jsonrpc.Message, params, meta map[string]json.RawMessage) {
	switch m.Kind() {
	case jsonrpc.Notification:
		// The revision defines none over HTTP; there is nothing to do for one.
		w.WriteHeader(http.StatusAccepted)
		return
	case jsonrpc.Response:
		refuse(w, http.StatusBadRequest, jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "clients must not send responses"))
		return
	}
	who, err := modernCaller(meta)
	if err == nil {
		err = checkVersionHeader(r.Header, who.Version)
	}
	if err == nil {
		err = supports(who.Version)
	}
	if err == nil {
		err = checkHeaders(r.Header, m, params, s.registry)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, m.ID, err)
		return
	}
	st := newStream(false)
	conn := s.Open(Peer{ID: nextConn(), Owner: client, Client: client, Transport: HTTPTransport}, oneRequest{st})
	defer conn.Close()
	conn.Handle(m)
	if m.Method == mcp.MethodListen {
		go func() { // a stop of the door ends the stream with its final result
			select {
			case <-h.stop:
				conn.Drain()
			case <-r.Context().Done(): // the response is over
			}
		}()
	}
	d := delivery{stream: st, plain: !accept.sse, sse: !accept.json}
	d.run(r.Context(), w)
}

// oneRequest is the outlet of a connection that lives for one request.
type oneRequest struct{ *stream }

// Send queues the message for the response; see [stream].
func (o oneRequest) Send(_ context.Context, m *jsonrpc.Message, _ jsonrpc.ID) error {
	o.append(m)
	return nil
}

// Ended ends the response.
func (o oneRequest) Ended(jsonrpc.ID) { o.end() }
