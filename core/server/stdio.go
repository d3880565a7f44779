package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
)

// Bounds of the stdio door.
const (
	// MaxLine is the longest message taken, in bytes.
	MaxLine = 16 << 20
	// outLines is how many messages wait for a peer that does not read.
	outLines = 256
	// stopGrace is how long handlers have to end after EOF.
	stopGrace = 2 * time.Second
)

// ServeStdio serves one client on a pair of streams, one message a line (S10;
// basic/transports/stdio). It goes on reading while calls run; EOF or ctx ends it
// and what it started. A line that is too long or no message is answered with an
// error, not the end. The peer's id and owner are "stdio".
//
// The error is that of reading or writing; nil after EOF, ctx's cause after ctx.
// If ctx ends first, one blocked read of r stays behind, since io.Reader cannot be
// interrupted: close r, or end the process.
func ServeStdio(ctx context.Context, s *Server, r io.Reader, w io.Writer) error {
	return ServeLines(ctx, s, Peer{ID: "stdio", Owner: "stdio", Transport: StdioTransport}, r, w)
}

// ServeLines is [ServeStdio] for a peer that somebody vouches for, such as one at the
// other end of a local socket.
func ServeLines(ctx context.Context, s *Server, peer Peer, r io.Reader, w io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &lineWriter{lines: make(chan []byte, outLines), done: ctx.Done()}
	conn := s.Open(peer, out)

	stopped, written := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		if err := out.run(w, stopped); err != nil {
			cancel(err)
		}
	}()
	read := make(chan error, 1)
	go func() { read <- readLines(r, conn) }()

	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	conn.Close()
	grace, free := context.WithTimeout(context.Background(), stopGrace)
	defer free()
	_ = conn.Wait(grace) // a handler that heeds nothing is left to the process's end
	close(stopped)
	select {
	case <-written:
	case <-grace.Done(): // the peer does not read; its end closes the pipe
	}
	return err
}

// errTooLong says that a line is over [MaxLine].
var errTooLong = errors.New("the line is longer than the limit")

func readLines(r io.Reader, conn *Conn) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(in)
		switch {
		case errors.Is(err, errTooLong):
			conn.Refuse(&jsonrpc.SyntaxError{Offset: MaxLine, Reason: "longer than the limit"})
			continue
		case err != nil && len(line) == 0:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		m, bad := jsonrpc.Decode(line)
		if bad != nil {
			conn.Refuse(bad)
			continue
		}
		conn.Handle(m)
	}
}

// readLine reads one line of at most [MaxLine] bytes; the rest of a longer one is
// skipped. The last line needs no newline.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, errTooLong
		}
		return line, err
	}
}

// lineWriter writes messages one at a time, one a line.
type lineWriter struct {
	lines chan []byte
	done  <-chan struct{}
}

// Send queues the message, waiting while the peer does not read.
func (o *lineWriter) Send(ctx context.Context, m *jsonrpc.Message, _ jsonrpc.ID) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	select {
	case o.lines <- append(oneLine(m), '\n'):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-o.done:
		return ErrGone
	}
}

// Ended does nothing: all messages share the stream.
func (o *lineWriter) Ended(jsonrpc.ID) {}

// run writes until stopped, then what is queued already.
func (o *lineWriter) run(w io.Writer, stopped <-chan struct{}) error {
	for {
		select {
		case line := <-o.lines:
			if _, err := w.Write(line); err != nil {
				return err
			}
			continue
		default:
		}
		select {
		case line := <-o.lines:
			if _, err := w.Write(line); err != nil {
				return err
			}
		case <-stopped:
			if len(o.lines) == 0 {
				return nil
			}
		}
	}
}

// oneLine is the message's JSON without line breaks: raw members may hold them
// between their tokens.
func oneLine(m *jsonrpc.Message) []byte {
	b := m.Append(nil)
	if !bytes.ContainsAny(b, "\r\n") {
		return b
	}
	var flat bytes.Buffer
	if json.Compact(&flat, b) != nil {
		// A handler's raw result is no JSON; the frame must hold all the same.
		return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\n"), nil), []byte("\r"), nil)
	}
	return flat.Bytes()
}
