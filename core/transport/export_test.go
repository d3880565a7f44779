package transport

import (
	"bytes"
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"time"
)

// TrustForTest makes the dialer trust a private certificate authority.
func (d *HTTPDialer) TrustForTest(roots *x509.CertPool) {
	d.tune = func(t *http.Transport) { t.TLSClientConfig.RootCAs = roots }
}

// DialForTest replaces how addresses are dialled.
func (d *HTTPDialer) DialForTest(f func(ctx context.Context, network, addr string) (net.Conn, error)) {
	d.target.connect = f
}

// TestEvent is an event of a stream.
type TestEvent struct{ Kind, Data string }

// ReadEventsForTest reads a stream to its end.
func ReadEventsForTest(r io.Reader, limit int64) (events []TestEvent, lastID string, err error) {
	s := newEventReader(r, limit)
	for {
		ev, err := s.next()
		if err != nil {
			return events, s.lastID, err
		}
		events = append(events, TestEvent{ev.kind, string(bytes.Clone(ev.data))})
	}
}

// RetryDelayForTest reads a retry field.
func RetryDelayForTest(text string, otherwise time.Duration) time.Duration {
	return retryDelay(text, otherwise)
}

// RetryAfterForTest reads a Retry-After header.
func RetryAfterForTest(text string) time.Duration {
	return retryAfter(http.Header{"Retry-After": {text}})
}

// WaitForTest replaces how long the endpoint of HTTP+SSE is waited for.
func (d *HTTPDialer) WaitForTest(wait time.Duration) { d.wait = wait }
