package transport

import "syscall"

// dieWithUs makes the kernel terminate the child when this program dies without
// closing it. It reaches the child alone; what the child started sees the end of
// its input.
func dieWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
