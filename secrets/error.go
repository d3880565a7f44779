package secrets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// The kinds of failure a caller branches on, with errors.Is.
var (
	// ErrNotFound means that no secret has that name.
	ErrNotFound = errors.New("no such secret")
	// ErrLocked means that the keyring is there but locked, and that nobody
	// unlocked it.
	ErrLocked = errors.New("keyring is locked")
	// ErrUnavailable means that there is no keyring that answers.
	ErrUnavailable = errors.New("keyring is not available")
	// ErrTooBig means that the value is longer than the store takes.
	ErrTooBig = errors.New("secret is too big")
	// ErrBadName means that the name cannot be a secret's name.
	ErrBadName = errors.New("not a secret name")
)

// What was being done, as it reads in an error.
const (
	opGet    = "read"
	opSet    = "store"
	opDelete = "remove"
	opList   = "list secrets"
	opCheck  = "open the keyring"
)

// An Error says which secret cannot be had, why, and what a person can do
// about it. It never holds a value.
type Error struct {
	// Op is what was being done: "read", "store", "remove", …
	Op string
	// Name is the secret concerned, or empty.
	Name string
	// Kind is one of the Err… variables, or nil for a failure that has none.
	Kind error
	// Reason is why, as a clause a person can read: "the keyring is locked".
	Reason string
	// Action is the one thing to try next, as an instruction.
	Action string

	// timeout: the keyring did not answer, and may still be at it.
	timeout bool
	cause   error
}

// Error returns what was being done and why it failed, without the Action.
func (e *Error) Error() string {
	if e.Name == "" {
		return e.Op + ": " + e.Reason
	}
	return fmt.Sprintf("%s secret %q: %s", e.Op, e.Name, e.Reason)
}

// Unwrap gives errors.Is the Kind and the error below.
func (e *Error) Unwrap() []error {
	var errs []error
	if e.Kind != nil {
		errs = append(errs, e.Kind)
	}
	if e.cause != nil {
		errs = append(errs, e.cause)
	}
	return errs
}

// about returns err as an *Error that says what was being done to name. The
// keyring's side does not know either. A context's own error stays as it is.
func about(op, name string, err error) error {
	e, ok := errors.AsType[*Error](err)
	switch {
	case ok:
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	default:
		e = &Error{Reason: foreign(err), Action: "try again", cause: err}
	}
	said := *e
	if said.Name == "" {
		said.Name = name
	}
	said.Op = op
	return &said
}

func notFound(op, name string) error {
	return &Error{
		Op: op, Name: name, Kind: ErrNotFound,
		Reason: "there is no secret with this name",
		Action: "store it with `drawbridge secret set " + name + "`",
	}
}

func tooBig(name string, size, limit int) error {
	return &Error{
		Op: opSet, Name: name, Kind: ErrTooBig,
		Reason: fmt.Sprintf("the value has %d bytes and the limit is %d", size, limit),
		Action: "store a shorter value",
	}
}

// foreign returns the text of an error from below the package, bounded and on
// one line: a keyring daemon wrote it.
func foreign(err error) string {
	const limit = 200
	clean := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, err.Error())
	if len(clean) > limit {
		clean = strings.ToValidUTF8(clean[:limit], "") + "…"
	}
	return clean
}
