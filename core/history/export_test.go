package history

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestExportJSONLines(t *testing.T) {
	l := open(t, place(t), Options{Mask: func(s string) string { return strings.ReplaceAll(s, "hunter2", "•••") }})
	l.KeepTexts(true)
	record(t, l, call(0, func(c *Call) { c.Arguments = []byte(`{"q":"hunter2<"}`) }), call(1), call(2, func(c *Call) { c.Server = "mail" }))
	var b bytes.Buffer
	if err := l.Export(context.Background(), &b, JSONLines, Filter{Server: "files"}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%q", lines)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(lines[1]), &got); err != nil {
		t.Fatal(err)
	}
	if got["time"] != start.Format(time.RFC3339Nano) || got["durationMs"] != 1.5 || got["outcome"] != "ok" ||
		got["arguments"] != `{"q":"•••<"}` || got["argumentBytes"] != 16.0 {
		t.Errorf("%v", got)
	}
}

// A foreign text is no formula in the program that opens the table.
func TestExportCSV(t *testing.T) {
	l := open(t, place(t), Options{})
	for n := range MaxPage + 1 {
		l.Record(call(n, func(c *Call) { c.Tool = "=1+1" }))
		if n%100 == 0 {
			flush(t, l)
		}
	}
	flush(t, l)
	var b bytes.Buffer
	if err := l.Export(context.Background(), &b, CSV, Filter{}); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(table) != MaxPage+2 || table[0][3] != "tool" || table[1][3] != "'=1+1" || table[1][6] != "1.5" {
		t.Errorf("%d rows, %q", len(table), table[:2])
	}
}

type failing struct{}

var errNoRoom = errors.New("no room")

func (failing) Write([]byte) (int, error) { return 0, errNoRoom }

func TestExportSaysThatItFailed(t *testing.T) {
	l := open(t, place(t), Options{})
	record(t, l, call(0))
	for _, format := range []Format{CSV, JSONLines} {
		if err := l.Export(context.Background(), failing{}, format, Filter{}); !errors.Is(err, errNoRoom) {
			t.Errorf("%s: %v", format, err)
		}
	}
}
