package transport_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// tokens gives its values in turn; Refused moves on.
type tokens struct {
	mu         sync.Mutex
	values     []string
	err        error
	challenges []string
}

func (s *tokens) Authorization(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[0], s.err
}

func (s *tokens) Refused(_ context.Context, status int, challenges []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.challenges = append(s.challenges, http.StatusText(status))
	s.challenges = append(s.challenges, challenges...)
	if len(s.values) == 1 {
		return false
	}
	s.values = s.values[1:]
	return true
}

// T13.
func TestTokenSource(t *testing.T) {
	for name, c := range map[string]struct {
		values []string
		sent   []string
		ok     bool
	}{
		"good":           {[]string{"Bearer good"}, []string{"Bearer good"}, true},
		"refreshed":      {[]string{"Bearer old", "Bearer good"}, []string{"Bearer old", "Bearer good"}, true},
		"none at first":  {[]string{"", "Bearer good"}, []string{"", "Bearer good"}, true},
		"refused":        {[]string{"Bearer old"}, []string{"Bearer old"}, false},
		"once more only": {[]string{"a", "b", "c", "d"}, []string{"a", "b"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var sent []string
			url := handler(t, func(w http.ResponseWriter, r *http.Request, body string) {
				mu.Lock()
				defer mu.Unlock()
				sent = append(sent, r.Header.Get("Authorization"))
				if sent[len(sent)-1] != "Bearer good" {
					w.Header().Set("WWW-Authenticate", `Bearer scope="x"`)
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				writeJSON(w, reply(body, `{}`))
			})
			src := &tokens{values: c.values}
			w := openWeb(t, transport.HTTPConfig{URL: url, Tokens: src, Headers: []transport.Header{{Name: "Authorization", Value: "from the spec"}}})
			if c.ok {
				w.call("m", "")
			} else if e := w.fails("m", ""); e.Code != transport.HTTPStatus || e.Status != 401 {
				t.Errorf("failed with %v", e)
			}
			if !slices.Equal(sent, c.sent) {
				t.Errorf("sent %q, want %q", sent, c.sent)
			}
			if len(src.challenges) > 0 && (src.challenges[0] != "Unauthorized" || src.challenges[1] != `Bearer scope="x"`) {
				t.Errorf("challenges %q", src.challenges)
			}
		})
	}
}

// A token source that fails says nothing about the server.
func TestTokenSourceFails(t *testing.T) {
	url, seen := recording(t)
	table := breaker.NewTable(1, 0)
	w := openWeb(t, transport.HTTPConfig{URL: url, Breakers: table, Tokens: &tokens{values: []string{""}, err: errors.New("secret")}})
	for range 3 {
		if e := w.fails("m", ""); e.Error() != "transport (authorization)" {
			t.Errorf("failed with %v", e)
		}
	}
	if len(seen.all()) != 0 {
		t.Error("a request was sent without credentials")
	}
}
