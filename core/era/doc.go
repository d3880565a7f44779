// Package era tells modern servers (revision 2026-07-28 and later) from legacy
// ones (2025-11-25 and earlier, with a handshake), and remembers what it was told.
//
// # Evidence
//
// One answer to a server/discover probe is a transport-neutral [Answer]. [Judge]
// is a pure function of it, and it alone decides what the answer says about the
// era (E2, E5). [Next] says what follows from modern evidence. The package sends
// nothing itself.
//
// # Verdicts
//
// [Verdicts] is the one table in which every session finds what another has
// learned (E7). A verdict of an HTTP server is kept for a time under the URL's
// origin and path (E4); that of a stdio server is kept for the spec's fingerprint,
// across restarts of the app (E5). Nothing is put there on a refusal: a refusal is
// not an era (E3).
//
// # Concurrency
//
// Judge and its neighbours hold no state. A Verdicts may be used from any
// goroutine.
package era
