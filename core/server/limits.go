package server

import "time"

// Limits bounds what clients can make the machine hold (S3). Zero fields take the
// defaults.
type Limits struct {
	// Workers is how many handlers run at once; default 32.
	Workers int
	// WorkersPerOwner is how many of them one owner may hold; default half of
	// Workers, at least 1, and never more than Workers.
	WorkersPerOwner int
	// CallTimeout is how long one handler may run, waits for a client's answer
	// not counted; default 300 s.
	CallTimeout time.Duration
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

func (l Limits) withDefaults() Limits {
	def := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	defD := func(p *time.Duration, v time.Duration) {
		if *p <= 0 {
			*p = v
		}
	}
	def(&l.Workers, 32)
	def(&l.WorkersPerOwner, max(1, l.Workers/2))
	l.WorkersPerOwner = min(l.WorkersPerOwner, l.Workers)
	defD(&l.CallTimeout, 300*time.Second)
	defD(&l.AnswerTimeout, 10*time.Minute)
	defD(&l.StateTTL, 15*time.Minute)
	def(&l.Listens, 1024)
	def(&l.ListensPerOwner, 64)
	def(&l.Watched, 1024)
	defD(&l.Coalesce, 50*time.Millisecond)
	def(&l.PageSize, 100)
	return l
}
