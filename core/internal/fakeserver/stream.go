package fakeserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Stream is a dialect of server-sent events (cases 24, 26 and 37). The zero
// Stream writes what most servers do: event, data, a blank line.
type Stream struct {
	EOL      string // "\n" if empty; "\r\n" and "\r" are legal too
	BOM      bool   // begins with a byte order mark
	Priming  bool   // begins with an event that has an id and empty data
	IDs      bool   // gives every event an id
	Retry    int    // milliseconds, sent at the start if positive
	Comments bool   // has comment lines between and inside events
	Foreign  bool   // has events that carry no message: ping, endpoint, heartbeats
	Folded   bool   // spreads the JSON over several data lines
	NoSpace  bool   // has no space after the colon
	// ContentType replaces text/event-stream.
	ContentType string
	// Every, if positive, sends a comment at that interval while the answer is
	// being made.
	Every time.Duration
	// Ending replaces the answer to tools/call.
	Ending string
}

// Endings of a stream in place of an answer.
const (
	EndsSilently = "ends"   // the stream ends, cleanly
	EndsByReset  = "reset"  // the connection is cut
	EndsInside   = "inside" // it ends inside the event, before its blank line
	EndsUnclosed = "open"   // the answer comes, the stream stays open until the client goes
)

// eventStream writes messages as events, from any goroutine.
type eventStream struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	dialect Stream
	serial  int
	ended   bool
	stop    chan struct{}
	ticking sync.WaitGroup
}

func openStream(w http.ResponseWriter, d Stream) *eventStream {
	if d.EOL == "" {
		d.EOL = "\n"
	}
	if d.ContentType == "" {
		d.ContentType = "text/event-stream"
	}
	w.Header().Set("Content-Type", d.ContentType)
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	s := &eventStream{w: w, dialect: d, stop: make(chan struct{})}
	s.begin()
	if d.Every > 0 {
		s.ticking.Go(s.tick)
	}
	return s
}

func (s *eventStream) begin() {
	var b bytes.Buffer
	if s.dialect.BOM {
		b.WriteString("\uFEFF")
	}
	if s.dialect.Comments {
		b.WriteString(": welcome" + s.dialect.EOL + s.dialect.EOL)
	}
	if s.dialect.Retry > 0 {
		fmt.Fprintf(&b, "retry: %d%s%s", s.dialect.Retry, s.dialect.EOL, s.dialect.EOL)
	}
	if s.dialect.Priming {
		s.serial++
		fmt.Fprintf(&b, "id: event-%d%sdata: %s%s", s.serial, s.dialect.EOL, s.dialect.EOL, s.dialect.EOL)
	}
	s.write(b.Bytes())
}

func (s *eventStream) tick() {
	t := time.NewTicker(s.dialect.Every)
	defer t.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-t.C:
			s.mu.Lock()
			s.write([]byte(": still here" + s.dialect.EOL + s.dialect.EOL))
			s.mu.Unlock()
		}
	}
}

func (s *eventStream) send(m any) {
	if isAnswer(m) {
		switch s.dialect.Ending {
		case EndsSilently, EndsByReset:
			return
		case EndsInside:
			s.mu.Lock()
			defer s.mu.Unlock()
			s.write(bytes.TrimSuffix(s.event(encode(m)), []byte(s.dialect.EOL)))
			return
		}
	}
	s.answerRaw(encode(m))
}

func (s *eventStream) answerRaw(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dialect.Foreign {
		s.write([]byte(s.lines("event: ping", "data: 2026-07-28T00:00:00Z", "", "event: heartbeat", `data: {"type":"heartbeat"}`, "", `data: {"status":"ok"}`, "")))
	}
	s.write(s.event(data))
}

// event formats one message. Called with the lock held.
func (s *eventStream) event(data []byte) []byte {
	var lines []string
	space := " "
	if s.dialect.NoSpace {
		space = ""
	}
	if s.dialect.Comments {
		lines = append(lines, ":", ": a comment: with a colon")
	}
	lines = append(lines, "event:"+space+"message")
	if s.dialect.IDs || s.dialect.Priming {
		s.serial++
		lines = append(lines, fmt.Sprintf("id:%sevent-%d", space, s.serial))
	}
	text := string(data)
	if s.dialect.Folded {
		var folded bytes.Buffer
		if json.Indent(&folded, data, "", "  ") == nil {
			text = folded.String()
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, "data:"+space+line)
	}
	return []byte(s.lines(append(lines, "")...))
}

func (s *eventStream) lines(l ...string) string {
	return strings.Join(l, s.dialect.EOL) + s.dialect.EOL
}

// write sends bytes at once. Called with the lock held or before the stream is shared.
func (s *eventStream) write(b []byte) {
	if s.ended {
		return
	}
	s.w.Write(b)
	http.NewResponseController(s.w).Flush()
}

// finish ends the stream after its answer.
func (s *eventStream) finish(ctx context.Context) {
	if s.dialect.Ending == EndsUnclosed {
		<-ctx.Done()
	}
	s.close()
	if s.dialect.Ending == EndsByReset {
		panic(http.ErrAbortHandler)
	}
}

// close lets nothing more be written: the response writer must not be used after
// its handler has returned.
func (s *eventStream) close() {
	close(s.stop)
	s.ticking.Wait()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
}

// discard is the sink of what gets no answer.
type discard struct{}

func (discard) send(any)         {}
func (discard) answerRaw([]byte) {}
