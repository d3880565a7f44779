// Package conformance runs the official conformance suite against Drawbridge and
// counts what it found: `make conformance-client` and `make conformance-server`, and
// the tests of this package.
//
// For the client the suite plays a server in each of its scenarios, starts the
// program of the folder client against it, and writes down its checks. For the
// server it plays clients, all at the one URL of the demo, which this process
// serves so that the race detector watches. What else serves these scenarios, such
// as a gateway before a demo, is a role of its own at another URL. Which scenarios a revision
// requires is fixed by the suite; the others that it runs along (extensions, and
// what was added later) count for being clean. What may fail stands in
// expected-failures.yml, a file that only shrinks: an entry that does not fail any
// more is an error as well.
//
// Nothing that ships imports this package.
package conformance
