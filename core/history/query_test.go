package history

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFilter(t *testing.T) {
	l := open(t, place(t), Options{})
	l.KeepTexts(true)
	record(t, l,
		call(0, func(c *Call) { c.Tool = "a" }),
		call(1, func(c *Call) { c.Tool, c.Server = "b", "mail" }),
		call(2, func(c *Call) { c.Tool, c.Client, c.Outcome = "c", "cursor", Denied }),
		call(3, func(c *Call) { c.Tool, c.Arguments = "d", []byte(`{"path":"/Tmp/100%_\"x"}`) }),
		call(4, func(c *Call) { c.Tool, c.Decider = "e_f", "window" }),
	)
	end := func(n int) time.Time { c := call(n); return c.Time.Add(c.Duration) }
	for _, tc := range []struct {
		name string
		f    Filter
		want string
	}{
		{"all", Filter{}, "e_f d c b a"},
		{"client", Filter{Client: "cursor"}, "c"},
		{"server", Filter{Server: "files"}, "e_f d c a"},
		{"tool", Filter{Tool: "a"}, "a"},
		{"outcome", Filter{Outcome: Denied}, "c"},
		{"time", Filter{Since: end(1), Until: end(3)}, "c b"},
		{"text in arguments, any case", Filter{Text: "/tmp/"}, "d"},
		{"text with the index's own signs", Filter{Text: `100%_\"x`}, "d"},
		{"text in the decider", Filter{Text: "window"}, "e_f"},
		{"text and the rest", Filter{Text: "files", Client: "claude", Since: end(1), Until: end(4)}, "d b"},
		{"short text", Filter{Text: "_"}, "e_f"},
		{"text that is nowhere", Filter{Text: "nowhere"}, ""},
		{"no such server", Filter{Server: "file"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, e := range all(t, l, tc.f) {
				got = append(got, e.Tool)
			}
			if s := strings.Join(got, " "); s != tc.want {
				t.Errorf("%q, want %q", s, tc.want)
			}
		})
	}
}

// The pages of any size put together are all entries, the newest first, each once;
// also of calls that ended in the same moment, and while others are added.
func TestPagesMeet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := open(t, place(t), Options{})
		defer l.Close()
		moments := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 40).Draw(rt, "moments")
		for _, at := range moments {
			l.Record(call(0, func(c *Call) { c.Time = start.Add(time.Duration(at) * time.Microsecond) }))
		}
		flush(t, l)
		want := all(t, l, Filter{})
		if len(want) != len(moments) {
			rt.Fatalf("%d of %d are kept", len(want), len(moments))
		}
		size := rapid.IntRange(1, 50).Draw(rt, "size")
		text := rapid.SampledFrom([]string{"", "search", "se"}).Draw(rt, "text")
		var got []Entry
		for after := int64(0); ; {
			p, err := l.Page(context.Background(), Filter{Text: text}, after, size)
			if err != nil {
				rt.Fatal(err)
			}
			got = append(got, p.Entries...)
			record(t, l, call(100)) // newer than what is paged through
			if after = p.Next; after == 0 {
				break
			}
			if len(p.Entries) != size {
				rt.Fatalf("a page of %d that is not the last", len(p.Entries))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestReadingEndsWithItsContext(t *testing.T) {
	l := open(t, place(t), Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Page(ctx, Filter{}, 0, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Every filter on a name finds its rows by an index, and none sorts.
func TestFiltersUseIndexes(t *testing.T) {
	l := open(t, place(t), Options{})
	for _, f := range []Filter{
		{},
		{Client: "c"},
		{Server: "s"},
		{Tool: "t"},
		{Outcome: OK},
		{Server: "s", Tool: "t"},
		{Since: start, Until: start},
		{Server: "s", Since: start},
		{Text: "text"},
		{Text: "text", Server: "s", Since: start},
	} {
		query, args := f.query(0, 10)
		rows, err := l.file.read.Query("EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		said := strings.Join(plan, "; ")
		if strings.Contains(said, "TEMP B-TREE") || strings.Contains(said, "SCAN calls") || said == "" {
			t.Errorf("%+v: %s", f, said)
		}
	}
}
