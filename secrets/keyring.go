package secrets

import (
	"context"
	"errors"
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

// Delete implements Store.
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
