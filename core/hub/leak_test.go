package hub

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
)

// Acceptance 36, T6, K4: a server that fails with 500 and repeats the secrets it was
// sent shows them nowhere: not in its row, its words, its log or the error of a call.
func TestFailingServerShowsNoSecret(t *testing.T) {
	const secret = "s3cr3t-value"
	srv := fakeserver.StartHTTP(t, fakeserver.HTTP{Answers: map[string]fakeserver.Answer{"*": {
		Status: 500, ContentType: "text/plain", Body: "you sent Bearer " + secret + "\nand key=" + secret,
		Header: map[string]string{"X-Upstream": "header-canary"},
	}}})
	r := newRig(t, nil)
	if err := r.store.Set(context.Background(), "TOKEN", secret); err != nil {
		t.Fatal(err)
	}
	r.write(map[string]entry{"a": {"url": srv.URL + "?key=${secret:TOKEN}", "headers": map[string]string{"Authorization": "Bearer ${secret:TOKEN}"}}})
	v := r.server("a", Retrying)
	if !strings.Contains(v.Sentence, "500") || v.Action.Kind == NoAction {
		t.Errorf("the row says %q, %+v", v.Sentence, v.Action)
	}
	if got := srv.Requests()[0]; got.Header.Get("Authorization") != "Bearer "+secret || !strings.Contains(got.Path, secret) {
		t.Fatalf("the secret was not sent: %+v", got)
	}
	_, err := r.Call(context.Background(), "a", "echo", json.RawMessage(`{}`), nil)
	if err == nil {
		t.Fatal("a call to a failing server succeeded")
	}
	for what, shown := range map[string]any{"snapshot": r.until("a snapshot", func(*Snapshot) bool { return true }), "log": r.Log("a", 0, 0), "error": err, "text": err.Error()} {
		b, err := json.Marshal(shown)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), secret) || strings.Contains(string(b), "header-canary") {
			t.Errorf("the %s shows it: %s", what, b)
		}
	}
}
