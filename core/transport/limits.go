package transport

import "time"

// The defaults of T8; a spec may override each.
const (
	DefaultConnectTimeout = 5 * time.Second
	DefaultMaxBytes       = 16 << 20
	// HardMaxBytes is the most a spec may allow for one message.
	HardMaxBytes = 64 << 20
)

// Limits bound one connection. Zero fields mean the default.
type Limits struct {
	// ConnectTimeout bounds dialling one address, TLS included.
	ConnectTimeout time.Duration
	// MaxBytes bounds one body, SSE event or stdio line; over it only that
	// request fails and the connection goes on.
	MaxBytes int64
}

// WithDefaults fills in the zero fields and caps the rest.
func (l Limits) WithDefaults() Limits {
	if l.ConnectTimeout <= 0 {
		l.ConnectTimeout = DefaultConnectTimeout
	}
	if l.MaxBytes <= 0 {
		l.MaxBytes = DefaultMaxBytes
	}
	l.MaxBytes = min(l.MaxBytes, HardMaxBytes)
	return l
}

// Gate is the provenance gate (T3, P3): asked inside every Connect, before any
// DNS look-up or spawn. An error blocks the connection; its text is not shown.
type Gate func() error

// LogFunc receives a server's non-protocol output: stderr lines, junk on stdout,
// and notes of the transport itself. source is "stderr", "stdout" or "transport".
// Lines are bounded; they are not masked yet.
type LogFunc func(source, line string)
