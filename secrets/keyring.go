package secrets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/singleflight"
)

// Keyring is the Store over the operating system's keyring (K2).
type Keyring struct {
	index indexFile
	owner *owner
	reads singleflight.Group
}

var _ Store = (*Keyring)(nil)

// OpenKeyring returns the store whose index file is in the directory dir. It
// touches neither the directory nor the keyring, and so cannot fail: Drawbridge
// starts without a keyring, too.
//
// If waiting is not nil, it is called with true when the keyring begins to wait
// for a person, and with false when it no longer does. It must return at once.
func OpenKeyring(dir string, waiting func(bool)) *Keyring {
	return openKeyring(dir, osVault{}, waiting)
}

func openKeyring(dir string, v vault, waiting func(bool)) *Keyring {
	return &Keyring{index: indexFile{dir}, owner: startOwner(v, waiting)}
}

// Close withdraws an open unlock prompt and ends the calls that wait, which
// then fail with ErrUnavailable. It always returns nil.
func (k *Keyring) Close() error {
	k.owner.close()
	return nil
}

// Check returns nil when the keyring can be used at once, or an *Error of kind
// ErrLocked or ErrUnavailable that says why not. It never prompts.
func (k *Keyring) Check(ctx context.Context) error {
	return about(opCheck, "", k.owner.check(ctx))
}

// Unlock asks the person to unlock the keyring if it is locked, even if they
// refused a moment ago: for a button that a person presses. Get, Set and Delete
// ask by themselves, but for half a minute take a refusal for an answer.
func (k *Keyring) Unlock(ctx context.Context) error {
	return about(opCheck, "", k.owner.do(ctx, true, func() error { return nil }))
}

// Get implements Store. Concurrent calls for one name share one read.
func (k *Keyring) Get(ctx context.Context, name string) (string, error) {
	if err := check(ctx, opGet, name); err != nil {
		return "", err
	}
	read := k.reads.DoChan(name, func() (any, error) { return k.read(name) })
	select {
	case r := <-read:
		value, _ := r.Val.(string)
		return value, about(opGet, name, r.Err)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// read gets name's value for everyone who waits for it, hence has no context.
func (k *Keyring) read(name string) (string, error) {
	var last entry
	for {
		idx, err := k.index.load()
		if err != nil {
			return "", err
		}
		e, ok := idx.Secrets[name]
		if !ok {
			return "", notFound(opGet, name)
		}
		if e == last {
			return "", lost(name)
		}
		var value string
		err = k.owner.do(context.Background(), false, func() (err error) {
			value, err = k.fetch(e)
			return err
		})
		switch {
		case errors.Is(err, errNoItem):
			// Replaced since the index was read, or lost: look again.
			last = e
		case errors.Is(err, errDamaged):
			return "", damaged(name)
		case err != nil:
			return "", err // value may still be written to
		default:
			return value, nil
		}
	}
}

// fetch reads e's items and returns the value they hold. Only jobs call it.
func (k *Keyring) fetch(e entry) (string, error) {
	parts := make([]string, 0, e.Parts)
	for _, account := range e.accounts() {
		part, err := k.get(account)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	return join(parts)
}

// Set implements Store. It writes the value under keyring items of its own,
// reads it back, and only then lets the name refer to it.
func (k *Keyring) Set(ctx context.Context, name, value string) error {
	if err := check(ctx, opSet, name); err != nil {
		return err
	}
	if err := checkValue(name, value); err != nil {
		return err
	}
	err := k.owner.do(ctx, false, func() error { return k.write(name, value) })
	// A later Get must not join a read that began before the write.
	k.reads.Forget(name)
	return about(opSet, name, err)
}

func (k *Keyring) write(name, value string) error {
	unlock, err := k.index.lock(k.owner.life)
	if err != nil {
		return err
	}
	defer unlock()
	idx, err := k.index.load()
	if err != nil {
		return err
	}
	idx, err = k.sweep(idx)
	if err != nil {
		return err
	}

	old, exists := idx.Secrets[name]
	if !exists {
		old = newEntry()
	}
	limit := k.owner.vault.itemLimit()
	parts := split(value, limit)
	fresh := old.next(len(parts))
	swept := idx.Leftovers
	idx.Leftovers = slices.Concat(swept, fresh.accounts())
	if err := k.index.save(idx); err != nil {
		return err
	}
	if err := k.deposit(fresh, parts, value); err != nil {
		if e, ok := errors.AsType[*Error](err); !ok || !e.timeout {
			_, _ = k.sweep(idx)
		}
		if errors.Is(err, errItemTooBig) {
			return tooBigForItem(name, len(value), limit)
		}
		return err
	}

	idx.Secrets[name] = fresh
	idx.Leftovers = slices.Concat(swept, old.accounts())
	if err := k.index.save(idx); err != nil {
		return err
	}
	// The new value is in place. If the old one cannot be removed now, it is
	// listed, and the next write tries again.
	_, _ = k.sweep(idx)
	return nil
}

// deposit writes e's items and compares what the keyring then holds: some
// versions of some keyrings cut long texts without a word.
func (k *Keyring) deposit(e entry, parts []string, value string) error {
	for i, account := range e.accounts() {
		if err := k.set(account, parts[i]); err != nil {
			return err
		}
	}
	kept, err := k.fetch(e)
	switch {
	case errors.Is(err, errNoItem), errors.Is(err, errDamaged), err == nil && kept != value:
		return &Error{
			Reason: fmt.Sprintf("the keyring did not keep the %d bytes of the value as they were given", len(value)),
			Action: "store a shorter value, or use another keyring",
		}
	}
	return err
}

// sweep removes the leftovers that can be removed, and returns the index
// without them. Its error is the index file's. The caller holds the lock.
func (k *Keyring) sweep(idx index) (index, error) {
	for i, account := range idx.Leftovers {
		if err := k.remove(account); err != nil {
			if i == 0 {
				return idx, nil
			}
			idx.Leftovers = idx.Leftovers[i:]
			return idx, k.index.save(idx)
		}
	}
	if len(idx.Leftovers) == 0 {
		return idx, nil
	}
	idx.Leftovers = nil
	return idx, k.index.save(idx)
}

// Delete implements Store. The name goes last: as long as it is listed, some
// of its value may be in the keyring.
func (k *Keyring) Delete(ctx context.Context, name string) error {
	if err := check(ctx, opDelete, name); err != nil {
		return err
	}
	idx, err := k.index.load()
	if err != nil {
		return about(opDelete, name, err)
	}
	if _, ok := idx.Secrets[name]; !ok {
		return notFound(opDelete, name)
	}
	err = k.owner.do(ctx, false, func() error { return k.erase(name) })
	k.reads.Forget(name)
	return about(opDelete, name, err)
}

func (k *Keyring) erase(name string) error {
	unlock, err := k.index.lock(k.owner.life)
	if err != nil {
		return err
	}
	defer unlock()
	idx, err := k.index.load()
	if err != nil {
		return err
	}
	e, ok := idx.Secrets[name]
	if !ok {
		return notFound(opDelete, name)
	}
	for _, account := range e.accounts() {
		if err := k.remove(account); err != nil {
			return err
		}
	}
	delete(idx.Secrets, name)
	if err := k.index.save(idx); err != nil {
		return err
	}
	_, _ = k.sweep(idx)
	return nil
}

// List implements Store.
func (k *Keyring) List(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	idx, err := k.index.load()
	if err != nil {
		return nil, about(opList, "", err)
	}
	return slices.Sorted(maps.Keys(idx.Secrets)), nil
}

func (k *Keyring) get(account string) (string, error) {
	return call(k.owner, func() (string, error) { return k.owner.vault.get(account) })
}

func (k *Keyring) set(account, text string) error {
	_, err := call(k.owner, func() (struct{}, error) { return struct{}{}, k.owner.vault.set(account, text) })
	return err
}

// remove makes sure that there is no item for account. It looks again after
// deleting, because go-keyring reports a dismissed prompt as success.
func (k *Keyring) remove(account string) error {
	_, err := call(k.owner, func() (struct{}, error) { return struct{}{}, k.owner.vault.delete(account) })
	if errors.Is(err, errNoItem) {
		return nil
	}
	if err != nil {
		return err
	}
	switch _, err = k.get(account); {
	case errors.Is(err, errNoItem):
		return nil
	case err == nil:
		return &Error{
			Reason: "the keyring still has the value after it was removed",
			Action: "try again and allow the removal",
		}
	}
	return err
}

func lost(name string) error {
	return &Error{
		Kind:   ErrNotFound,
		Reason: "its value is no longer in this keyring",
		Action: "store it again with `drawbridge secret set " + name + "`",
	}
}

func damaged(name string) error {
	return &Error{
		Reason: "the value in the keyring is damaged",
		Action: "store it again with `drawbridge secret set " + name + "`",
	}
}

func tooBigForItem(name string, size, limit int) error {
	return &Error{
		Op: opSet, Name: name, Kind: ErrTooBig,
		Reason: fmt.Sprintf("the keyring refused the %d bytes of the value, in items of %d bytes", size, limit),
		Action: "store a shorter value",
	}
}
