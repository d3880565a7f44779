package transport

import "context"

// TokenSource gives the credentials of one server (T13). Its methods may be called
// from any goroutine and may block; ctx is the request's life.
type TokenSource interface {
	// Authorization returns the value of the Authorization header for the next
	// request; "" sends none. An error fails the request.
	Authorization(ctx context.Context) (string, error)
	// Refused is told that the server answered 401 or 403, with the values of its
	// WWW-Authenticate headers. It reports whether the same request may be sent
	// once more with what Authorization returns now.
	Refused(ctx context.Context, status int, challenges []string) (again bool)
}
