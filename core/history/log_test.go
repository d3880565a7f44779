package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestEntryHoldsTheCall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder #1 100%?", "history.db")
	l := open(t, path, Options{})
	c := call(0)
	record(t, l, c)
	want := []Entry{{
		ID: c.Time.Add(c.Duration).UnixMicro(), Time: c.Time, Client: "claude", Server: "files", Tool: "search",
		Decision: "allow", Decider: "allow files/*", Duration: c.Duration, Outcome: OK, ArgumentBytes: 9, ResultBytes: 14,
	}}
	if diff := cmp.Diff(want, all(t, l, Filter{}), cmpopts.IgnoreFields(Entry{}, "Digest")); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(path); err != nil {
		t.Error(err)
	} else if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// Equal arguments have equal digests in one file, also when it is opened again, and
// others in another.
func TestDigestIsOfOneFile(t *testing.T) {
	path := place(t)
	l := open(t, path, Options{})
	record(t, l, call(0), call(1, func(c *Call) { c.Arguments = []byte(`{"q":"y"}`) }))
	l.Close()
	l = open(t, path, Options{})
	record(t, l, call(2))
	e := all(t, l, Filter{})
	if len(e) != 3 || len(e[0].Digest) != 64 || e[0].Digest != e[2].Digest || e[0].Digest == e[1].Digest {
		t.Errorf("%+v", e)
	}
	other := open(t, place(t), Options{})
	record(t, other, call(0))
	if got := all(t, other, Filter{})[0].Digest; got == e[0].Digest {
		t.Error("the digest tells the arguments to whoever has another file")
	}
}

// K4: texts are kept only where wanted, and masked when written and when read.
func TestTextsAreMasked(t *testing.T) {
	secret := "hunter2"
	path := place(t)
	mask := func(s string) string { return strings.ReplaceAll(s, secret, "•••") }
	l := open(t, path, Options{Mask: mask})
	leaky := func(c *Call) {
		c.Arguments = []byte(`{"q":"hunter2"}`)
		c.Result = []byte(`{"later":"sesame","now":"hunter2"}`)
		c.Tool, c.Decider = "get hunter2", "hunter2"
	}
	record(t, l, call(0, leaky))
	if e := all(t, l, Filter{})[0]; e.Arguments != "" || e.Result != "" || e.Tool != "get •••" || e.Decider != "•••" {
		t.Errorf("%+v", e)
	}
	l.KeepTexts(true)
	record(t, l, call(1, leaky))
	secret = "sesame" // becomes one only now
	e := all(t, l, Filter{})[0]
	if e.Arguments != `{"q":"•••"}` || e.Result != `{"later":"•••","now":"•••"}` {
		t.Errorf("%+v", e)
	}
	l.Close()
	for _, file := range []string{path, path + "-wal"} {
		b, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(b), "hunter2") {
			t.Errorf("%s holds the secret", file)
		}
	}
}

// A text is cut where a character ends, after it was masked.
func TestTextsAreBounded(t *testing.T) {
	secret := strings.Repeat("s", 100)
	l := open(t, place(t), Options{Mask: func(s string) string { return strings.ReplaceAll(s, secret, "•") }})
	l.KeepTexts(true)
	record(t, l, call(0, func(c *Call) {
		c.Arguments = []byte(strings.Repeat("a", MaxText-1) + secret)
		c.Result = []byte("\xff" + strings.Repeat("b", MaxText))
		c.Tool = strings.Repeat("t", 2*maxName)
	}))
	e := all(t, l, Filter{})[0]
	if e.Arguments != strings.Repeat("a", MaxText-1) || len(e.Result) != MaxText || len(e.Tool) != maxName {
		t.Errorf("%d %d %d bytes", len(e.Arguments), len(e.Result), len(e.Tool))
	}
	if e.ArgumentBytes != MaxText+99 {
		t.Errorf("size %d is not that of what was sent", e.ArgumentBytes)
	}
}

// Record does not wait when writing does; what finds no room is counted.
func TestFullQueueDrops(t *testing.T) {
	hold := make(chan struct{})
	l := open(t, place(t), Options{hold: hold})
	for n := range queueLength + 7 {
		l.Record(call(n))
	}
	if got := l.Dropped(); got != 7 {
		t.Errorf("dropped %d", got)
	}
	close(hold)
	flush(t, l)
	if got := len(all(t, l, Filter{})); got != queueLength {
		t.Errorf("kept %d", got)
	}
}

func TestClosedLogKeepsNothing(t *testing.T) {
	path := place(t)
	l := open(t, path, Options{})
	l.Record(call(0))
	l.Close()
	l.Close()
	l.Record(call(1))
	if l.Dropped() != 1 || !errors.Is(l.Flush(context.Background()), ErrClosed) {
		t.Errorf("dropped %d", l.Dropped())
	}
	if _, err := l.Page(context.Background(), Filter{}, 0, 1); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
	if got := all(t, open(t, path, Options{}), Filter{}); len(got) != 1 {
		t.Errorf("kept %d", len(got))
	}
}

func TestOldEntriesGo(t *testing.T) {
	path := place(t)
	l := open(t, path, Options{})
	l.KeepTexts(true)
	now := time.Now()
	for n := range 3 * pruneStep {
		l.Record(call(0, func(c *Call) {
			c.Time, c.Tool = now.Add(-Keep-time.Hour).Add(time.Duration(n)*time.Millisecond), "ancient"
		}))
		if n%queueLength == 0 {
			flush(t, l)
		}
	}
	record(t, l, call(1, func(c *Call) { c.Time = now.Add(-Keep + time.Hour) }))
	if got := l.Dropped(); got != 0 {
		t.Fatalf("dropped %d", got)
	}
	l.Close()
	l = open(t, path, Options{})
	for range 4 { // at least one step of deleting lies between two
		flush(t, l)
	}
	for _, f := range []Filter{{}, {Text: "search"}} {
		if got := all(t, l, f); len(got) != 1 || got[0].Tool != "search" {
			t.Errorf("%+v: %d are left", f, len(got))
		}
	}
	if got := all(t, l, Filter{Text: "ancient"}); len(got) != 0 {
		t.Errorf("%d are still found", len(got))
	}
}
