package server

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

const (
	// jsonWait is how long a response may stay undecided between JSON and SSE:
	// a client must see bytes before its patience ends.
	jsonWait = 3 * time.Second
	// keepAlive is the time between two comments on a quiet stream.
	keepAlive = 15 * time.Second
	// writeTimeout bounds one write to a client that does not read.
	writeTimeout = 30 * time.Second
	// retryDelay is what a legacy client is told to wait before it resumes a
	// stream that we hung up.
	retryDelay = 500 * time.Millisecond
)

// delivery writes one stream as one HTTP response: a response that comes alone and
// soon as JSON, anything else as server-sent events.
type delivery struct {
	stream *stream
	// from is the last event the client has, unread for what no client got yet.
	from int
	// id is the prefix of event ids, "" for a modern stream, which has none.
	id string
	// prime sends an empty first event, for resumption (2025-11-25).
	prime bool
	// sse has the response start as an event stream at once.
	sse bool
	// plain clients take JSON only; they get the response and nothing else.
	plain bool
	// stop ends the stream when the server does.
	stop <-chan struct{}
}

const unread = -1

// run writes until the stream ends, the client goes, or another writer takes over.
func (d *delivery) run(ctx context.Context, w http.ResponseWriter) {
	taken, read := d.stream.attach()
	if d.from == unread {
		d.from = read
	}
	out := &eventWriter{w: w, rc: http.NewResponseController(w)}
	tick := time.NewTimer(jsonWait)
	defer tick.Stop()
	if d.sse {
		out.begin(d)
	}
	for {
		events, ended, hangUp := d.stream.after(taken, d.from)
		if !out.begun && ended {
			if e, ok := alone(events, d.plain); ok {
				writeJSON(w, d.stream.status, e.data)
				return
			}
		}
		if !d.plain && (len(events) > 0 || ended || hangUp) {
			out.begin(d)
		}
		if out.begun {
			for _, e := range events {
				out.event(d.id, e)
				d.from = e.seq
			}
		}
		if hangUp && !ended {
			out.write("retry: " + strconv.FormatInt(retryDelay.Milliseconds(), 10) + "\n\n")
		}
		if out.flush() != nil || hangUp {
			return
		}
		if ended {
			if !out.begun { // a plain client's call that was cancelled
				w.WriteHeader(http.StatusNoContent)
			}
			return
		}
		select {
		case <-d.stream.wake:
		case <-tick.C:
			if !d.plain {
				out.begin(d)
				out.write(":\n\n")
			}
			tick.Reset(keepAlive)
		case <-taken:
			return
		case <-d.stop:
			return
		case <-ctx.Done():
			return
		}
	}
}

// alone returns the response if it may be sent by itself.
func alone(events []event, plain bool) (event, bool) {
	if len(events) == 0 || (len(events) > 1 && !plain) {
		return event{}, false
	}
	e := events[len(events)-1]
	return e, e.last
}

// eventWriter writes server-sent events and remembers the first error.
type eventWriter struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	begun bool
	dirty bool
	err   error
}

func (o *eventWriter) begin(d *delivery) {
	if o.begun {
		return
	}
	o.begun = true
	h := o.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	o.dirty = true
	if d.prime {
		o.write("id: " + d.id + strconv.Itoa(d.from) + "\nretry: " + strconv.FormatInt(retryDelay.Milliseconds(), 10) + "\ndata: \n\n")
	}
}

func (o *eventWriter) event(id string, e event) {
	if id != "" {
		o.write("id: " + id + strconv.Itoa(e.seq) + "\n")
	}
	o.write("event: message\ndata: ")
	o.write(string(e.data))
	o.write("\n\n")
}

func (o *eventWriter) write(s string) {
	if o.err == nil {
		_ = o.rc.SetWriteDeadline(time.Now().Add(writeTimeout))
		_, o.err = o.w.Write([]byte(s))
		o.dirty = true
	}
}

func (o *eventWriter) flush() error {
	if o.err == nil && o.dirty {
		_ = o.rc.SetWriteDeadline(time.Now().Add(writeTimeout))
		o.err = o.rc.Flush()
		o.dirty = false
	}
	return o.err
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// statusOf is the HTTP status of a modern error response that is sent alone
// (streamable-http "Protocol Version Header", "Server Validation"; basic/index
// "Per-request protocol fields"). What a handler made of well-formed input is 200.
func statusOf(code int64) int {
	switch code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case mcp.CodeHeaderMismatch, mcp.CodeMissingCapability, mcp.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// refuse answers a message that never reached the machine.
func refuse(w http.ResponseWriter, status int, id jsonrpc.ID, err *jsonrpc.Error) {
	writeJSON(w, status, jsonrpc.Refuse(id, err).Append(nil))
}
