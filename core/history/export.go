package history

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"
)

// Format is a form of an export.
type Format string

// The formats. CSV has no arguments and results: it is for tables.
const (
	JSONLines Format = "jsonl"
	CSV       Format = "csv"
)

// Export writes the entries that the filter means, newest first, a page at a time.
// The error is one of this package's, of the context, or w's.
func (l *Log) Export(ctx context.Context, w io.Writer, format Format, f Filter) error {
	write := exportJSON(w)
	if format == CSV {
		var err error
		if write, err = exportCSV(w); err != nil {
			return err
		}
	}
	after := int64(0)
	for {
		page, err := l.Page(ctx, f, after, MaxPage)
		if err != nil {
			return err
		}
		if err := write(page.Entries); err != nil {
			return err
		}
		if page.Next == 0 {
			return nil
		}
		after = page.Next
	}
}

// exported is an entry as others read it.
type exported struct {
	Time          time.Time `json:"time"`
	Client        string    `json:"client"`
	Server        string    `json:"server"`
	Tool          string    `json:"tool"`
	Decision      string    `json:"decision"`
	Decider       string    `json:"decider"`
	Milliseconds  float64   `json:"durationMs"`
	Outcome       Outcome   `json:"outcome"`
	ArgumentBytes int64     `json:"argumentBytes"`
	ResultBytes   int64     `json:"resultBytes"`
	Digest        string    `json:"argumentsDigest"`
	Arguments     string    `json:"arguments,omitzero"`
	Result        string    `json:"result,omitzero"`
}

func (e Entry) exported() exported {
	return exported{
		e.Time, e.Client, e.Server, e.Tool, e.Decision, e.Decider, milliseconds(e.Duration),
		e.Outcome, e.ArgumentBytes, e.ResultBytes, e.Digest, e.Arguments, e.Result,
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func exportJSON(w io.Writer) func([]Entry) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return func(entries []Entry) error {
		for _, e := range entries {
			if err := encoder.Encode(e.exported()); err != nil {
				return err
			}
		}
		return nil
	}
}

func exportCSV(w io.Writer) (func([]Entry) error, error) {
	table := csv.NewWriter(w)
	err := table.Write([]string{"time", "client", "server", "tool", "decision", "decider", "duration_ms", "outcome", "argument_bytes", "result_bytes", "arguments_digest"})
	return func(entries []Entry) error {
		for _, e := range entries {
			// A failed write is reported by Flush's Error.
			_ = table.Write([]string{
				e.Time.Format(time.RFC3339Nano), cell(e.Client), cell(e.Server), cell(e.Tool), cell(e.Decision), cell(e.Decider),
				strconv.FormatFloat(milliseconds(e.Duration), 'f', -1, 64), string(e.Outcome),
				strconv.FormatInt(e.ArgumentBytes, 10), strconv.FormatInt(e.ResultBytes, 10), e.Digest,
			})
		}
		table.Flush()
		return table.Error()
	}, err
}

// cell keeps a foreign text from being a formula in the program that opens the
// table.
func cell(s string) string {
	if s != "" && strings.ContainsAny(s[:1], "=+-@\t\r") {
		return "'" + s
	}
	return s
}
