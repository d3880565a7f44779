package transporttest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// The methods that the suite sends.
const (
	// MethodEcho answers with its params.
	MethodEcho = "test/echo"
	// MethodHold sends the notification NoteHolding and never answers.
	MethodHold = "test/hold"
	// MethodFlood sends n notifications NoteSeq, {"seq":0}…, each with pad bytes
	// of padding, then answers. Params: {"n":…,"pad":…}.
	MethodFlood = "test/flood"
	// MethodTwice answers two times.
	MethodTwice = "test/twice"
	// MethodAsk sends a roots/list request and answers with what came back.
	MethodAsk = "test/ask"
	// MethodSeen answers {"cancelled":[…],"notified":[…]}: the ids of requests
	// whose cancellation was noticed, and the methods of notifications, in order.
	MethodSeen = "test/seen"
	// MethodFail fails this one request on the wire. The host plays it.
	MethodFail = "test/fail"
	// MethodDie ends the server without an answer. The host plays it.
	MethodDie = "test/die"

	NoteHolding = "test/holding"
	NoteSeq     = "test/seq"
)

// Server is the suite's peer, whatever wire it sits behind. The zero Server is
// ready; one Server serves one dialer.
type Server struct {
	mu        sync.Mutex
	running   map[jsonrpc.ID]context.CancelFunc
	asked     map[jsonrpc.ID]chan *jsonrpc.Message
	asks      int
	cancelled []string
	notified  []string
}

// Handle takes one message of the client. It does not block: a request is played
// by a goroutine of its own, which gives everything that belongs to it to send,
// in order, and closes the returned channel at the end. ctx is the life of the
// request's stream, or of the connection where there are no streams.
func (s *Server) Handle(ctx context.Context, m *jsonrpc.Message, send func(*jsonrpc.Message)) <-chan struct{} {
	done := make(chan struct{})
	switch m.Kind() {
	case jsonrpc.Request:
		ctx, cancel := context.WithCancel(ctx)
		s.mu.Lock()
		if s.running == nil {
			s.running = map[jsonrpc.ID]context.CancelFunc{}
		}
		s.running[m.ID] = cancel
		s.mu.Unlock()
		go func() {
			defer close(done)
			s.play(ctx, m, send)
			s.mu.Lock()
			delete(s.running, m.ID)
			s.mu.Unlock()
			cancel()
		}()
		return done
	case jsonrpc.Notification:
		s.notice(m)
	case jsonrpc.Response:
		s.mu.Lock()
		answer := s.asked[m.ID]
		delete(s.asked, m.ID)
		s.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
	close(done)
	return done
}

func (s *Server) notice(m *jsonrpc.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notified = append(s.notified, m.Method)
	if m.Method != mcp.NotifyCancelled {
		return
	}
	var id jsonrpc.ID
	if json.Unmarshal(jsonrpc.Get(m.Params, "requestId"), &id) == nil && s.running[id] != nil {
		s.running[id]()
	}
}

func (s *Server) play(ctx context.Context, m *jsonrpc.Message, send func(*jsonrpc.Message)) {
	switch m.Method {
	case MethodEcho, MethodTwice:
		result := m.Params
		if result == nil {
			result = json.RawMessage(`{}`)
		}
		send(jsonrpc.Reply(m.ID, result))
		if m.Method == MethodTwice {
			send(jsonrpc.Reply(m.ID, result))
		}
	case MethodHold:
		send(jsonrpc.Notify(NoteHolding, nil))
		<-ctx.Done()
		s.mu.Lock()
		s.cancelled = append(s.cancelled, m.ID.String())
		s.mu.Unlock()
	case MethodFlood:
		var p struct{ N, Pad int }
		if err := json.Unmarshal(m.Params, &p); err != nil {
			send(jsonrpc.Refuse(m.ID, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "%v", err)))
			return
		}
		for i := range p.N {
			send(jsonrpc.Notify(NoteSeq, fmt.Appendf(nil, `{"seq":%d,"pad":"%s"}`, i, strings.Repeat("x", p.Pad))))
		}
		send(jsonrpc.Reply(m.ID, fmt.Appendf(nil, `{"n":%d}`, p.N)))
	case MethodAsk:
		s.ask(ctx, m, send)
	case MethodSeen:
		s.mu.Lock()
		seen, err := json.Marshal(Seen{slices.Clone(s.cancelled), slices.Clone(s.notified)})
		s.mu.Unlock()
		if err != nil {
			panic(err)
		}
		send(jsonrpc.Reply(m.ID, seen))
	default:
		send(jsonrpc.Refuse(m.ID, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "Method not found")))
	}
}

// Seen is the answer to MethodSeen.
type Seen struct {
	Cancelled []string `json:"cancelled"`
	Notified  []string `json:"notified"`
}

func (s *Server) ask(ctx context.Context, m *jsonrpc.Message, send func(*jsonrpc.Message)) {
	answer := make(chan *jsonrpc.Message, 1)
	s.mu.Lock()
	s.asks++
	id := jsonrpc.StringID(fmt.Sprintf("ask-%d", s.asks))
	if s.asked == nil {
		s.asked = map[jsonrpc.ID]chan *jsonrpc.Message{}
	}
	s.asked[id] = answer
	s.mu.Unlock()
	send(jsonrpc.Call(id, mcp.MethodRootsList, nil))
	select {
	case <-ctx.Done():
	case a := <-answer:
		send(jsonrpc.Reply(m.ID, a.Result))
	}
}
