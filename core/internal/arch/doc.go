// Package arch checks the source tree against the house: which package may import
// which, what none may import, and the habits of the tree that a program can see.
// Its test is the rule; docs/architecture.md explains it to people.
//
// The imports are read from the files of all platforms with go/build. Only the
// table of floors is written down here; a package that is not in it must say in
// its doc comment why it is outside "the house table", and stands just above
// whatever it imports.
package arch
