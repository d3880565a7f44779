package hub

import (
	"context"
	"errors"
	"fmt"

	"github.com/drawbridge-mcp/drawbridge/core/spec"
	"github.com/drawbridge-mcp/drawbridge/secrets"
)

// follow runs the watcher of the spec file and applies what it finds.
func (h *Hub) follow(ctx context.Context) error {
	var inForce *spec.File
	take := func(st spec.State) {
		h.noteFile(st)
		if st.File != inForce {
			h.apply(ctx, inForce, st.File)
			inForce = st.File
		}
	}
	w := spec.NewWatcher(h.cfg.SpecPath, take)
	h.mu.Lock()
	h.watcher = w
	h.mu.Unlock()
	take(w.State())
	return w.Serve(ctx)
}

// noteFile publishes the state of the spec file (P2).
func (h *Hub) noteFile(st spec.State) {
	f := FileState{Path: h.cfg.SpecPath, Notes: st.Notes}
	if st.Problem != nil {
		f.Problem = sentence(st.Problem)
	}
	for _, n := range st.File.Notes {
		f.Notes = append(f.Notes, n.String())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = f
	h.touch()
}

// apply makes the running servers those of the file: new ones start, changed ones
// restart, removed ones stop; the rest is not touched (field case 13).
func (h *Hub) apply(ctx context.Context, old, new *spec.File) {
	changes := spec.Diff(old, new)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.order = h.order[:0]
	for _, e := range new.Entries {
		h.order = append(h.order, e.Name)
		if _, ok := h.servers[e.Name]; !ok {
			h.servers[e.Name] = h.newServer(ctx, e)
		}
	}
	for _, name := range changes.Changed {
		h.servers[name].set(new.Find(name))
	}
	for _, name := range changes.Removed {
		h.servers[name].stop()
		h.removed[name] = h.servers[name]
		delete(h.servers, name)
	}
	h.touch()
}

// heard keeps what an attempt to read a secret says about the keyring as a whole
// (K3). That a secret was never stored says nothing about it, so it is asked.
func (h *Hub) heard(ctx context.Context, err error) {
	switch {
	case err != nil && !errors.Is(err, spec.ErrSecret):
		return
	case errors.Is(err, secrets.ErrNotFound) && h.cfg.CheckKeyring != nil:
		err = h.cfg.CheckKeyring(ctx)
	}
	var k Keyring
	if e, ok := errors.AsType[*secrets.Error](err); ok && (errors.Is(err, secrets.ErrLocked) || errors.Is(err, secrets.ErrUnavailable)) {
		k = Keyring{Problem: e.Reason, Hint: e.Action}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	k.Waiting = h.keyring.Waiting
	if h.keyring != k {
		h.keyring = k
		h.touch()
	}
}

// KeyringWaits says that the keyring begins or ends to wait for the person.
func (h *Hub) KeyringWaits(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.keyring.Waiting != on {
		h.keyring.Waiting = on
		h.touch()
	}
}

// Do carries out a row's action. A server of "" is allowed for Reload.
func (h *Hub) Do(ctx context.Context, name string, action ActionKind) error {
	switch action {
	case Reload:
		h.mu.Lock()
		w := h.watcher
		h.mu.Unlock()
		if w != nil {
			w.Reload()
		}
		return nil
	case TurnOn, TurnOff:
		return h.SetWanted(ctx, name, action == TurnOn)
	case AllowParallel, KeepSerial:
		if _, err := h.find(name); err != nil {
			return err
		}
		c := spec.Serialized
		if action == AllowParallel {
			c = spec.Pooled
		}
		return h.edit(spec.SetConcurrency(name, c))
	}
	v, err := h.find(name)
	if err != nil {
		return err
	}
	switch action {
	case Reconnect:
		v.retry(false)
	case ProbeAgain:
		v.retry(true)
	default:
		return fmt.Errorf("nothing to do for %q", action)
	}
	return nil
}

// Retry tries again every server that uses secrets and is not ready: one may have been
// set.
func (h *Hub) Retry() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range h.servers {
		v.retrySecrets()
	}
}

// demoName is what the demo server is called in the spec file.
const demoName = "demo"

// AddDemo adds our own demo server to the spec file, or turns it on if it is there.
func (h *Hub) AddDemo(ctx context.Context) error {
	if _, err := h.find(demoName); err == nil {
		return h.SetWanted(ctx, demoName, true)
	}
	return h.edit(spec.AddServer(&spec.Spec{
		Name: demoName, Source: spec.User, Type: spec.Stdio, Command: h.cfg.Executable, Args: []string{"demo"},
	}))
}

// SetWanted turns a server on or off, in the spec file.
func (h *Hub) SetWanted(_ context.Context, name string, on bool) error {
	if _, err := h.find(name); err != nil {
		return err
	}
	return h.edit(spec.SetDisabled(name, !on))
}

// edit changes the spec file as it stands, and has it read again. Edits name what
// they are about, so one that a hand edit came before still does the right thing.
func (h *Hub) edit(c spec.Change) error {
	if err := spec.Edit(h.cfg.SpecPath, spec.Hash{}, c); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watcher != nil {
		h.watcher.Reload()
	}
	return nil
}
