package secrets

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// service names Drawbridge's items in the keyring.
const service = "drawbridge"

// osVault is the keyring of the operating system. Whether it is there, and
// locked, is decided beside, per system.
type osVault struct{}

func (osVault) get(account string) (string, error) {
	text, err := keyring.Get(service, account)
	return text, classify(err)
}

func (osVault) set(account, text string) error {
	return classify(keyring.Set(service, account, text))
}

func (osVault) delete(account string) error {
	return classify(keyring.Delete(service, account))
}

func (osVault) itemLimit() int { return itemLimit }

// errNoItem is a vault's answer for an account it does not hold.
var errNoItem = errors.New("no such keyring item")

// errItemTooBig is a vault's answer to an item that it does not take whole.
var errItemTooBig = errors.New("keyring item is too big")

// classify turns an error of go-keyring, nearly all of which are plain text,
// into one of ours.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return errNoItem
	case errors.Is(err, keyring.ErrSetDataTooBig):
		return errItemTooBig
	case errors.Is(err, keyring.ErrUnsupportedPlatform):
		return &Error{
			Kind:   ErrUnavailable,
			Reason: "this build of Drawbridge has no keyring for this system",
			Action: "use a build made for your system",
			cause:  err,
		}
	}
	if e := classifySystem(err); e != nil {
		return e
	}
	return &Error{
		Reason: "the keyring refused: " + foreign(err),
		Action: "try again",
		cause:  err,
	}
}

func locked(cause error) *Error {
	return &Error{
		Kind:   ErrLocked,
		Reason: "the keyring is locked",
		Action: "unlock your keyring and try again",
		cause:  cause,
	}
}

// refused is the error for an unlock prompt that was closed or never shown.
func refused(shown bool) *Error {
	if shown {
		return &Error{
			Kind:   ErrLocked,
			Reason: "the keyring is locked and was not unlocked",
			Action: "try again and enter your keyring's password",
		}
	}
	return &Error{
		Kind:   ErrLocked,
		Reason: "the keyring is locked, and there is no desktop session that could ask for its password",
		Action: "unlock the keyring, for instance with `gnome-keyring-daemon --replace --unlock`, and try again",
	}
}

// unanswered is the error for an unlock prompt that nobody answered.
func unanswered(after time.Duration) *Error {
	return &Error{
		Kind:   ErrLocked,
		Reason: fmt.Sprintf("the keyring is locked, and nobody answered its prompt within %v", after),
		Action: "try again and enter your keyring's password",
	}
}

// silent is the error for a keyring that does not answer.
func silent(after time.Duration) *Error {
	return &Error{
		Kind:    ErrUnavailable,
		Reason:  fmt.Sprintf("the keyring did not answer within %v", after),
		Action:  "restart your keyring service, or log out and in, and try again",
		timeout: true,
		cause:   context.DeadlineExceeded,
	}
}
