package history

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		childWrites(path)
		return
	}
	goleak.VerifyTestMain(m)
}

// start is some time of late, to the microsecond.
var start = time.Now().Add(-time.Hour).Truncate(time.Microsecond).UTC()

// call is the n-th call: each came a second after the one before.
func call(n int, change ...func(*Call)) Call {
	c := Call{
		Time: start.Add(time.Duration(n) * time.Second), Client: "claude", Server: "files", Tool: "search",
		Decision: "allow", Decider: "allow files/*", Duration: 1500 * time.Microsecond, Outcome: OK,
		Arguments: []byte(`{"q":"x"}`), Result: []byte(`{"content":[]}`),
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func place(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "history.db") }

func open(t testing.TB, path string, options Options) *Log {
	t.Helper()
	l, err := Open(path, options)
	t.Cleanup(l.Close)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func record(t testing.TB, l *Log, calls ...Call) {
	t.Helper()
	for _, c := range calls {
		l.Record(c)
	}
	flush(t, l)
}

func flush(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// all are the entries that the filter means, newest first.
func all(t testing.TB, l *Log, f Filter) []Entry {
	t.Helper()
	p, err := l.Page(context.Background(), f, 0, MaxPage)
	if err != nil {
		t.Fatal(err)
	}
	return p.Entries
}
