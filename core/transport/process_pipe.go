package transport

import (
	"os"
	"sync"
	"time"
)

// pipeReader reads a pipe whose writers may outlive the process that we started.
// Once that is dead, waiting for the others is limited, while bytes that are
// there are read however long it takes to consume them.
type pipeReader struct {
	f *os.File

	mu      sync.Mutex
	limited bool
	left    time.Duration // what remains of the limit
	reading bool
	begun   time.Time
	timer   *time.Timer
}

// Read implements [io.Reader].
func (r *pipeReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	r.reading = true
	r.arm()
	r.mu.Unlock()

	n, err := r.f.Read(p)

	r.mu.Lock()
	defer r.mu.Unlock()
	r.reading = false
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
		r.left -= time.Since(r.begun)
	}
	return n, err
}

// limit bounds the time that all reads from now on, the current one included,
// may wait for bytes.
func (r *pipeReader) limit(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	r.limited, r.left = true, d
	r.arm()
}

func (r *pipeReader) arm() {
	if !r.limited || !r.reading {
		return
	}
	r.begun = time.Now()
	// Closing is the one way to interrupt a read on every platform.
	r.timer = time.AfterFunc(max(r.left, 0), func() { r.f.Close() })
}
