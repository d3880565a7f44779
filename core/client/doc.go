// Package client is the session machine: one [Session] per configured server,
// speaking either era over any transport.
//
// # Two layers
//
// A link is one connection: it numbers requests, holds what is pending and what
// is queued, runs their clocks, and hands each outcome to the one caller that
// waits for it. A session is what outlives connections: it opens links (era
// probe or kept verdict, handshake or none), shows a status, keeps the lists
// fresh, and opens the next link when one dies.
//
// # Concurrency
//
// A session's state sits behind one mutex and a link's behind another; nothing
// blocks while either is held. The order is session before link. Callbacks of
// [Handlers] are called without any lock; those that say so run on a connection's
// own goroutine and must return quickly, for they slow down that server alone.
//
// # Failure
//
// Everything that goes wrong with a connection or a call is a *transport.Error
// (T6), or a *jsonrpc.Error when the server itself refused.
package client
