package history

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkMillion measures pages of a history of a million calls, and recording
// into it. Filling it takes a minute or two.
func BenchmarkMillion(b *testing.B) {
	const rows = 1_000_000
	l := open(b, filepath.Join(b.TempDir(), "history.db"), Options{})
	for n := range rows {
		l.Record(call(0, func(c *Call) {
			c.Time = start.Add(time.Duration(n) * time.Millisecond)
			c.Client = fmt.Sprintf("client %d", n%5)
			c.Server = fmt.Sprintf("server %d", n%50)
			c.Tool = fmt.Sprintf("tool %d", n%1000)
			if n%100_000 == 0 {
				c.Tool, c.Outcome = "needle", Denied
			}
		}))
		if n%queueLength == 0 {
			flush(b, l)
		}
	}
	flush(b, l)
	if l.Dropped() > 0 {
		b.Fatalf("dropped %d", l.Dropped())
	}
	middle := start.Add(rows / 2 * time.Millisecond)
	for _, bc := range []struct {
		name string
		f    Filter
	}{
		{"newest", Filter{}},
		{"middle", Filter{Until: middle}},
		{"server", Filter{Server: "server 7", Until: middle}},
		{"server and client", Filter{Server: "server 7", Client: "client 2"}},
		{"rare outcome", Filter{Outcome: Denied}},
		{"rare text", Filter{Text: "needle"}},
		{"text of all", Filter{Text: "server"}},
		{"text of nobody", Filter{Text: "nowhere"}},
		{"text and rare outcome", Filter{Text: "server", Outcome: Denied}},
		{"short text of nobody", Filter{Text: "zz"}},
	} {
		b.Run("page/"+bc.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := l.Page(context.Background(), bc.f, 0, 100); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("record and flush", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			record(b, l, call(n))
		}
	})
}
