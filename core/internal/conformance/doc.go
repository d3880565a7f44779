// Package conformance runs the official conformance suite against Drawbridge and
// counts what it found: `make conformance-client`, and the test of this package.
//
// The suite plays a server for each of its scenarios, starts the program of the
// folder client against it, and writes down its checks. Which scenarios a revision
// requires is fixed by the suite; the others that it runs along (extensions, and
// what was added later) count for being clean. What may fail stands in
// expected-failures.yml, a file that only shrinks: an entry that does not fail any
// more is an error as well.
//
// Nothing that ships imports this package.
package conformance
