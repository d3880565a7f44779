package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// door is a running HTTP front door.
type door struct {
	t    *testing.T
	http *HTTP
	port int
	stop func() error
}

func open(t *testing.T, s *Server, change func(*HTTPOptions)) *door {
	t.Helper()
	o := HTTPOptions{Authorization: NoAuthorization, Endpoint: func(_, path string) (*Server, bool) { return s, path == "/mcp" }}
	if change != nil {
		change(&o)
	}
	h, err := NewHTTP(o)
	if err != nil {
		t.Fatal(err)
	}
	lns, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, 10*time.Second, lns...) }()
	stopped := false
	d := &door{t: t, http: h, port: lns[0].Addr().(*net.TCPAddr).Port}
	d.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-done
	}
	t.Cleanup(func() {
		if err := d.stop(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return d
}

func (d *door) url() string { return fmt.Sprintf("http://127.0.0.1:%d/mcp", d.port) }

// do sends one request; headers are "Name: value" and replace the usual ones, a
// value of "-" removes one.
func (d *door) do(method, body string, headers ...string) *http.Response {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	d.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, d.url(), strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch {
		case value == "-":
			r.Header.Del(name)
		case name == "Host":
			r.Host = value
		case name == "Path":
			r.URL.Path = value
		default:
			r.Header.Set(name, value)
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// modern sends a modern request with the headers it needs.
func (d *door) modern(id, method, params string, headers ...string) *http.Response {
	d.t.Helper()
	hs := []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}
	f := fieldsOf(json.RawMessage(`{` + params + `}`))
	if member := mcp.TargetParam(method); member != "" {
		var name string
		_ = json.Unmarshal(f[member], &name)
		hs = append(hs, "Mcp-Name: "+name)
	}
	if f["_meta"] == nil {
		if params != "" {
			params += ","
		}
		params += meta(`{"elicitation":{}}`)
	}
	return d.do("POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params), append(hs, headers...)...)
}

// session opens a legacy session and returns its header.
func (d *door) session(version, capabilities string) string {
	d.t.Helper()
	res := d.do("POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":%s}}`, version, capabilities))
	if m := decode(d.t, res); m.Error != nil {
		d.t.Fatalf("got %s", m.Append(nil))
	}
	id := res.Header.Get("Mcp-Session-Id")
	if id == "" {
		d.t.Fatal("no session id")
	}
	h := "Mcp-Session-Id: " + id
	if res := d.do("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, h); res.StatusCode != http.StatusAccepted {
		d.t.Fatal("initialized got", res.Status)
	}
	return h
}

func decode(t *testing.T, res *http.Response) *jsonrpc.Message {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	m, err := jsonrpc.DecodeLenient(body)
	if err != nil {
		t.Fatalf("%v in %q (%s)", err, body, res.Status)
	}
	return m
}

// sse is one server-sent event.
type sse struct{ id, retry, data string }

// events reads the server-sent events of a response.
type events struct{ r *bufio.Reader }

func readEvents(res *http.Response) *events { return &events{bufio.NewReader(res.Body)} }

// next is the next event; false at the stream's end.
func (e *events) next() (sse, bool) {
	var x sse
	seen := false
	for {
		line, err := e.r.ReadString('\n')
		if err != nil {
			return x, false
		}
		line = strings.TrimRight(line, "\r\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && seen:
			return x, true
		case line == "" || name == "":
			continue // a comment or its end
		case name == "id":
			x.id = value
		case name == "retry":
			x.retry = value
		case name == "data":
			x.data += value
		}
		seen = true
	}
}

// message reads up to the next event that is a message.
func (e *events) message(t *testing.T) (*jsonrpc.Message, sse) {
	t.Helper()
	for {
		x, ok := e.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if x.data == "" {
			continue
		}
		m, err := jsonrpc.DecodeLenient([]byte(x.data))
		if err != nil {
			t.Fatalf("%v in %q", err, x.data)
		}
		return m, x
	}
}

// S10, field case 89: who may speak at all, on every path and method.
func TestHostAndOrigin(t *testing.T) {
	d := open(t, serve(t, Limits{}, map[string]Handler{"hi": say("hi")}), nil)
	here := fmt.Sprint("127.0.0.1:", d.port)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{%s}}`, meta(`{}`))
	good := []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list"}
	for _, c := range []struct {
		header string
		ok     bool
	}{
		{"Host: " + here, true},
		{fmt.Sprint("Host: localhost:", d.port), true},
		{fmt.Sprint("Host: LocalHost:", d.port), true},
		{fmt.Sprint("Host: [::1]:", d.port), true},
		{"Host: evil.example:8180", false},
		{fmt.Sprint("Host: evil.example:", d.port), false},
		{fmt.Sprint("Host: localhost.evil.example:", d.port), false},
		{fmt.Sprint("Host: localhost:", d.port+1), false},
		{"Host: localhost", false},
		{fmt.Sprint("Host: 127.0.0.2:", d.port), false},
		{fmt.Sprint("Host: 0.0.0.0:", d.port), false},
		{"Origin: http://" + here, true},
		{fmt.Sprint("Origin: http://localhost:", d.port), true},
		{"Origin: https://evil.example", false},
		{"Origin: null", false},
		{"Origin: http://localhost.evil.example", false},
		{fmt.Sprint("Origin: http://localhost:", d.port+1), false},
		{"Origin: http://localhost", false},
		{"Origin: https://" + here, false},
		{"Origin: http://" + here + "/", false},
		{"Origin: http://x@" + here, false},
		{"Origin: file://", false},
	} {
		res := d.do("POST", body, append(good[:2:2], c.header)...)
		if want := map[bool]int{true: 200, false: 403}[c.ok]; res.StatusCode != want {
			t.Errorf("%s: %s", c.header, res.Status)
		}
		if res.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: a CORS header was sent", c.header)
		}
		if c.ok {
			continue
		}
		for _, method := range []string{"GET", "DELETE", "OPTIONS", "PUT"} {
			for _, path := range []string{"/", "/mcp", "/other"} {
				if res := d.do(method, "", c.header, "Path: "+path); res.StatusCode != 403 {
					t.Errorf("%s %s %s: %s", method, path, c.header, res.Status)
				}
			}
		}
	}
	for _, hs := range [][]string{nil, {"Origin: http://" + here, "Access-Control-Request-Method: POST"}} {
		if res := d.do("OPTIONS", "", hs...); res.StatusCode != 405 || res.Header.Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("OPTIONS: %s", res.Status)
		}
	}
}

// The check happens before anything else: a refused request runs nothing.
func TestRefusedRequestsRunNothing(t *testing.T) {
	ran := make(chan struct{}, 1)
	d := open(t, serve(t, Limits{}, map[string]Handler{"touch": func(context.Context, *Call) (any, error) {
		ran <- struct{}{}
		return "x", nil
	}}), nil)
	if res := d.modern(`1`, "tools/call", `"name":"touch"`, "Origin: https://evil.example"); res.StatusCode != 403 {
		t.Error(res.Status)
	}
	if res := d.modern(`1`, "tools/call", `"name":"touch"`, "Content-Type: text/plain"); res.StatusCode != 415 {
		t.Error(res.Status)
	}
	select {
	case <-ran:
		t.Error("the tool ran")
	default:
	}
}

// S5, S10: no door without a chosen authorization, none on a public address; and a
// refused client is told nothing else.
func TestAuthorizationIsChosen(t *testing.T) {
	if _, err := NewHTTP(HTTPOptions{}); !errors.Is(err, ErrNoAuthorization) {
		t.Error("got", err)
	}
	d := open(t, serve(t, Limits{}, map[string]Handler{"who": func(_ context.Context, call *Call) (any, error) { return call.Peer.Owner, nil }}), func(o *HTTPOptions) { o.Authorization = password{} })
	for _, path := range []string{"/mcp", "/nothing"} {
		if res := d.do("POST", `{}`, "Path: "+path); res.StatusCode != 401 || res.Header.Get("WWW-Authenticate") == "" {
			t.Error(path, res.Status)
		}
	}
	res := d.modern(`1`, "tools/call", `"name":"who"`, "Authorization: alice")
	if got := text(decode(t, res)); got != "alice" {
		t.Error("the owner is", got)
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "[::]:0", "example.com:0"} {
		if _, err := Listen(addr); !errors.Is(err, ErrNotLoopback) {
			t.Errorf("%s: got %v", addr, err)
		}
	}
	all, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.http.Serve(t.Context(), time.Second, all); !errors.Is(err, ErrNotLoopback) {
		t.Error("a public listener got", err)
	}
}

type password struct{}

func (password) Authenticate(r *http.Request) (string, error) {
	if name := r.Header.Get("Authorization"); name != "" {
		return name, nil
	}
	return "", errors.New("who are you")
}

// S10, field case 28: content types are parsed; bodies are bounded.
func TestBodies(t *testing.T) {
	d := open(t, serve(t, Limits{}, map[string]Handler{"hi": say("hi")}), func(o *HTTPOptions) { o.MaxBody = 4096 })
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{%s}}`, meta(`{}`))
	for _, c := range []struct {
		header, body string
		want         int
	}{
		{"Content-Type: application/json; charset=utf-8", body, 200},
		{"Content-Type: Application/JSON;charset=UTF-8", body, 200},
		{"Content-Type: text/plain", body, 415},
		{"Content-Type: application/x-www-form-urlencoded", body, 415},
		{"Content-Type: application/jsonx", body, 415},
		{"Content-Type: -", body, 415},
		{"Content-Encoding: gzip", body, 415},
		{"Content-Encoding: identity", body, 200},
		{"Accept: -", body, 200},
		{"Accept: */*", body, 200},
		{"Accept: application/json", body, 200},
		{"Accept: text/event-stream;q=0.5", body, 200},
		{"Accept: text/html", body, 406},
		{"X: y", strings.Repeat(" ", 4096) + body, 413},
		{"X: y", ``, 400},
		{"X: y", `{`, 400},
		{"X: y", `[` + body + `]`, 400},
		{"X: y", `{}`, 400},
		{"X: y", strings.Repeat(`[`, 4000), 400},
		{"X: y", `{"jsonrpc":"2.0","id":5,"method":"","params":{}}`, 400}, // field case 21
		{"X: y", `{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}`, 400},
		{"Path: /other", body, 404},
	} {
		res := d.do("POST", c.body, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list", c.header)
		if res.StatusCode != c.want {
			t.Errorf("%s %.40q: %s", c.header, c.body, res.Status)
		}
		if c.want == 400 {
			m := decode(t, res)
			if want := strings.Contains(c.body, `"id":5`); m.Error == nil || (m.ID == jsonrpc.IntID(5)) != want {
				t.Errorf("%.40q: got %s", c.body, m.Append(nil))
			}
		}
	}
}

// S10: a stop ends streams with their results, lets calls finish, and leaves nothing.
func TestGracefulStop(t *testing.T) {
	started, gate := make(chan struct{}), make(chan struct{})
	s := serve(t, Limits{}, map[string]Handler{"slow": func(ctx context.Context, _ *Call) (any, error) {
		close(started)
		<-gate
		return "finished", nil
	}})
	d := open(t, s, nil)
	listen := readEvents(d.modern(`"l"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
	listen.message(t)
	own := d.do("GET", "", d.session("2025-11-25", `{}`))
	called := make(chan string, 1)
	go func() { called <- text(decode(t, d.modern(`1`, "tools/call", `"name":"slow"`))) }()
	<-started
	stopped := make(chan error, 1)
	go func() { stopped <- d.stop() }()
	if m, _ := listen.message(t); m.Method != mcp.NotifyCancelled {
		t.Errorf("got %s", m.Append(nil))
	}
	if m, _ := listen.message(t); m.ID != jsonrpc.StringID("l") || m.Result == nil {
		t.Errorf("got %s", m.Append(nil))
	}
	if _, err := io.ReadAll(own.Body); err != nil {
		t.Error("the session's stream:", err)
	}
	close(gate)
	if got := <-called; got != "finished" {
		t.Error("the call got", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// A connection that a client opened ahead and never used does not hold up a stop.
func TestUnusedConnectionsDoNotDelayTheStop(t *testing.T) {
	d := open(t, serve(t, Limits{}, nil), nil)
	c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", d.port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	d.do("OPTIONS", "") // by now the other was accepted
	start := time.Now()
	if err := d.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Error("stopping took", took)
	}
}
