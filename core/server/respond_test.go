package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// slowWriter is a response that a test looks at while it is written.
type slowWriter struct {
	mu sync.Mutex
	w  *httptest.ResponseRecorder
}

func (s *slowWriter) Header() http.Header { return s.w.Header() }
func (s *slowWriter) WriteHeader(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.w.WriteHeader(code)
}

func (s *slowWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}

func (s *slowWriter) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.w.Flush()
}

func (s *slowWriter) written() (body string, flushed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Body.String(), s.w.Flushed
}

// A call that takes long is no silence: its stream begins, and comments keep it alive.
func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStream(false)
		w := &slowWriter{w: httptest.NewRecorder()}
		done := make(chan struct{})
		go func() {
			d := delivery{stream: st}
			d.run(t.Context(), w)
			close(done)
		}()
		time.Sleep(jsonWait - time.Millisecond)
		synctest.Wait()
		if _, flushed := w.written(); flushed {
			t.Error("the answer's form was decided early")
		}
		time.Sleep(2 * keepAlive)
		synctest.Wait()
		if got, _ := w.written(); got != ":\n\n:\n\n" || w.Header().Get("Content-Type") != "text/event-stream" {
			t.Errorf("wrote %q", got)
		}
		st.append(reply())
		<-done
		if got, _ := w.written(); !strings.HasSuffix(got, "event: message\ndata: "+string(reply().Append(nil))+"\n\n") {
			t.Errorf("wrote %q", got)
		}
	})
}

// A client that takes JSON only gets the response and nothing else, however late.
func TestPlainClientWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStream(false)
		w := httptest.NewRecorder()
		done := make(chan struct{})
		go func() {
			d := delivery{stream: st, plain: true}
			d.run(t.Context(), w)
			close(done)
		}()
		st.append(note("x"))
		time.Sleep(time.Minute)
		st.append(note("y"))
		st.append(reply())
		<-done
		if got := w.Body.String(); got != string(reply().Append(nil)) {
			t.Errorf("wrote %q", got)
		}
	})
}

// A response writer ends with its client, its stream's end, or a stop.
func TestDeliveryEnds(t *testing.T) {
	for name, end := range map[string]func(*stream, context.CancelFunc, chan struct{}){
		"client":       func(_ *stream, cancel context.CancelFunc, _ chan struct{}) { cancel() },
		"stop":         func(_ *stream, _ context.CancelFunc, stop chan struct{}) { close(stop) },
		"stream":       func(st *stream, _ context.CancelFunc, _ chan struct{}) { st.end() },
		"hang up":      func(st *stream, _ context.CancelFunc, _ chan struct{}) { st.drop() },
		"another took": func(st *stream, _ context.CancelFunc, _ chan struct{}) { st.attach() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				st, stop := newStream(true), make(chan struct{})
				done := make(chan struct{})
				go func() {
					d := delivery{stream: st, sse: true, stop: stop}
					d.run(ctx, httptest.NewRecorder())
					close(done)
				}()
				synctest.Wait()
				end(st, cancel, stop)
				<-done
			})
		})
	}
}
