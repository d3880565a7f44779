//go:build unix && !darwin

package secrets

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/godbus/dbus/v5"
)

const busVariable = "DBUS_SESSION_BUS_ADDRESS"

// busAddress returns the address of the session bus, or "". It never starts
// one: left to themselves, the libraries below run dbus-launch when they find
// no address, and the daemons that this starts outlive the process.
func busAddress(getenv func(string) string) string {
	if a := getenv(busVariable); a != "" && !strings.HasPrefix(a, "autolaunch:") {
		return a
	}
	dir := getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
	}
	socket := filepath.Join(dir, "bus")
	if info, err := os.Stat(socket); err != nil || info.Mode().Type() != os.ModeSocket {
		return ""
	}
	return "unix:path=" + dbus.EscapeBusAddressValue(socket)
}

// dialBus connects to the session bus. The connection is the caller's own, to
// close: the shared one of the dbus package delivers everybody's signals.
func dialBus(ctx context.Context) (*dbus.Conn, error) {
	address := busAddress(os.Getenv)
	if address == "" {
		return nil, noBus(nil)
	}
	conn, err := dbus.Dial(address)
	if err != nil {
		return nil, noBus(err)
	}
	// Neither Auth nor Hello takes a context.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	err = conn.Auth(nil)
	if err == nil {
		err = conn.Hello()
	}
	if !stop() {
		return nil, ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, noBus(err)
	}
	if os.Getenv(busVariable) != address {
		// go-keyring looks in fewer places, and starts a bus when it
		// finds none there.
		_ = os.Setenv(busVariable, address)
	}
	return conn, nil
}

func noBus(cause error) *Error {
	return &Error{
		Kind:   ErrUnavailable,
		Reason: "no keyring is available here: there is no D-Bus session",
		Action: "start Drawbridge from your desktop session, or under dbus-run-session with a keyring daemon",
		cause:  cause,
	}
}

func noService(cause error) *Error {
	return &Error{
		Kind:   ErrUnavailable,
		Reason: "no keyring is available here: no Secret Service answers on the session bus",
		Action: "install and start a keyring, such as gnome-keyring or KeePassXC, and try again",
		cause:  cause,
	}
}

func noCollection() *Error {
	return &Error{
		Kind:   ErrUnavailable,
		Reason: "the keyring service has no default keyring to keep passwords in",
		Action: "create a keyring and make it the default, for instance in Passwords and Keys, and try again",
	}
}
