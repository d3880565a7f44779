package history

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Filter says which entries are meant; the zero Filter means all.
type Filter struct {
	// Client, Server, Tool and Outcome are whole names, "" for any.
	Client, Server, Tool string
	Outcome              Outcome
	// Since and Until bound when the call ended, Until excluded; zero for no bound.
	Since, Until time.Time
	// Text is what a name, the decider, the arguments or the result hold, in upper or
	// lower case. Less than three characters are looked for in names alone.
	Text string
}

// MaxPage is the most entries of one page.
const MaxPage = 1000

// Page is a part of the entries, newest first.
type Page struct {
	Entries []Entry
	// Next is what the next page begins after, 0 when there is none.
	Next int64
}

// Page returns up to limit entries that the filter means, those with a smaller ID
// than after; 0 begins with the newest. The error is one of this package's or of the
// context.
func (l *Log) Page(ctx context.Context, f Filter, after int64, limit int) (Page, error) {
	limit = min(max(limit, 1), MaxPage)
	query, args := f.query(after, limit+1)
	entries, err := l.read(ctx, query, args)
	if err != nil {
		return Page{}, err
	}
	p := Page{Entries: entries}
	if len(entries) > limit {
		p.Entries = entries[:limit]
		p.Next = entries[limit-1].ID
	}
	return p, nil
}

// query is the filter in SQL, over a range of ids.
func (f Filter) query(after int64, limit int) (string, []any) {
	if after <= 0 {
		after = math.MaxInt64
	}
	if !f.Until.IsZero() {
		after = min(after, f.Until.UnixMicro())
	}
	from, where, args := "calls", []string{"calls.id < ?"}, []any{after}
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	order := "calls.id"
	if !f.Since.IsZero() {
		add("calls.id >= ?", f.Since.UnixMicro())
	}
	switch {
	case utf8.RuneCountInString(f.Text) >= 3:
		from, order = "texts CROSS JOIN calls ON calls.id = texts.rowid", "texts.rowid"
		add("texts.rowid < ? AND texts MATCH ?", after, `"`+strings.ReplaceAll(f.Text, `"`, `""`)+`"`)
	case f.Text != "":
		like := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(f.Text) + "%"
		add(`(client LIKE ? ESCAPE '\' OR server LIKE ? ESCAPE '\' OR tool LIKE ? ESCAPE '\' OR decider LIKE ? ESCAPE '\')`, like, like, like, like)
	}
	for _, name := range []struct{ column, value string }{
		{"calls.client", f.Client},
		{"calls.server", f.Server},
		{"calls.tool", f.Tool},
		{"calls.outcome", string(f.Outcome)},
	} {
		if name.value != "" {
			add(name.column+" = ?", name.value)
		}
	}
	const columns = `calls.id, calls.at, calls.client, calls.server, calls.tool, calls.decision, calls.decider,
		calls.duration, calls.outcome, calls.argument_bytes, calls.result_bytes, calls.digest, calls.arguments, calls.result`
	return "SELECT " + columns + " FROM " + from + " WHERE " + strings.Join(where, " AND ") + " ORDER BY " + order + " DESC LIMIT ?", append(args, limit)
}

func (l *Log) read(ctx context.Context, query string, args []any) ([]Entry, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	f := l.file
	if f == nil {
		return nil, ErrUnavailable
	}
	entries, err := l.scan(ctx, f, query, args)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	err = classify("reading it", err)
	if errors.Is(err, ErrBroken) {
		select {
		case l.broken <- f:
		default: // it is known
		}
	}
	return entries, err
}

func (l *Log) scan(ctx context.Context, f *file, query string, args []any) (entries []Entry, err error) {
	rows, err := f.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var e Entry
		var at, duration int64
		var digest []byte
		err := rows.Scan(&e.ID, &at, &e.Client, &e.Server, &e.Tool, &e.Decision, &e.Decider,
			&duration, &e.Outcome, &e.ArgumentBytes, &e.ResultBytes, &digest, &e.Arguments, &e.Result)
		if err != nil {
			return nil, err
		}
		for _, text := range []*string{&e.Client, &e.Server, &e.Tool, &e.Decision, &e.Decider, &e.Arguments, &e.Result} {
			*text = l.options.Mask(*text)
		}
		e.Time, e.Duration = time.UnixMicro(at).UTC(), time.Duration(duration)*time.Microsecond
		e.Digest = hex.EncodeToString(digest)
		entries = append(entries, e)
	}
	return entries, rows.Err()
}
