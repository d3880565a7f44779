//go:build unix

package transport

import "syscall"

const (
	errnoRefused   = syscall.ECONNREFUSED
	errnoReset     = syscall.ECONNRESET
	errnoPipe      = syscall.EPIPE
	errnoTimeout   = syscall.ETIMEDOUT
	errnoNoNetwork = syscall.ENETUNREACH
	errnoNoHost    = syscall.EHOSTUNREACH
)
