package history

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

const (
	// batch is how many calls one transaction writes.
	batch = 256
	// pruneEvery is how often the oldest entries are looked for, and pruneStep how
	// many one transaction deletes.
	pruneEvery = time.Hour
	pruneStep  = 500
)

// writer is the goroutine that writes; it alone changes the log's file.
type writer struct {
	log    *Log
	failed error // what was told last
	tried  time.Time
}

func newWriter(l *Log, err error) *writer {
	w := &writer{log: l, tried: time.Now()}
	if !errors.Is(err, ErrBroken) { // of which the new file knows nothing
		w.failed = err
	}
	return w
}

func (w *writer) run() {
	defer close(w.log.done)
	defer w.log.use(nil)
	if hold := w.log.options.hold; hold != nil {
		<-hold
	}
	hourly := time.NewTicker(pruneEvery)
	defer hourly.Stop()
	w.prune()
	for {
		select {
		case first, ok := <-w.log.work:
			if !ok {
				return
			}
			w.take(first)
		case f := <-w.log.broken:
			if f == w.log.file {
				w.anew(ErrBroken)
			}
		case <-hourly.C:
			w.prune()
		}
	}
}

// take writes the job and those that wait behind it, and tells who waits for them.
func (w *writer) take(first job) {
	jobs := []job{first}
	for len(jobs) < batch {
		select {
		case j, ok := <-w.log.work:
			if ok {
				jobs = append(jobs, j)
				continue
			}
		default:
		}
		break
	}
	calls := make([]job, 0, len(jobs))
	for _, j := range jobs {
		if j.flushed == nil {
			calls = append(calls, j)
		}
	}
	if len(calls) > 0 {
		w.write(calls)
	}
	for _, j := range jobs {
		if j.flushed != nil {
			close(j.flushed)
		}
	}
}

// write keeps the calls or counts them as dropped. What finds the file broken is
// written to the new one.
func (w *writer) write(calls []job) {
	err := w.try(func(f *file) error { return insert(f, calls) })
	if errors.Is(err, ErrBroken) && w.log.file != nil {
		err = w.try(func(f *file) error { return insert(f, calls) })
	}
	if err != nil {
		w.log.dropped.Add(int64(len(calls)))
		return
	}
	w.tell(nil)
}

// try does something with the file, opening it if it is time to, and tells of what
// goes wrong.
func (w *writer) try(do func(*file) error) error {
	if w.log.file == nil {
		if time.Since(w.tried) < reopenAfter {
			return ErrUnavailable
		}
		w.tried = time.Now()
		if err := w.log.open(); err != nil {
			w.tell(err)
			if w.log.file == nil {
				return err
			}
		}
	}
	err := classify("writing to it", do(w.log.file))
	switch {
	case errors.Is(err, ErrBroken):
		w.anew(err)
	case err != nil:
		w.tell(err)
	}
	return err
}

// anew begins a new file in the place of a broken one.
func (w *writer) anew(why error) {
	w.log.use(nil)
	f, err := w.log.startAnew(why)
	w.tried = time.Now()
	w.log.use(f)
	w.tell(err)
}

// tell says how writing goes, when that differs from what was said last.
func (w *writer) tell(err error) {
	for _, kind := range []error{ErrFull, ErrBroken, ErrUnavailable} {
		if errors.Is(err, kind) && errors.Is(w.failed, kind) {
			return
		}
	}
	if err == nil && w.failed == nil {
		return
	}
	w.failed = err
	w.log.options.OnError(err)
}

// insert writes the calls in one transaction.
func insert(f *file, calls []job) error {
	tx, err := f.write.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	statement, err := tx.Prepare(`INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer statement.Close()
	for _, c := range calls {
		if err := insertOne(statement, c); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// insertOne takes the next free number: calls may end in the same microsecond.
func insertOne(statement *sql.Stmt, c job) error {
	for id := c.entry.ID; ; id++ {
		e := c.entry
		done, err := statement.Exec(id, e.Time.UnixMicro(), e.Client, e.Server, e.Tool, e.Decision, e.Decider,
			e.Duration.Microseconds(), string(e.Outcome), e.ArgumentBytes, e.ResultBytes, c.digest, e.Arguments, e.Result)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
	}
}

// prune deletes what is older than [Keep], a few entries at a time so that calls are
// not kept waiting for long.
func (w *writer) prune() {
	for w.log.file != nil {
		n, err := int64(0), error(nil)
		_ = w.try(func(f *file) error { // told by try
			n, err = pruneSome(f, time.Now().Add(-Keep))
			return err
		})
		if err != nil || n < pruneStep {
			return
		}
		select {
		case j, ok := <-w.log.work:
			if !ok {
				return
			}
			w.take(j)
		default:
		}
	}
}

// pruneSome gives the room back to the system, and lets SQLite see which index is
// worth using.
func pruneSome(f *file, before time.Time) (int64, error) {
	done, err := f.write.Exec(`DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE id < ? ORDER BY id LIMIT ?)`, before.UnixMicro(), pruneStep)
	if err != nil {
		return 0, err
	}
	n, err := done.RowsAffected()
	if err == nil && n < pruneStep {
		_, err = f.write.Exec(`PRAGMA incremental_vacuum; PRAGMA analysis_limit = 400; PRAGMA optimize`)
	}
	return n, err
}
