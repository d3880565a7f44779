package client

import (
	"math/rand/v2"
	"time"
)

const (
	backoffBase = time.Second
	backoffMax  = 60 * time.Second
	// sustained is how long a connection must have lived for the next failure to
	// start over.
	sustained = 60 * time.Second
	// maxRetryAfter caps what a server may ask us to wait.
	maxRetryAfter = 5 * time.Minute
)

// backoff gives the waits between attempts: 1 s doubling to 60 s, with up to a
// fifth of jitter so that servers that fell together do not rise together (C1).
type backoff struct{ tries int }

// next returns the wait before the next attempt and how many have failed.
func (b *backoff) next() (time.Duration, int) {
	d := backoffMax
	if b.tries < 6 {
		d = backoffBase << b.tries
	}
	b.tries++
	return d - time.Duration(rand.Int64N(int64(d)/5)), b.tries
}

func (b *backoff) reset() { b.tries = 0 }
