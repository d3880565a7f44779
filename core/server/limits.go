package server

import (
	"errors"
	"fmt"
	"time"
)

// Limits bounds what clients can make the machine hold (S3). Zero fields take the
// defaults; negative ones are refused, and shares that are greater than their whole.
type Limits struct {
	// Workers is how many handlers run at once; default 32.
	Workers int
	// WorkersPerOwner is how many of them one owner may hold; default half of
	// Workers, at least 1.
	WorkersPerOwner int
	// CallTimeout is how long one handler may run, waits for a client's answer
	// not counted; default 300 s.
	CallTimeout time.Duration
	// Parked is how many calls wait for approval at once; default 256.
	// ParkedPerOwner is how many of them one owner may have; default 32, and never
	// more than Parked unless set.
	Parked         int
	ParkedPerOwner int
	// AskTimeout is how long [InClient] waits for approval; default 60 s.
	AskTimeout time.Duration
	// Capabilities is how many connections' client capabilities are kept; default
	// 1,024.
	Capabilities int
	// AnswerTimeout is how long a legacy client may take to answer a request of
	// ours; default 10 min, since a person may be asked.
	AnswerTimeout time.Duration
	// StateTTL is how long a modern client may take to retry with the
	// requestState it was given; default 15 min.
	StateTTL time.Duration
	// Listens is how many subscriptions/listen streams are open at once; default
	// 1,024. ListensPerOwner defaults to 64.
	Listens         int
	ListensPerOwner int
	// Watched is how many resources one subscription may name; default 1,024.
	Watched int
	// Coalesce is how long changes are gathered before they are announced;
	// default 50 ms.
	Coalesce time.Duration
	// PageSize is how many entries one page of a list holds; default 100.
	PageSize int
}

// ErrLimits says that limits cannot be.
var ErrLimits = errors.New("the limits cannot be")

func (l Limits) withDefaults() (Limits, error) {
	var err error
	wrong := func(name, why string) { err = fmt.Errorf("%w: %s is %s", ErrLimits, name, why) }
	def := func(name string, p *int, v int) {
		if *p == 0 {
			*p = v
		}
		if *p < 0 {
			wrong(name, "negative")
		}
	}
	defD := func(name string, p *time.Duration, v time.Duration) {
		if *p == 0 {
			*p = v
		}
		if *p < 0 {
			wrong(name, "negative")
		}
	}
	def("Workers", &l.Workers, 32)
	def("WorkersPerOwner", &l.WorkersPerOwner, max(1, l.Workers/2))
	defD("CallTimeout", &l.CallTimeout, 300*time.Second)
	def("Parked", &l.Parked, 256)
	def("ParkedPerOwner", &l.ParkedPerOwner, min(32, l.Parked))
	defD("AskTimeout", &l.AskTimeout, 60*time.Second)
	def("Capabilities", &l.Capabilities, 1024)
	defD("AnswerTimeout", &l.AnswerTimeout, 10*time.Minute)
	defD("StateTTL", &l.StateTTL, 15*time.Minute)
	def("Listens", &l.Listens, 1024)
	def("ListensPerOwner", &l.ListensPerOwner, min(64, l.Listens))
	def("Watched", &l.Watched, 1024)
	defD("Coalesce", &l.Coalesce, 50*time.Millisecond)
	def("PageSize", &l.PageSize, 100)
	for _, share := range []struct {
		name      string
		of, whole int
	}{
		{"WorkersPerOwner", l.WorkersPerOwner, l.Workers},
		{"ParkedPerOwner", l.ParkedPerOwner, l.Parked},
		{"ListensPerOwner", l.ListensPerOwner, l.Listens},
	} {
		if share.of > share.whole {
			wrong(share.name, "greater than its whole")
		}
	}
	return l, err
}
