package secrets

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// callPatience is how long a keyring call may take (K2).
	callPatience = 5 * time.Second
	// promptPatience is how long it may take while a person is being asked.
	promptPatience = 2 * time.Minute
	// quietTime is how long a refused unlock prompt is taken for an answer
	// to requests that come later.
	quietTime = 30 * time.Second
	// maxStuck is how many calls that never returned are left behind before
	// the keyring is given up.
	maxStuck = 4
)

// A vault is one system's keyring: short printable texts by account name.
//
// get, set and delete may block without limit, or panic. get and delete return
// errNoItem for an account that is not there, set returns errItemTooBig. The
// other methods heed their context.
type vault interface {
	get(account string) (string, error)
	set(account, text string) error
	delete(account string) error
	// itemLimit is the length of the longest text, in bytes.
	itemLimit() int

	// locked reports whether the vault must be unlocked first. It never
	// prompts. Its error says why there is no vault.
	locked(ctx context.Context) (bool, error)
	// unlock asks the person to unlock the vault and waits for the answer.
	unlock(ctx context.Context) error
	// asking reports whether a call that takes long may be waiting for a
	// person rather than for a program that hangs.
	asking(ctx context.Context) bool
}

// An owner is the one goroutine that calls a vault. It runs jobs in the order
// they came, each on an unlocked vault.
type owner struct {
	vault   vault
	waiting func(bool)

	jobs   chan *job
	asked  atomic.Uint64 // tickets handed out
	life   context.Context
	end    context.CancelFunc
	exited sync.WaitGroup

	// running counts the calls in the vault. Outside call, all of them are
	// stuck.
	running atomic.Int32

	// Of the goroutine alone: the last answer that also goes for every job
	// that was already waiting then, and how long no prompt is shown.
	answer     error
	answeredAt uint64
	refusal    error // why the last prompt did not unlock
	quietUntil time.Time
}

type job struct {
	ctx    context.Context
	ticket uint64
	insist bool // ask the person even if they refused a moment ago
	run    func() error
	done   chan error
}

func startOwner(v vault, waiting func(bool)) *owner {
	if waiting == nil {
		waiting = func(bool) {}
	}
	o := &owner{vault: v, waiting: waiting, jobs: make(chan *job)}
	o.life, o.end = context.WithCancel(context.Background())
	o.exited.Go(o.serve)
	return o
}

// close withdraws an open prompt, fails the jobs that wait and returns when the
// goroutine has ended. Calls that never return are left behind.
func (o *owner) close() {
	o.end()
	o.exited.Wait()
}

// do runs the job on the owner's goroutine once the vault is unlocked, and
// returns its error, or ctx's as soon as that ends. A job that has begun runs
// to its end regardless.
func (o *owner) do(ctx context.Context, insist bool, run func() error) error {
	j := &job{ctx: ctx, ticket: o.asked.Add(1), insist: insist, run: run, done: make(chan error, 1)}
	select {
	case o.jobs <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-o.life.Done():
		return errClosed()
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-o.life.Done():
		return errClosed()
	}
}

func errClosed() error {
	return &Error{
		Kind:   ErrUnavailable,
		Reason: "the keyring is closed, because Drawbridge is stopping",
		Action: "start Drawbridge again",
	}
}

func (o *owner) serve() {
	for {
		select {
		case <-o.life.Done():
			return
		case j := <-o.jobs:
			j.done <- o.perform(j)
		}
	}
}

func (o *owner) perform(j *job) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	if j.ticket <= o.answeredAt && !j.insist {
		return o.answer
	}
	err := o.open(j.insist)
	if err == nil {
		err = j.run()
	}
	if errors.Is(err, ErrLocked) || errors.Is(err, ErrUnavailable) {
		o.answer, o.answeredAt = err, o.asked.Load()
	}
	return err
}

// open makes the vault ready for calls, asking the person if it is locked.
func (o *owner) open(insist bool) error {
	ctx, cancel := context.WithTimeout(o.life, callPatience)
	isLocked, err := o.vault.locked(ctx)
	cancel()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return silent(callPatience)
	case err != nil:
		return err
	case !isLocked:
		o.quietUntil = time.Time{}
		return nil
	case !insist && time.Now().Before(o.quietUntil):
		return o.refusal
	}

	ctx, cancel = context.WithTimeout(o.life, promptPatience)
	defer cancel()
	o.waiting(true)
	err = o.vault.unlock(ctx)
	o.waiting(false)
	if errors.Is(err, context.DeadlineExceeded) {
		err = unanswered(promptPatience)
	}
	if errors.Is(err, ErrLocked) {
		o.refusal, o.quietUntil = err, time.Now().Add(quietTime)
	}
	return err
}

// check reports why the vault cannot be used now, without asking anybody and
// without waiting for the jobs.
func (o *owner) check(ctx context.Context) error {
	if o.life.Err() != nil {
		return errClosed()
	}
	bounded, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	isLocked, err := o.vault.locked(bounded)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return silent(callPatience)
	case err != nil:
		return err
	case isLocked:
		return locked(nil)
	}
	return nil
}

// call makes one call into the vault and waits for it no longer than a keyring
// call may take. Only jobs use it.
func call[T any](o *owner, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	if o.running.Load() >= maxStuck {
		return none, silent(callPatience)
	}
	done := make(chan result, 1)
	o.running.Add(1)
	go func() {
		var r result
		defer func() {
			// go-keyring panics when the bus closes under its prompt.
			if p := recover(); p != nil {
				r = result{err: noAnswer(p)}
			}
			o.running.Add(-1)
			done <- r
		}()
		r.value, r.err = f()
	}()

	patience := callPatience
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case r := <-done:
			return r.value, r.err
		case <-o.life.Done():
			return none, errClosed()
		case <-timer.C:
		}
		if patience == promptPatience || !o.asking() {
			return none, silent(patience)
		}
		o.waiting(true)
		defer o.waiting(false)
		timer.Reset(promptPatience - patience)
		patience = promptPatience
	}
}

func (o *owner) asking() bool {
	ctx, cancel := context.WithTimeout(o.life, time.Second)
	defer cancel()
	return o.vault.asking(ctx)
}

func noAnswer(panicked any) error {
	return &Error{
		Kind:   ErrUnavailable,
		Reason: "the keyring service went away during the call",
		Action: "try again",
		cause:  fmt.Errorf("panic in the keyring library: %T", panicked),
	}
}
