//go:build unix && !linux

package transport

import "syscall"

// dieWithUs does nothing: there is no parent-death signal here. The end of its
// input is what tells the child.
func dieWithUs(*syscall.SysProcAttr) {}
