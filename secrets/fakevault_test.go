package secrets

import (
	"context"
	"strings"
	"sync"
	"testing"
)

// A fakeVault is a keyring that misbehaves on demand.
type fakeVault struct {
	mu    sync.Mutex
	items map[string]string
	limit int

	absent   error // the answer of locked
	isLocked bool
	answer   func(ctx context.Context) error // the person at the prompt; nil unlocks at once
	prompts  int

	hang    chan struct{} // calls block until it is closed
	alive   bool          // the answer of asking
	onSet   func(account, text string) (kept string, err error)
	onDel   func(account string) (handled bool, err error)
	gets    int
	inside  int
	busiest int // most calls inside at once
}

func newVault() *fakeVault { return &fakeVault{items: map[string]string{}, limit: 2560} }

// enter counts a call and waits as long as calls hang.
func (v *fakeVault) enter() (leave func()) {
	v.mu.Lock()
	v.inside++
	v.busiest = max(v.busiest, v.inside)
	hang := v.hang
	v.mu.Unlock()
	if hang != nil {
		<-hang
	}
	return func() {
		v.mu.Lock()
		v.inside--
		v.mu.Unlock()
	}
}

func (v *fakeVault) get(account string) (string, error) {
	defer v.enter()()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gets++
	text, ok := v.items[account]
	if !ok {
		return "", errNoItem
	}
	return text, nil
}

func (v *fakeVault) set(account, text string) error {
	defer v.enter()()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.onSet != nil {
		var err error
		if text, err = v.onSet(account, text); err != nil {
			return err
		}
	}
	v.items[account] = text
	return nil
}

func (v *fakeVault) delete(account string) error {
	defer v.enter()()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.onDel != nil {
		if handled, err := v.onDel(account); handled {
			return err
		}
	}
	if _, ok := v.items[account]; !ok {
		return errNoItem
	}
	delete(v.items, account)
	return nil
}

func (v *fakeVault) itemLimit() int { return v.limit }

func (v *fakeVault) locked(ctx context.Context) (bool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.isLocked, v.absent
}

func (v *fakeVault) unlock(ctx context.Context) error {
	v.mu.Lock()
	v.prompts++
	answer := v.answer
	v.mu.Unlock()
	if answer != nil {
		if err := answer(ctx); err != nil {
			return err
		}
	}
	v.change(func() { v.isLocked = false })
	return nil
}

func (v *fakeVault) asking(context.Context) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.alive
}

// change sets fields while calls may be running.
func (v *fakeVault) change(f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f()
}

// contents returns a copy of the items.
func (v *fakeVault) contents() map[string]string {
	v.mu.Lock()
	defer v.mu.Unlock()
	items := make(map[string]string, len(v.items))
	for k, t := range v.items {
		items[k] = t
	}
	return items
}

// cut is an onSet that keeps only the first n bytes, without a word.
func cut(n int) func(string, string) (string, error) {
	return func(_, text string) (string, error) { return text[:min(n, len(text))], nil }
}

func openTest(t *testing.T, v vault) *Keyring {
	t.Helper()
	return openIn(t, t.TempDir(), v)
}

func openIn(t *testing.T, dir string, v vault) *Keyring {
	t.Helper()
	k := openKeyring(dir, v, nil)
	t.Cleanup(func() { _ = k.Close() })
	return k
}

func mustSet(t *testing.T, s Store, name, value string) {
	t.Helper()
	if err := s.Set(t.Context(), name, value); err != nil {
		t.Fatalf("Set(%s): %v", name, err)
	}
}

func wantValue(t *testing.T, s Store, name, want string) {
	t.Helper()
	got, err := s.Get(t.Context(), name)
	if err != nil {
		t.Fatalf("Get(%s): %v", name, err)
	}
	if got != want {
		t.Fatalf("Get(%s) = %d bytes that differ from the %d bytes set", name, len(got), len(want))
	}
}

// token returns n bytes that look like a token.
func token(n int) string { return strings.Repeat("eyJhbGciOiJIUzI1NiJ9-", n/21+1)[:n] }
