//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// apart has the program outlive ours and its terminal.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
