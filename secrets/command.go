package secrets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Exit codes of Command.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

const usage = `Usage:
  drawbridge secret set NAME    store a value, read from standard input
  drawbridge secret list        print the names of the stored secrets
  drawbridge secret rm NAME     remove a secret

At a terminal, set asks for the value without showing it. Otherwise it takes
all of standard input, without the line end at its end:

  drawbridge secret set GITHUB_TOKEN < token.txt

Use a secret in servers.json as ${secret:NAME}.
`

// Command runs `drawbridge secret` with the arguments after that word and
// returns the exit code: 0, 1 for a failure, 2 for wrong usage. It never
// prints a value, and takes none from the arguments, where other programs see
// it (K5).
func Command(ctx context.Context, store Store, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := command{store: store, stdin: stdin, stdout: stdout, stderr: stderr}
	var verb string
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "set":
		return c.set(ctx, args)
	case "list":
		return c.list(ctx, args)
	case "rm":
		return c.rm(ctx, args)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return exitOK
	case "":
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	// Not named: it may be a value in the wrong place.
	return c.usage("`drawbridge secret` knows set, list and rm", "see `drawbridge secret help`")
}

type command struct {
	store          Store
	stdin          io.Reader
	stdout, stderr io.Writer
}

func (c command) set(ctx context.Context, args []string) int {
	switch {
	case len(args) == 0:
		return c.usage("which secret? No name was given", "use `drawbridge secret set NAME`")
	case len(args) > 1 || strings.Contains(args[0], "="):
		return c.usage(
			"a value must not be an argument: other programs see it in the process list, and the shell keeps it in its history. Nothing was stored",
			"use `drawbridge secret set NAME` and type the value when asked, or pipe it in; if that was a real value, replace it where it was issued")
	}
	name := args[0]
	if err := checkName(opSet, name); err != nil {
		return c.fail(err)
	}
	// Nobody should type a value that there is no place for.
	if k, ok := c.store.(interface{ Check(context.Context) error }); ok {
		if err := k.Check(ctx); errors.Is(err, ErrUnavailable) {
			return c.fail(about(opSet, name, err))
		}
	}
	value, err := c.value(ctx, name)
	if err != nil {
		return c.fail(err)
	}
	if err := c.store.Set(ctx, name, value); err != nil {
		return c.fail(err)
	}
	if strings.TrimSpace(value) != value {
		fmt.Fprintln(c.stderr, "note: the value begins or ends with white space, which was kept")
	}
	fmt.Fprintf(c.stderr, "stored %s; use it as ${secret:%s}\n", name, name)
	return exitOK
}

// value reads the value for name: one line that is not shown when standard
// input is a terminal, else all of it without one line end.
func (c command) value(ctx context.Context, name string) (string, error) {
	if f, ok := c.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(c.stderr, "Value of %s (not shown): ", name)
		value, err := readHidden(ctx, f)
		fmt.Fprintln(c.stderr)
		return value, err
	}
	// More bytes than a value may have: the line end's two, and one too many.
	data, err := io.ReadAll(io.LimitReader(c.stdin, MaxValue+3))
	if err != nil {
		return "", fmt.Errorf("read the value from standard input: %w", err)
	}
	value, trimmed := strings.CutSuffix(string(data), "\n")
	if trimmed {
		value = strings.TrimSuffix(value, "\r")
	}
	if len(value) > MaxValue {
		return "", &Error{
			Op: opSet, Name: name, Kind: ErrTooBig,
			Reason: fmt.Sprintf("the value is longer than the limit of %d bytes", MaxValue),
			Action: "store a shorter value",
		}
	}
	return value, nil
}

func (c command) list(ctx context.Context, args []string) int {
	if len(args) > 0 {
		return c.usage("list takes no arguments", "use `drawbridge secret list`")
	}
	names, err := c.store.List(ctx)
	if err != nil {
		return c.fail(err)
	}
	if len(names) == 0 {
		fmt.Fprintln(c.stderr, "no secrets are stored; add one with `drawbridge secret set NAME`")
	}
	for _, name := range names {
		if _, err := fmt.Fprintln(c.stdout, name); err != nil {
			return c.fail(fmt.Errorf("print the names: %w", err))
		}
	}
	return exitOK
}

func (c command) rm(ctx context.Context, args []string) int {
	if len(args) != 1 {
		return c.usage("rm takes one name", "use `drawbridge secret rm NAME`; `drawbridge secret list` prints the names")
	}
	name := args[0]
	err := c.store.Delete(ctx, name)
	if errors.Is(err, ErrNotFound) {
		// The error's own advice is to store it.
		err = &Error{
			Op: opDelete, Name: name, Kind: ErrNotFound,
			Reason: "there is no secret with this name",
			Action: "`drawbridge secret list` prints the names",
		}
	}
	if err != nil {
		return c.fail(err)
	}
	fmt.Fprintf(c.stderr, "removed %s\n", name)
	return exitOK
}

func (c command) fail(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		c.say(e.Error(), e.Action)
		if errors.Is(err, ErrBadName) {
			return exitUsage
		}
		return exitFailed
	}
	if errors.Is(err, context.Canceled) {
		c.say("interrupted", "")
		return exitFailed
	}
	c.say(err.Error(), "")
	return exitFailed
}

func (c command) usage(what, hint string) int {
	c.say(what, hint)
	return exitUsage
}

// say prints what is wrong and the next step.
func (c command) say(what, hint string) {
	fmt.Fprintf(c.stderr, "drawbridge secret: %s\n", what)
	if hint != "" {
		fmt.Fprintf(c.stderr, "hint: %s\n", hint)
	}
}
