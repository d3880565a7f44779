package transport_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

// mailServer is a server of 2024-11-05: a stream at /sse, messages at /messages.
type mailServer struct {
	*httptest.Server
	seenRequests
	// endpoint is what the endpoint event says, before the number of the stream; %s
	// is the server's origin.
	endpoint string
	// refuse answers whatever is POSTed to /sse; nil gives 405.
	refuse func(w http.ResponseWriter)
	// open, if set, answers the GET in place of the stream.
	open func(w http.ResponseWriter, r *http.Request)
	// post, if set, is asked first for every message; true means it answered.
	post func(w http.ResponseWriter, r *http.Request, body string) bool

	peer transporttest.Server
	wire sync.Mutex // over what follows
	outs []http.ResponseWriter
	gone chan struct{} // closed by die
	life context.Context
}

func serveMail(t testing.TB, s *mailServer) *mailServer {
	t.Helper()
	if s.endpoint == "" {
		s.endpoint = "/messages?stream="
	}
	s.gone = make(chan struct{})
	life, end := context.WithCancel(context.Background())
	s.life = life
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sse", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.add(r, string(body))
		if s.refuse != nil {
			s.refuse(w)
			return
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
	})
	mux.HandleFunc("GET /sse", s.stream)
	mux.HandleFunc("POST /messages", func(w http.ResponseWriter, r *http.Request) { s.take(t, w, r) })
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		end()
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *mailServer) stream(w http.ResponseWriter, r *http.Request) {
	s.add(r, "")
	if s.open != nil {
		s.open(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s.wire.Lock()
	s.outs = append(s.outs, w)
	number := len(s.outs) - 1
	endpoint := s.endpoint
	if endpoint[0] == '%' {
		endpoint = fmt.Sprintf(endpoint, s.URL)
	}
	fmt.Fprintf(w, ": hello\n\nevent: ping\ndata: 1\n\nevent: endpoint\ndata: %s%d\n\n", endpoint, number)
	w.(http.Flusher).Flush()
	s.wire.Unlock()
	select {
	case <-r.Context().Done():
	case <-s.gone:
	}
	s.wire.Lock()
	defer s.wire.Unlock()
	s.outs[number] = nil
}

// take plays the suite's server behind the wire.
func (s *mailServer) take(t testing.TB, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.add(r, string(body))
	if s.post != nil && s.post(w, r, string(body)) {
		return
	}
	number, err := strconv.Atoi(r.URL.Query().Get("stream"))
	if err != nil {
		t.Errorf("posted to %s", r.URL)
		return
	}
	m, err := jsonrpc.Decode(body)
	if err != nil {
		t.Errorf("the server got %q: %v", body, err)
		return
	}
	switch m.Method {
	case transporttest.MethodFail:
		w.WriteHeader(http.StatusInternalServerError)
		return
	case transporttest.MethodDie:
		w.WriteHeader(http.StatusAccepted)
		close(s.gone)
		return
	case "initialize":
		s.say(number, reply(string(body), `{"protocolVersion":"2025-11-25"}`))
	default:
		s.peer.Handle(s.life, m, func(m *jsonrpc.Message) { s.say(number, string(m.Append(nil))) })
	}
	w.WriteHeader(http.StatusAccepted)
}

// say sends a message on a stream, if it is still open.
func (s *mailServer) say(number int, text string) {
	s.wire.Lock()
	defer s.wire.Unlock()
	if out := s.outs[number]; out != nil {
		fmt.Fprintf(out, "event: message\ndata: %s\n\n", text)
		out.(http.Flusher).Flush()
	}
}
