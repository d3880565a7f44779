package transport

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// The steps of ending a process tree (T9). With the waits of [stdioConn.Close]
// they add up to well under 3 s, for a machine that is busy is slow as well.
const (
	eofGrace  = 800 * time.Millisecond
	termGrace = 600 * time.Millisecond
	killGrace = 500 * time.Millisecond
)

// process is a running child, with its pipes and everything it starts.
type process struct {
	stdin          *os.File
	stdout, stderr *pipeReader
	tree           processTree

	exited chan struct{} // closed at once when the child is dead and reaped
	state  *os.ProcessState
}

// startProcess starts cmd as the leader of a tree of its own. The caller has set
// everything but the standard streams and SysProcAttr.
func startProcess(ctx context.Context, cmd *exec.Cmd) (*process, error) {
	type result struct {
		p   *process
		err error
	}
	started := make(chan result, 1)
	go func() {
		// The kernel ties the parent-death signal to the thread that forked, so
		// that thread stays until the child is gone. It is no extra one: waiting
		// for a child occupies a thread anyway.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p, err := fork(cmd)
		started <- result{p, err}
		if err != nil {
			return
		}
		_ = cmd.Wait() // what matters is in the state
		p.state = cmd.ProcessState
		close(p.exited)
	}()
	select {
	case r := <-started:
		return r.p, r.err
	case <-ctx.Done():
		go func() {
			if r := <-started; r.p != nil {
				r.p.stop(0, func(string) {})
				r.p.closePipes()
			}
		}()
		return nil, ctx.Err()
	}
}

func fork(cmd *exec.Cmd) (_ *process, err error) {
	var ours, theirs []*os.File
	defer func() {
		closeAll(theirs)
		if err != nil {
			closeAll(ours)
		}
	}()
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	inR, inW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	ours, theirs = []*os.File{inW, outR, errR}, []*os.File{inR, outW, errW}
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
	tree, err := startTree(cmd)
	if err != nil {
		return nil, err
	}
	return &process{
		stdin:  inW,
		stdout: &pipeReader{f: outR},
		stderr: &pipeReader{f: errR},
		tree:   tree,
		exited: make(chan struct{}),
	}, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// stop ends the child and all that it started: end of input first, then after
// grace TERM, then KILL to the whole tree. Each step is skipped when nothing is
// left.
func (p *process) stop(grace time.Duration, note func(string)) {
	defer p.tree.release()
	p.stdin.Close()
	if p.waitExit(grace, nil) && p.gone(0) {
		return
	}
	p.tree.terminate()
	if p.gone(termGrace) {
		return
	}
	note("still running after the end of its input and a request to terminate: killed")
	p.tree.kill()
	if !p.gone(killGrace) {
		note("a process of this server survived being killed")
	}
}

// waitExit waits for the child's exit, at most d and only while hurry is open.
func (p *process) waitExit(d time.Duration, hurry <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-hurry:
	case <-t.C:
	}
	return p.hasExited()
}

func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// gone waits for the end of the whole tree, at most d. There is no event for the
// end of a process group, hence the polling.
func (p *process) gone(d time.Duration) bool {
	deadline := time.Now().Add(d)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if p.hasExited() && !p.tree.alive() {
			return true
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
}

func (p *process) closePipes() {
	p.stdin.Close()
	p.stdout.f.Close()
	p.stderr.f.Close()
}
