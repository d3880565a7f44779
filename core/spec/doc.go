// Package spec reads, checks, watches and edits servers.json, the file that says
// which MCP servers there are, and decides what of it may be shown and used.
//
// # Reading
//
// [Parse] never fails as a whole because of one server: a bad entry becomes an
// [InvalidError] beside its good neighbours. Only a file that is no JSONC, or
// has another shape altogether, is refused, with line and column (P2). Keys that
// Drawbridge does not know are left alone and mentioned in a [Note].
//
// # Values
//
// A [Spec] holds what the file says, references unexpanded; a [Resolved] holds
// what the references stand for at the moment of connecting (K1) and lives no
// longer than needed. Both print, log and marshal as their redacted form alone
// (P5). They are handed around by pointer and never changed: a pointer in
// somebody else's struct prints as an address, where a value would spell itself
// out. [Fingerprint] is what pins, grants, verdicts and workspace permissions hang
// on (P6); [Equal] is what a restart hangs on.
//
// # Writing
//
// An edit is a splice of bytes: everything outside of the edited path stays byte
// for byte (P2). [Edit] writes the result through symlinks, atomically, and only
// when the file is still the one that was read.
//
// # Concurrency
//
// Functions hold no state and may be called from any goroutine. A [Watcher] has
// one goroutine, that of its Serve method, and calls back from there.
package spec
