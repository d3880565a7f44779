//go:build unix

package transport

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// processTree is a process group, led by the child (case 2).
type processTree struct{ group int }

func startTree(cmd *exec.Cmd) (processTree, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithUs(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		return processTree{}, err
	}
	return processTree{cmd.Process.Pid}, nil
}

func (t processTree) terminate() { t.signal(syscall.SIGTERM) }
func (t processTree) kill()      { t.signal(syscall.SIGKILL) }

// alive reports whether the group has a member. Only ESRCH says that it has none;
// while it has one, the kernel gives its number to nobody else.
func (t processTree) alive() bool { return !errors.Is(t.signal(0), syscall.ESRCH) }

func (t processTree) signal(s syscall.Signal) error {
	if t.group <= 1 {
		return syscall.ESRCH // 0 and 1 would mean ourselves, and everybody
	}
	return syscall.Kill(-t.group, s)
}

func (t processTree) release() {}

// exitStatus tells how a process ended; signal is "" unless one killed it.
func exitStatus(s *os.ProcessState) (code int, signal string) {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, unix.SignalName(ws.Signal())
	}
	return s.ExitCode(), ""
}
