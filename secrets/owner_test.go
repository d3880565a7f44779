package secrets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fill stores n secrets N0, N1, … in a new keyring.
func fill(t *testing.T, v *fakeVault, n int) *Keyring {
	t.Helper()
	k := openTest(t, v)
	for i := range n {
		mustSet(t, k, fmt.Sprintf("N%d", i), fmt.Sprintf("value %d", i))
	}
	return k
}

// getAll reads N0 … N(n-1) at once and returns the errors.
func getAll(t *testing.T, k *Keyring, n int) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			value, err := k.Get(t.Context(), fmt.Sprintf("N%d", i))
			if want := fmt.Sprintf("value %d", i); err == nil && value != want {
				t.Errorf("Get(N%d) = %q", i, value)
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return errs
}

func lock(v *fakeVault, answer func(context.Context) error) {
	v.change(func() { v.isLocked, v.prompts, v.answer = true, 0, answer })
}

func dismiss(context.Context) error { return refused(true) }

func never(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// after answers the prompt when d has passed.
func after(d time.Duration) func(context.Context) error {
	return func(context.Context) error { time.Sleep(d); return nil }
}

// K2: N servers starting cause one unlock prompt, and one call at a time.
func TestOwnerAsksOnceForFiftyReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault()
		k := fill(t, v, 50)
		lock(v, after(90*time.Second))
		for i, err := range getAll(t, k, 50) {
			if err != nil {
				t.Errorf("N%d: %v", i, err)
			}
		}
		if v.prompts != 1 {
			t.Errorf("%d prompts", v.prompts)
		}
		if v.busiest != 1 {
			t.Errorf("%d calls at once in the keyring", v.busiest)
		}
	})
}

func TestOwnerSharesADismissedPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault()
		k := fill(t, v, 50)
		lock(v, func(context.Context) error { time.Sleep(time.Second); return refused(true) })
		for i, err := range getAll(t, k, 50) {
			if e, ok := errors.AsType[*Error](err); !errors.Is(err, ErrLocked) || !ok || e.Name != fmt.Sprintf("N%d", i) {
				t.Errorf("N%d: %v", i, err)
			}
		}
		if v.prompts != 1 {
			t.Errorf("%d prompts", v.prompts)
		}
	})
}

func TestOwnerTakesARefusalForAnAnswerForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault()
		k := fill(t, v, 1)
		lock(v, dismiss)
		wantPrompts := func(n int) {
			t.Helper()
			if v.prompts != n {
				t.Fatalf("%d prompts, want %d", v.prompts, n)
			}
		}
		getAll(t, k, 1)
		time.Sleep(quietTime - time.Second)
		if err := getAll(t, k, 1)[0]; !errors.Is(err, ErrLocked) {
			t.Errorf("in the quiet time: %v", err)
		}
		wantPrompts(1)
		// A person's own request asks, whatever was answered before.
		if err := k.Unlock(t.Context()); !errors.Is(err, ErrLocked) {
			t.Errorf("Unlock: %v", err)
		}
		wantPrompts(2)
		// Unlocked elsewhere, in the quiet time: no need to ask.
		v.change(func() { v.isLocked = false })
		if err := getAll(t, k, 1)[0]; err != nil {
			t.Error(err)
		}
		lock(v, dismiss)
		getAll(t, k, 1)
		time.Sleep(quietTime + time.Second)
		getAll(t, k, 1)
		wantPrompts(2)
		lock(v, nil)
		if err := k.Unlock(t.Context()); err != nil {
			t.Errorf("Unlock: %v", err)
		}
	})
}

func TestOwnerLimitsTheTimeOfAPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault()
		var shown []string
		k := openKeyring(t.TempDir(), v, func(open bool) { shown = append(shown, fmt.Sprint(open)) })
		defer k.Close()
		mustSet(t, k, "N0", "value 0")
		lock(v, never)
		start := time.Now()
		err := getAll(t, k, 1)[0]
		if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "nobody answered") {
			t.Errorf("error %v", err)
		}
		if took := time.Since(start); took != promptPatience {
			t.Errorf("took %v", took)
		}
		if !slices.Equal(shown, []string{"true", "false"}) {
			t.Errorf("waiting was said as %v", shown)
		}
	})
}

// The caller leaves with its context, and a call that hangs does not block the
// others for ever.
func TestOwnerSurvivesACallThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault()
		k := fill(t, v, 3)
		hang := make(chan struct{})
		v.change(func() { v.hang = hang })

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := k.Get(ctx, "N0"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Get: %v", err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("the caller was held for %v", took)
		}
		if _, err := k.Get(t.Context(), "N1"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("Get: %v", err)
		}
		if took := time.Since(start); took != callPatience {
			t.Errorf("the next caller was held for %v", took)
		}
		// A keyring that recovers is used again; the old call is forgotten.
		v.change(func() { v.hang = nil })
		wantValue(t, k, "N2", "value 2")
		close(hang)
		synctest.Wait()
		wantValue(t, k, "N0", "value 0")
	})
}

func TestOwnerGivesUpAKeyringThatKeepsHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault()
		k := fill(t, v, 1)
		hang := make(chan struct{})
		v.change(func() { v.hang, v.inside, v.busiest = hang, 0, 0 })
		for range maxStuck + 3 {
			if err := getAll(t, k, 1)[0]; !errors.Is(err, ErrUnavailable) {
				t.Errorf("error %v", err)
			}
		}
		start := time.Now()
		getAll(t, k, 1)
		if took := time.Since(start); took != 0 {
			t.Errorf("a keyring that was given up held the caller for %v", took)
		}
		if v.busiest > maxStuck {
			t.Errorf("%d calls were left behind", v.busiest)
		}
		v.change(func() { v.hang = nil })
		close(hang)
		synctest.Wait()
		wantValue(t, k, "N0", "value 0")
	})
}

// KeePassXC asks per item, inside the call.
func TestOwnerWaitsLongerWhileACallMayBeAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault()
		var shown []bool
		k := openKeyring(t.TempDir(), v, func(open bool) { shown = append(shown, open) })
		defer k.Close()
		mustSet(t, k, "N0", "value 0")
		hang := make(chan struct{})
		v.change(func() { v.hang, v.alive = hang, true })
		time.AfterFunc(time.Minute, func() { close(hang) })
		wantValue(t, k, "N0", "value 0")
		if !slices.Equal(shown, []bool{true, false}) {
			t.Errorf("waiting was said as %v", shown)
		}
		hang2 := make(chan struct{})
		defer close(hang2)
		v.change(func() { v.hang = hang2 })
		start := time.Now()
		if err := getAll(t, k, 1)[0]; !errors.Is(err, ErrUnavailable) {
			t.Errorf("error %v", err)
		}
		if took := time.Since(start); took != promptPatience {
			t.Errorf("took %v", took)
		}
	})
}

func TestOwnerSharesConcurrentReadsOfOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault()
		k := fill(t, v, 1)
		hang := make(chan struct{})
		v.change(func() { v.hang, v.gets = hang, 0 })
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { wantValue(t, k, "N0", "value 0") })
		}
		synctest.Wait()
		close(hang)
		wg.Wait()
		if v.gets != 1 {
			t.Errorf("%d reads of the keyring", v.gets)
		}
	})
}

func TestGetAfterSetSeesTheNewValue(t *testing.T) {
	k := openTest(t, newVault())
	mustSet(t, k, "N0", "value")
	var readers sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range 4 {
		readers.Go(func() {
			for ctx.Err() == nil {
				_, _ = k.Get(ctx, "N0")
			}
		})
	}
	for i := range 30 {
		value := fmt.Sprint("value ", i)
		mustSet(t, k, "N0", value)
		wantValue(t, k, "N0", value)
	}
	stop()
	readers.Wait()
}

// A timed-out write may still arrive; it must not become the value, nor stay.
func TestWriteThatTimesOutKeepsTheOldValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault()
		k := fill(t, v, 1)
		hang := make(chan struct{})
		v.change(func() { v.hang = hang })
		if err := k.Set(t.Context(), "N0", "new value"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("Set: %v", err)
		}
		v.change(func() { v.hang = nil })
		close(hang)
		synctest.Wait()
		wantValue(t, k, "N0", "value 0")
		mustSet(t, k, "N1", "other")
		if n := len(v.contents()); n != 2 {
			t.Errorf("%d items for two secrets", n)
		}
	})
}

type panickingVault struct{ *fakeVault }

func (panickingVault) get(string) (string, error) { panic("nil signal, with t0ken") }

// go-keyring reads a nil signal when the bus closes under an open prompt.
func TestOwnerSurvivesAPanicInTheLibrary(t *testing.T) {
	v := newVault()
	dir := t.TempDir()
	mustSet(t, openIn(t, dir, v), "N0", "value 0")
	_, err := openIn(t, dir, panickingVault{v}).Get(t.Context(), "N0")
	if !errors.Is(err, ErrUnavailable) || strings.Contains(err.Error(), "t0ken") {
		t.Errorf("error %v", err)
	}
}

func TestCloseWithdrawsThePromptAndFailsTheWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault()
		k := fill(t, v, 3)
		withdrawn := false
		lock(v, func(ctx context.Context) error {
			<-ctx.Done()
			withdrawn = true
			return ctx.Err()
		})
		done := make(chan []error)
		go func() { done <- getAll(t, k, 3) }()
		synctest.Wait()
		_ = k.Close()
		for _, err := range <-done {
			if !errors.Is(err, ErrUnavailable) {
				t.Errorf("error %v", err)
			}
		}
		if !withdrawn {
			t.Error("the prompt is still open")
		}
		if _, err := k.Get(t.Context(), "N0"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("Get after Close: %v", err)
		}
		if err := k.Check(t.Context()); !errors.Is(err, ErrUnavailable) {
			t.Errorf("Check after Close: %v", err)
		}
	})
}

func TestCheckNeitherPromptsNorWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault()
		k := fill(t, v, 1)
		if err := k.Check(t.Context()); err != nil {
			t.Errorf("Check: %v", err)
		}
		lock(v, after(time.Minute))
		if err := k.Check(t.Context()); !errors.Is(err, ErrLocked) {
			t.Errorf("Check: %v", err)
		}
		if v.prompts != 0 {
			t.Error("Check prompted")
		}
		var wg sync.WaitGroup
		wg.Go(func() { getAll(t, k, 1) })
		synctest.Wait()
		start := time.Now()
		if err := k.Check(t.Context()); !errors.Is(err, ErrLocked) || time.Since(start) != 0 {
			t.Errorf("Check behind a prompt: %v after %v", err, time.Since(start))
		}
		wg.Wait()
	})
}
