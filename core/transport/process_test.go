package transport

import (
	"testing"
	"time"
)

// T9: all the waits that Close can go through, with a margin for the work between.
func TestCloseBudget(t *testing.T) {
	// supervise may wait for the sink twice, Close itself once more.
	most := eofGrace + termGrace + killGrace + 3*sinkGrace
	if limit := 3*time.Second - 500*time.Millisecond; most > limit {
		t.Errorf("Close may wait %v, more than %v", most, limit)
	}
}
