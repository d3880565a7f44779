package transport

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
)

// StdioConfig says how a server is started.
type StdioConfig struct {
	// Command is a path, or a name that is looked up on the PATH that the child
	// gets.
	Command string
	Args    []string
	// Env is added on top of what is inherited (see [ChildEnv]), as KEY=VALUE;
	// later entries win.
	Env []string
	// Dir is the working directory; "" means ours.
	Dir string
	// Gate is asked first in every Connect; nil allows (T3).
	Gate   Gate
	Limits Limits
	// Log receives stderr, junk on stdout, and notes. It is called from several
	// goroutines, and must not block: a server whose stderr is not read stalls.
	Log LogFunc
	// Breakers, if set, counts failures to start and unexpected ends under
	// BreakerKey (C8).
	Breakers   *breaker.Table
	BreakerKey string
}

// StdioDialer starts one server over and over, a fresh process for each Connect.
//
// A process leads a group of its own, on Windows a job object, so that what it
// starts ends with it (case 2). On Linux the kernel also terminates it when this
// program is killed. The connection ends when the process exits, when it closes its
// stdout, or when it no longer reads its stdin; what it said before is delivered
// first, and its last words travel with the error (case 12).
type StdioDialer struct{ cfg StdioConfig }

var _ Dialer = (*StdioDialer)(nil)

// NewStdio returns the dialer for cfg. Nothing is started yet.
func NewStdio(cfg StdioConfig) *StdioDialer {
	cfg.Limits = cfg.Limits.WithDefaults()
	return &StdioDialer{cfg}
}

// Kind returns Stdio.
func (d *StdioDialer) Kind() Kind { return Stdio }

// Origin returns the breaker's key.
func (d *StdioDialer) Origin() string { return d.cfg.BreakerKey }

// Connect starts the process. Its errors are Blocked (source), BreakerOpen, Spawn
// (not_found, permission, directory, other), Timeout (connect) and Cancelled.
func (d *StdioDialer) Connect(ctx context.Context, sink Sink) (Conn, error) {
	if d.cfg.Gate != nil {
		if err := d.cfg.Gate(); err != nil {
			return nil, &Error{Code: Blocked, Reason: "source", Err: err}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, connectError(err)
	}
	lease, err := d.allow()
	if err != nil {
		return nil, err
	}
	p, err := d.start(ctx)
	if ctx.Err() != nil && p == nil {
		lease.Nothing()
		return nil, connectError(ctx.Err())
	}
	if err != nil {
		lease.Failure()
		return nil, err
	}
	return d.newConn(p, sink, lease), nil
}

func (d *StdioDialer) start(ctx context.Context) (*process, error) {
	env := ChildEnv(os.Environ(), d.cfg.Env)
	if d.cfg.Dir != "" {
		dir, err := filepath.Abs(d.cfg.Dir)
		if err != nil {
			return nil, spawnError(err, "directory", "no working directory: "+d.cfg.Dir)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, spawnError(err, "directory", "not a directory: "+d.cfg.Dir)
		}
		env = setEnv(env, "PWD", dir)
	}
	path, err := findCommand(d.cfg.Command, d.cfg.Dir, env)
	if err != nil {
		return nil, err
	}
	p, err := startProcess(ctx, &exec.Cmd{
		Path: path,
		Args: append([]string{d.cfg.Command}, d.cfg.Args...),
		Env:  env,
		Dir:  d.cfg.Dir,
	})
	if err == nil || p == nil && ctx.Err() != nil {
		return p, err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// It was there a moment ago, so it is what its first line names.
		return nil, spawnError(err, "not_found", "the program that runs this script was not found: "+path)
	case errors.Is(err, fs.ErrPermission):
		return nil, spawnError(err, "permission", "not allowed to run: "+path)
	}
	words := "could not start: " + path
	var errno syscall.Errno
	if errors.As(err, &errno) {
		words += ": " + errno.Error()
	}
	return nil, spawnError(err, "other", words)
}

func spawnError(cause error, reason string, words ...string) error {
	return &Error{Code: Spawn, Reason: reason, Words: words, Err: cause}
}

func connectError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Code: Timeout, Reason: "connect", Err: err}
	}
	return &Error{Code: Cancelled, Err: err}
}

// allow asks the breaker.
func (d *StdioDialer) allow() (*breaker.Lease, error) {
	if d.cfg.Breakers == nil {
		return nil, nil
	}
	lease, err := d.cfg.Breakers.Allow(d.cfg.BreakerKey)
	if err != nil {
		return nil, &Error{Code: BreakerOpen, Err: err}
	}
	return lease, nil
}

// failed counts the end of a connection whose lease had already been a success.
func (d *StdioDialer) failed() {
	if lease, err := d.allow(); err == nil {
		lease.Failure()
	}
}
