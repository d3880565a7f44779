package fakeserver

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sink is where the messages that answer one request go: the pipe, or the
// request's own HTTP stream.
type sink interface {
	send(m any)
	answerRaw(b []byte)
}

// peer is one connection's server: a process, or one HTTP session.
type peer struct {
	script *Script
	exit   func(Exit)

	// broadcast sends what belongs to no request: the pipe, or the GET stream.
	broadcast func(m any)

	mu      sync.Mutex
	first   bool // no message has come yet
	modern  bool // a modern request has come
	seen    map[string]int
	nextID  int
	waiting map[string]chan message       // our requests, by id
	running map[string]context.CancelFunc // the client's requests, by id
	listen  map[string]sink               // subscriptions, by id
	rounds  map[string]int                // input_required rounds issued, by requestState
	added   int                           // tools added while running
	settled map[string]bool               // url elicitations done
}

func newPeer(s *Script, exit func(Exit)) *peer {
	return &peer{
		script:  s,
		exit:    exit,
		first:   true,
		seen:    map[string]int{},
		waiting: map[string]chan message{},
		running: map[string]context.CancelFunc{},
		listen:  map[string]sink{},
		rounds:  map[string]int{},
		settled: map[string]bool{},
	}
}

// handle takes one message. A request is answered from a goroutine of its own,
// which ends with ctx; the returned channel is closed when it has ended.
func (p *peer) handle(ctx context.Context, raw []byte, to sink) <-chan struct{} {
	done := make(chan struct{})
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		to.send(message{JSONRPC: "2.0", ID: json.RawMessage("null"), Error: &Error{Code: -32700, Message: "Parse error"}})
		close(done)
		return done
	}
	p.mu.Lock()
	first := p.first
	p.first = false
	p.mu.Unlock()
	if first && p.script.InitializeFirst != nil && m.Method != "initialize" {
		p.exit(*p.script.InitializeFirst)
	}
	switch {
	case m.Method == "":
		p.resolve(m)
		close(done)
	case m.ID == nil:
		p.notified(m)
		close(done)
	default:
		ctx, cancel := context.WithCancel(ctx)
		p.mu.Lock()
		p.running[string(m.ID)] = cancel
		p.mu.Unlock()
		go func() {
			defer close(done)
			p.request(ctx, m, to)
			cancel()
			p.mu.Lock()
			delete(p.running, string(m.ID))
			p.mu.Unlock()
		}()
	}
	return done
}

// resolve hands a client's answer to whoever asked.
func (p *peer) resolve(m message) {
	p.mu.Lock()
	ch := p.waiting[string(m.ID)]
	delete(p.waiting, string(m.ID))
	p.mu.Unlock()
	if ch != nil {
		ch <- m
	}
}

func (p *peer) notified(m message) {
	switch m.Method {
	case "notifications/initialized":
		for range p.script.Storm {
			p.broadcast(notification("notifications/tools/list_changed", nil))
		}
	case "notifications/cancelled":
		var ps params
		json.Unmarshal(m.Params, &ps)
		p.mu.Lock()
		cancel := p.running[string(ps.RequestID)]
		p.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	}
}

// request answers one request, unless it is cancelled first.
func (p *peer) request(ctx context.Context, m message, to sink) {
	var ps params
	json.Unmarshal(m.Params, &ps)
	if r, ok := p.reply(m.Method, ps.Name); ok && p.override(ctx, r, m, to) {
		return
	}
	result, rpcErr := p.dispatch(ctx, m, ps, to)
	if ctx.Err() != nil {
		return // cancelled: no answer
	}
	to.send(p.answer(m.ID, result, rpcErr))
}

func (p *peer) answer(id json.RawMessage, result any, rpcErr *Error) message {
	m := message{JSONRPC: "2.0", ID: disguise(id, p.script.IDs), Error: rpcErr}
	if rpcErr == nil {
		m.Result = encode(result)
	}
	return m
}

// reply finds the script's replacement for an answer, and counts it.
func (p *peer) reply(method, name string) (Reply, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range []string{method + " " + name, method, "*"} {
		r, ok := p.script.Replies[key]
		if !ok {
			continue
		}
		p.seen[key]++
		return r, r.Times == 0 || p.seen[key] <= r.Times
	}
	return Reply{}, false
}

// override plays a reply and tells whether that was the answer.
func (p *peer) override(ctx context.Context, r Reply, m message, to sink) bool {
	if !pause(ctx, r.After) {
		return true
	}
	switch {
	case r.Silent:
		<-ctx.Done()
	case r.Exit != nil:
		p.exit(*r.Exit)
	case r.Raw != "":
		to.answerRaw([]byte(strings.ReplaceAll(r.Raw, "$id", string(m.ID))))
	case r.Error != nil:
		to.send(p.answer(m.ID, nil, r.Error))
	case r.Result != nil:
		to.send(p.answer(m.ID, r.Result, nil))
	default:
		return false
	}
	return true
}

// pause waits and tells whether the context outlived the wait.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (p *peer) dispatch(ctx context.Context, m message, ps params, to sink) (any, *Error) {
	modern := ps.Meta.ProtocolVersion != ""
	if rpcErr := p.admit(m.Method, ps, modern); rpcErr != nil {
		return nil, rpcErr
	}
	switch m.Method {
	case "initialize":
		return p.initialize(ps), nil
	case "server/discover":
		return p.discover(), nil
	case "ping", "logging/setLevel":
		return struct{}{}, nil
	case "tools/list":
		return p.listTools(ps.Cursor, modern)
	case "tools/call":
		return p.call(ctx, m, ps, modern, to)
	case "subscriptions/listen":
		return p.subscribe(ctx, m, ps, to)
	default:
		return nil, &Error{Code: -32601, Message: "Method not found"}
	}
}

// admit refuses what the server's era does not know.
func (p *peer) admit(method string, ps params, modern bool) *Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	era := p.script.Era
	if era == "" {
		era = Legacy
	}
	switch {
	case method == "initialize" && era == Modern:
		return p.unsupported(ps.ProtocolVersion)
	case method == "initialize" && era == Dual && p.modern:
		return &Error{Code: 0, Message: `duplicate "initialize" received`}
	case method == "server/discover" && era == Legacy, method == "subscriptions/listen" && era == Legacy:
		return &Error{Code: -32601, Message: "Method not found"}
	case era == Modern && !modern:
		return &Error{Code: -32602, Message: "Invalid params: _meta is missing the protocol version"}
	}
	if era != Legacy && modern {
		p.modern = true
		if method != "server/discover" && !slices.Contains(p.script.versions(), ps.Meta.ProtocolVersion) {
			return p.unsupported(ps.Meta.ProtocolVersion)
		}
	}
	return nil
}

func (p *peer) unsupported(requested string) *Error {
	return &Error{
		Code: -32022, Message: "Unsupported protocol version",
		Data: encode(map[string]any{"supported": p.script.versions(), "requested": requested}),
	}
}

func (p *peer) initialize(ps params) any {
	version := p.script.Negotiate
	if version == "" {
		version = legacyVersions[0]
		if slices.Contains(legacyVersions, ps.ProtocolVersion) {
			version = ps.ProtocolVersion
		}
	}
	return struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Capabilities    json.RawMessage `json:"capabilities"`
		ServerInfo      info            `json:"serverInfo"`
		Instructions    string          `json:"instructions,omitempty"`
	}{version, p.script.capabilities(), p.info(), p.script.Instructions}
}

type info struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func (p *peer) info() info { return info{p.script.name(), "1.0.0"} }

func (p *peer) discover() any {
	return struct {
		ResultType        string          `json:"resultType"`
		SupportedVersions []string        `json:"supportedVersions"`
		Capabilities      json.RawMessage `json:"capabilities"`
		Instructions      string          `json:"instructions,omitempty"`
		TTL               int             `json:"ttlMs"`
		CacheScope        string          `json:"cacheScope"`
		Meta              map[string]any  `json:"_meta"`
	}{
		"complete", p.script.versions(), p.script.capabilities(), p.script.Instructions, 0, "private",
		map[string]any{"io.modelcontextprotocol/serverInfo": p.info()},
	}
}

// ask sends a request to the client and waits for its answer.
func (p *peer) ask(ctx context.Context, method string, params any, to sink) (message, bool) {
	ch := make(chan message, 1)
	p.mu.Lock()
	p.nextID++
	id := `"ask-` + strconv.Itoa(p.nextID) + `"`
	p.waiting[id] = ch
	p.mu.Unlock()
	m := notification(method, params)
	m.ID = json.RawMessage(id)
	to.send(m)
	select {
	case <-ctx.Done():
		return message{}, false
	case answer := <-ch:
		return answer, true
	}
}
