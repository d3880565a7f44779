package secrets

import (
	"context"
	"errors"
	"os/exec"
)

// itemLimit keeps the whole command that go-keyring sends to the security
// tool below its 4,096 bytes, after the tool's own base64 on top of ours.
const itemLimit = 2800

// Exit statuses of the security tool: the low byte of the system's error.
const (
	exitNotAllowed = 36  // errSecInteractionNotAllowed: locked, and no window to ask in
	exitCanceled   = 128 // errSecUserCanceled
	exitAuthFailed = 51  // errSecAuthFailed: a wrong password, or access denied
)

// locked is always false: the security tool asks by itself when it must, and
// the call waits for the answer.
func (osVault) locked(context.Context) (bool, error) { return false, nil }

func (osVault) unlock(context.Context) error { return nil }

func (osVault) asking(context.Context) bool { return true }

func classifySystem(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return &Error{
			Kind:   ErrUnavailable,
			Reason: "the keychain tool /usr/bin/security is missing",
			Action: "restore it and try again",
			cause:  err,
		}
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return nil
	}
	switch exit.ExitCode() {
	case exitNotAllowed:
		return refused(false)
	case exitCanceled, exitAuthFailed:
		return refused(true)
	}
	return nil
}
