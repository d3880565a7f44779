package secrets

import "context"

// MaxValue is the longest value a store takes, in bytes. It is the most that
// Linux lets one environment variable carry, which is what most values become.
const MaxValue = 128 << 10

// A Store keeps secret values by name.
//
// Implementations are safe for concurrent use. Every error is an [*Error] or
// the context's own error; a method returns soon after ctx ends, whatever the
// keyring below is doing. A write whose context ends early may still complete,
// and then completes whole.
type Store interface {
	// Get returns the value stored under name, exactly as it was set.
	// The error matches ErrNotFound when there is none.
	Get(ctx context.Context, name string) (string, error)

	// Set stores value under name, replacing any earlier value. When it
	// fails, the earlier value is still there. The value is any sequence of
	// 1 to MaxValue bytes.
	Set(ctx context.Context, name, value string) error

	// Delete removes name and its value.
	// The error matches ErrNotFound when there is none.
	Delete(ctx context.Context, name string) error

	// List returns the stored names in order. It reads no value, and works
	// while the keyring is locked or absent.
	List(ctx context.Context) ([]string, error)
}
