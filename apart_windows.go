package main

import (
	"os/exec"
	"syscall"
)

// apart has the program outlive ours and its console.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}
