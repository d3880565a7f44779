package era

import (
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// DefaultTTL is how long an HTTP verdict holds where the spec does not say (E4).
const DefaultTTL = 15 * time.Minute

// NoExpiry is the TTL of a verdict that holds until it is proven wrong, which is
// stdio's rule (E5). Any negative TTL means the same.
const NoExpiry time.Duration = -1

// Verdict is a server's era and how it became known. It is put only once the first
// exchange in the chosen version has succeeded (E2).
type Verdict struct {
	Era     Era
	Version mcp.Version
	// Record is the evidence (E9).
	Record    Record
	DecidedAt time.Time
	// TTL is how long the verdict holds from DecidedAt: 0 not at all, negative
	// without end.
	TTL time.Duration
}

// Until is when the verdict ends; the zero time when it does not end by itself.
func (v Verdict) Until() time.Time {
	if v.TTL < 0 {
		return time.Time{}
	}
	return v.DecidedAt.Add(v.TTL)
}

// Verdicts is the table of verdicts, shared by all sessions (E7). Its zero value is
// not ready; see [NewVerdicts].
type Verdicts struct {
	// OnError, when set, hears of every failure to write the file of [Persist]. It
	// is set before the table is used. The verdicts in memory hold regardless.
	OnError func(error)

	mu       sync.Mutex
	rows     map[Key]Verdict
	reprobed map[Key]bool // E6: keys that have used up their one re-probe
	path     string       // of the file; "" while there is none
	changes  uint64       // of rows that the file holds

	saving sync.Mutex // held while the file is written; taken before mu
	saved  uint64     // changes as of the last good write
}

// NewVerdicts returns an empty table that lives in memory alone.
func NewVerdicts() *Verdicts {
	return &Verdicts{rows: make(map[Key]Verdict), reprobed: make(map[Key]bool)}
}

// Get returns the verdict of k while it is younger than ttl, with that ttl as its
// TTL. A ttl of 0 never hits, a negative one never ends. An expired verdict is
// deleted by the read that finds it (E4).
func (t *Verdicts) Get(k Key, ttl time.Duration) (Verdict, bool) {
	t.mu.Lock()
	v, ok := t.rows[k]
	if ok && ttl >= 0 {
		// A negative age is a clock that was set back since a former run.
		age := time.Since(v.DecidedAt)
		ok = age >= 0 && age < ttl
	}
	if !ok {
		t.removeAndSave(k)
		return Verdict{}, false
	}
	t.mu.Unlock()
	v.TTL = ttl
	return v, true
}

// Put remembers a verdict of k. A zero DecidedAt becomes now; a verdict whose era is
// unknown is none and changes nothing.
func (t *Verdicts) Put(k Key, v Verdict) {
	if v.Era != Modern && v.Era != Legacy {
		return
	}
	if v.DecidedAt.IsZero() {
		v.DecidedAt = time.Now()
	}
	t.mu.Lock()
	t.rows[k] = v
	save := t.changed(k)
	t.mu.Unlock()
	if save {
		t.save()
	}
}

// Forget drops the verdict of k: the assumption failed, or a session was rejected
// (E5, E6).
func (t *Verdicts) Forget(k Key) {
	t.mu.Lock()
	t.removeAndSave(k)
}

// TryReprobe reports whether this caller may probe k again after a rejected session:
// true once until [Verdicts.Arm], so that a burst of rejections makes one probe (E6).
func (t *Verdicts) TryReprobe(k Key) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reprobed[k] {
		return false
	}
	t.reprobed[k] = true
	return true
}

// Arm lets the next rejection of k probe again. It is called for every successful
// round trip, but not for the probe's own (E6).
func (t *Verdicts) Arm(k Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.reprobed, k)
}

// removeAndSave is called with mu held and releases it.
func (t *Verdicts) removeAndSave(k Key) {
	save := false
	if _, ok := t.rows[k]; ok {
		delete(t.rows, k)
		save = t.changed(k)
	}
	t.mu.Unlock()
	if save {
		t.save()
	}
}

// changed notes a change of k's row and reports whether the file must follow. mu is
// held.
func (t *Verdicts) changed(k Key) bool {
	if t.path == "" || k.fingerprint == "" {
		return false
	}
	t.changes++
	return true
}
