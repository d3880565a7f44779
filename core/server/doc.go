// Package server is the server machine: it answers MCP clients of both eras on
// whatever carries their messages. The demo server, the gateway and approvals are
// built on it; it does not know where tools come from.
//
// # The machine and its front doors
//
// A [Server] answers from a [Registry]. A front door opens one [Conn] per peer
// (the stdio process, a legacy HTTP session, one modern HTTP request), hands it
// decoded messages with [Conn.Handle] and takes what is to be sent through an
// [Outlet]. [ServeStdio] and [HTTP] are the two doors here; both bound what they
// read and serialize what they write.
//
// # Eras
//
// The era is chosen per message, by how the client opens (S1): a request whose
// _meta carries the modern keys is served by itself, `initialize` starts a legacy
// session on its connection. Both may run on one connection at once.
//
// # Handlers
//
// A [Handler] runs in a worker (S3) with a [Call], through which it reports
// progress, logs, and asks the client for input. [Call.Ask] reads the same in
// both eras: a legacy client is sent a request and the handler waits; for a modern
// client Ask returns [*InputRequired], which the handler returns, and the client's
// retry runs the handler again with the answers in place. A handler must therefore
// not do lasting work before its last Ask.
//
// # Authorization
//
// An [Authorizer] decides about tool calls (S4). A call that must be asked about waits
// in the parking lot, where it holds no worker, until an [Asker] has the answer:
// the calling client ([InClient]), or whoever the program gives (S7). A
// [ReadAuthorizer] decides about all other methods that give something away. A
// server with sensitive tools does not start without an authorizer (S5).
//
// # Concurrency
//
// All exported types are safe for concurrent use. No lock is held across a write
// to a peer.
package server
