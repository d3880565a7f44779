package transport

import "golang.org/x/sys/windows"

// The sockets of Windows have their own numbers; those in package syscall are
// inventions that no call returns.
const (
	errnoRefused   = windows.WSAECONNREFUSED
	errnoReset     = windows.WSAECONNRESET
	errnoPipe      = windows.WSAECONNABORTED
	errnoTimeout   = windows.WSAETIMEDOUT
	errnoNoNetwork = windows.WSAENETUNREACH
	errnoNoHost    = windows.WSAEHOSTUNREACH
)
