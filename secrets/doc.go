// Package secrets keeps credentials out of files, logs and command lines.
//
// # Where a value lives
//
// A secret is a name and a value. The value lives in the operating system's
// keyring and nowhere else: Secret Service on Linux and the BSDs, Keychain on
// macOS, Credential Manager on Windows. A small index file in the
// configuration directory maps names to opaque ids (rule K2). It holds no
// value and nothing computed from one, so names can be listed while the
// keyring is locked, and Drawbridge can say which secret is missing even where
// there is no keyring at all.
//
// There is no fallback. Without a keyring every read and write fails with an
// [Error] that says so in a sentence and proposes one next step; a value is
// never written to a plain file because the keyring would not take it (K3).
//
// # Calls
//
// A keyring call may wait for a person who is being asked for a password, and
// the libraries below have neither contexts nor timeouts. [Keyring] therefore
// gives all its calls to one goroutine, bounds each of them, and lets a caller
// leave when its own context ends. Callers that ask for the same secret share
// one read, and callers that were waiting when a person dismissed the unlock
// prompt share that answer, so that fifty servers starting at once cause one
// prompt.
//
// # Masking
//
// A [Masker] knows the values that were handed out and replaces them, and
// their usual encodings, wherever text leaves the process (K4). It works by
// value because names and keys are not reliable: servers print their own
// environment.
package secrets
