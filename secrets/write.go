package secrets

import (
	"errors"
	"fmt"
	"slices"
)

// The jobs that change what is stored. They run on the owner's goroutine, one
// at a time, and hold the index file's lock against other processes.

// write stores value as new items and then lets name refer to them.
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
	var kept []string
	for i, account := range idx.Leftovers {
		err := k.remove(account)
		if errors.Is(err, ErrLocked) || errors.Is(err, ErrUnavailable) {
			kept = append(kept, idx.Leftovers[i:]...)
			break
		}
		if err != nil {
			kept = append(kept, account)
		}
	}
	if len(kept) == len(idx.Leftovers) {
		return idx, nil
	}
	idx.Leftovers = kept
	return idx, k.index.save(idx)
}

// erase removes name. Its items go first: as long as the name is listed, some of
// the value may be in the keyring.
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

func tooBigForItem(name string, size, limit int) error {
	return &Error{
		Op: opSet, Name: name, Kind: ErrTooBig,
		Reason: fmt.Sprintf("the keyring refused the %d bytes of the value, in items of %d bytes", size, limit),
		Action: "store a shorter value",
	}
}
