package secrets

import (
	"context"
	"errors"

	"golang.org/x/sys/windows"
)

// itemLimit is what Credential Manager takes in one item, in bytes.
const itemLimit = 2560

// locked is always false: logging in opens the Credential Manager.
func (osVault) locked(context.Context) (bool, error) { return false, nil }

func (osVault) unlock(context.Context) error { return nil }

func (osVault) asking(context.Context) bool { return false }

func classifySystem(err error) error {
	if errors.Is(err, windows.ERROR_NO_SUCH_LOGON_SESSION) {
		return &Error{
			Kind:   ErrUnavailable,
			Reason: "this logon session has no Credential Manager",
			Action: "start Drawbridge from your desktop session",
			cause:  err,
		}
	}
	return nil
}
