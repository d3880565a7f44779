package transport_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// Acceptance 80, T8: an announced length over the limit is refused at once, for the
// server never sends a byte of the body.
func TestAnnouncedLengthIsRefusedBeforeTheBody(t *testing.T) {
	const limit = 1 << 20
	gone := make(chan struct{})
	url := handler(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(limit+1))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	w := openWeb(t, transport.HTTPConfig{URL: url, Limits: transport.Limits{MaxBytes: limit}})
	if e := w.fails("m", ""); e.Code != transport.TooLarge || e.Limit != limit {
		t.Errorf("failed with %v", e)
	}
	<-gone // and the socket is given up
}
