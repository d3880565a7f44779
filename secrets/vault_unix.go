//go:build unix && !darwin

package secrets

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"
)

// itemLimit is a choice: the Secret Service takes megabytes, slowly.
const itemLimit = 64 << 10

// Names of the Secret Service, as its specification (draft 0.2) has them.
const (
	secretService    = "org.freedesktop.secrets"
	secretPath       = dbus.ObjectPath("/org/freedesktop/secrets")
	secretInterface  = "org.freedesktop.Secret.Service"
	collectionIface  = "org.freedesktop.Secret.Collection"
	promptInterface  = "org.freedesktop.Secret.Prompt"
	loginCollection  = dbus.ObjectPath("/org/freedesktop/secrets/collection/login")
	noPath           = dbus.ObjectPath("/")
	propertiesGet    = "org.freedesktop.DBus.Properties.Get"
	nameOwnerChanged = "org.freedesktop.DBus.NameOwnerChanged"
)

// locked reports whether the collection that go-keyring uses is locked,
// without asking anybody to unlock it.
func (osVault) locked(ctx context.Context) (bool, error) {
	conn, err := dialBus(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	_, isLocked, err := collection(ctx, conn)
	return isLocked, err
}

// unlock shows the keyring's own prompt and waits for the person or for ctx.
// go-keyring would do so as well, but waits without limit, cannot withdraw the
// prompt, and takes any signal on the shared connection for the answer.
func (osVault) unlock(ctx context.Context) error {
	conn, err := dialBus(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	path, isLocked, err := collection(ctx, conn)
	if err != nil || !isLocked {
		return err
	}
	var unlocked []dbus.ObjectPath
	var prompt dbus.ObjectPath
	err = conn.Object(secretService, secretPath).
		CallWithContext(ctx, secretInterface+".Unlock", 0, []dbus.ObjectPath{path}).
		Store(&unlocked, &prompt)
	if err != nil {
		return classifyOr(ctx, err)
	}
	if prompt == noPath {
		if !slices.Contains(unlocked, path) {
			return refused(canAsk(os.Getenv))
		}
		return nil
	}
	dismissed, err := showPrompt(ctx, conn, prompt)
	if err != nil {
		return err
	}
	if dismissed {
		return refused(canAsk(os.Getenv))
	}
	// A prompt may complete without having unlocked anything.
	if _, still, err := collection(ctx, conn); err != nil || !still {
		return err
	}
	return refused(canAsk(os.Getenv))
}

// asking reports whether the service is alive: one that answers others and
// keeps a call waiting is asking the person, as KeePassXC does per item.
func (osVault) asking(ctx context.Context) bool {
	conn, err := dialBus(ctx)
	if err != nil {
		return false
	}
	defer conn.Close()
	return conn.Object(secretService, secretPath).
		CallWithContext(ctx, "org.freedesktop.DBus.Peer.Ping", dbus.FlagNoAutoStart).Err == nil
}

// collection returns the path of the collection that go-keyring uses, and
// whether it is locked. The first call starts the service where the bus can.
func collection(ctx context.Context, conn *dbus.Conn) (dbus.ObjectPath, bool, error) {
	root := conn.Object(secretService, secretPath)
	var all dbus.Variant
	if err := root.CallWithContext(ctx, propertiesGet, 0, secretInterface, "Collections").Store(&all); err != nil {
		return "", false, classifyOr(ctx, err)
	}
	path := loginCollection
	if paths, ok := all.Value().([]dbus.ObjectPath); !ok || !slices.Contains(paths, path) {
		if err := root.CallWithContext(ctx, secretInterface+".ReadAlias", 0, "default").Store(&path); err != nil {
			return "", false, classifyOr(ctx, err)
		}
		if path == noPath {
			return "", false, noCollection()
		}
	}
	var flag dbus.Variant
	if err := conn.Object(secretService, path).CallWithContext(ctx, propertiesGet, 0, collectionIface, "Locked").Store(&flag); err != nil {
		return "", false, classifyOr(ctx, err)
	}
	isLocked, ok := flag.Value().(bool)
	if !ok {
		return "", false, noService(nil)
	}
	return path, isLocked, nil
}

// classifyOr returns ctx's error if ctx is why a call ended, else err in our
// terms.
func classifyOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return classify(err)
}

// canAsk reports whether there is a display a prompt could be shown on.
func canAsk(getenv func(string) string) bool {
	return getenv("WAYLAND_DISPLAY") != "" || getenv("DISPLAY") != ""
}

func classifySystem(err error) error {
	if e, ok := errors.AsType[dbus.Error](err); ok {
		return classifyBus(e)
	}
	_, dial := errors.AsType[*net.OpError](err)
	_, launch := errors.AsType[*exec.Error](err)
	switch {
	case dial, launch, errors.Is(err, dbus.ErrClosed):
		return noBus(err)
	case strings.Contains(err.Error(), "failed to unlock correct collection"):
		return locked(err)
	}
	return nil
}

func classifyBus(e dbus.Error) error {
	switch {
	case e.Name == "org.freedesktop.Secret.Error.IsLocked":
		return locked(e)
	case e.Name == "org.freedesktop.DBus.Error.ServiceUnknown",
		e.Name == "org.freedesktop.DBus.Error.NameHasNoOwner",
		e.Name == "org.freedesktop.DBus.Error.NoReply",
		e.Name == "org.freedesktop.DBus.Error.Disconnected",
		e.Name == "org.freedesktop.DBus.Error.UnknownMethod",
		e.Name == "org.freedesktop.DBus.Error.UnknownInterface",
		strings.HasPrefix(e.Name, "org.freedesktop.DBus.Error.Spawn."):
		return noService(e)
	}
	return nil
}
