package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
)

// pipe is a client on a pair of pipes.
type pipe struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	raw  *io.PipeReader
	done chan error
}

func stdio(t *testing.T, ctx context.Context, s *Server) *pipe {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &pipe{t, inW, bufio.NewReader(outR), outR, make(chan error, 1)}
	go func() {
		err := ServeStdio(ctx, s, inR, outW)
		_ = outW.Close()
		p.done <- err
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		_ = outR.Close()
	})
	return p
}

func (p *pipe) write(s string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, s); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pipe) read() *jsonrpc.Message {
	p.t.Helper()
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	m, err := jsonrpc.DecodeLenient(line)
	if err != nil {
		p.t.Fatalf("%v in %q", err, line)
	}
	return m
}

func (p *pipe) end() error {
	p.t.Helper()
	select {
	case err := <-p.done:
		return err
	case <-time.After(20 * time.Second):
		p.t.Fatal("the door did not end")
		return nil
	}
}

const initLine = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}` + "\n"

// S10: reading goes on while calls run, and EOF ends what they do.
func TestStdioReadsWhileCallsRunAndEndsAtEOF(t *testing.T) {
	ended := make(chan error, 1)
	s := serve(t, Limits{}, map[string]Handler{"slow": held(nil, ended)})
	p := stdio(t, t.Context(), s)
	p.write(initLine)
	p.read()
	p.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}` + "\n")
	p.write(`{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n")
	if m := p.read(); m.ID != jsonrpc.IntID(2) {
		t.Fatalf("got %s", m.Append(nil))
	}
	_ = p.in.Close()
	if err := <-ended; !errors.Is(err, ErrGone) {
		t.Error("the handler saw", err)
	}
	if err := p.end(); err != nil {
		t.Error("EOF gave", err)
	}
}

// Field cases 15 to 18, 21: one bad line is answered and forgotten; blank lines and
// CRLF are nothing; a last line needs no end.
func TestStdioLines(t *testing.T) {
	s := serve(t, Limits{}, map[string]Handler{"hi": say("hi")})
	p := stdio(t, t.Context(), s)
	for _, c := range []struct{ line, want string }{
		{"not json\n", "-32700 null"},
		{`{"jsonrpc":"2.0","id":5,"method":""}` + "\n", "-32600 5"},
		{"\n\r\n   \n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r\n", "0 1"},
		{`[]` + "\n", "-32600 null"},
		{strings.Repeat("[", 100_000) + "\n", "-32700 null"},
		{`{"jsonrpc":"2.0","method":"no/such"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n", "0 2"},
	} {
		p.write(c.line)
		m := p.read()
		id, _ := m.ID.MarshalJSON()
		code := int64(0)
		if m.Error != nil {
			code = m.Error.Code
		}
		if got := fmt.Sprintf("%d %s", code, id); got != c.want {
			t.Errorf("%.40q: got %s, want %s", c.line, got, c.want)
		}
	}
	go func() {
		_, _ = io.WriteString(p.in, `{"jsonrpc":"2.0","id":"last","method":"ping"}`)
		_ = p.in.Close()
	}()
	if m := p.read(); m.ID != jsonrpc.StringID("last") {
		t.Errorf("got %s", m.Append(nil))
	}
	if err := p.end(); err != nil {
		t.Error(err)
	}
}

// S10: a line over the limit costs itself only, and no memory beyond the limit.
func TestStdioLongLine(t *testing.T) {
	s := serve(t, Limits{}, nil)
	p := stdio(t, t.Context(), s)
	go func() {
		chunk := strings.Repeat("x", 1<<20)
		_, _ = io.WriteString(p.in, `{"jsonrpc":"2.0","id":1,"method":"`)
		for range 20 {
			_, _ = io.WriteString(p.in, chunk)
		}
		_, _ = io.WriteString(p.in, "\"}\n"+`{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
	}()
	if m := p.read(); m.Error == nil || m.Error.Code != jsonrpc.CodeParse {
		t.Fatalf("got %s", m.Append(nil))
	}
	if m := p.read(); m.ID != jsonrpc.IntID(2) || m.Error != nil {
		t.Fatalf("got %s", m.Append(nil))
	}
}

// basic/transports/stdio: a message is one line, whatever a handler's JSON looks
// like, and never mixed with another.
func TestStdioWritesWholeLines(t *testing.T) {
	pretty := json.RawMessage("{\n  \"content\": [\n    {\"type\": \"text\", \"text\": \"a\\nb\"}\n  ]\r\n}")
	s := serve(t, Limits{}, map[string]Handler{"pretty": func(context.Context, *Call) (any, error) { return pretty, nil }})
	p := stdio(t, t.Context(), s)
	p.write(initLine)
	p.read()
	const n = 16
	go func() {
		for i := range n {
			_, _ = fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"pretty"}}`+"\n", i+1)
		}
	}()
	seen := map[jsonrpc.ID]bool{}
	for range n {
		m := p.read()
		if got := text(m); got != "a\nb" {
			t.Fatalf("got %q", got)
		}
		seen[m.ID] = true
	}
	if len(seen) != n {
		t.Error("answered", len(seen))
	}
}

// The caller's context ends the door although nothing is read or written.
func TestStdioEndsWithItsContext(t *testing.T) {
	stop := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	p := stdio(t, ctx, serve(t, Limits{}, nil))
	p.write(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	p.read()
	cancel(stop)
	if err := p.end(); !errors.Is(err, stop) {
		t.Error("got", err)
	}
}

// A peer that is gone for good ends the door.
func TestStdioEndsWhenWritingFails(t *testing.T) {
	p := stdio(t, t.Context(), serve(t, Limits{}, nil))
	_ = p.raw.Close()
	p.write(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	if err := p.end(); !errors.Is(err, io.ErrClosedPipe) {
		t.Error("got", err)
	}
}
