// Package hub is composition and lifetime: it holds one session per configured
// server, follows the spec file, keeps what a window or a terminal shows, and
// starts and stops everything.
//
// # How it talks
//
// The hub publishes [Snapshot] values: immutable, complete, the newest wins.
// [Hub.Watch] registers a watcher and hands it the current snapshot under one
// lock, then every later state, merged to about ten a second. Since a snapshot
// holds everything, a watcher that is slow misses intermediate states and never
// a final one; there is no buffer to overrun. What would be too much for a
// snapshot (tools, log lines) is asked for by name, and a number in the snapshot
// says when to ask again.
//
// Every string in a snapshot that a server, a file or a peer chose is masked
// (K4). It is not yet display-safe: whoever shows it passes it through
// core/display (A7).
package hub
