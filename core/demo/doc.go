// Package demo is the server behind `drawbridge demo`: one of everything, in both
// eras, so that a person without a server or an account sees the whole app work.
//
// It is a package of its own, and not in the house table, because it has two users
// that must not know of each other: the command, and the tests that run the
// official conformance suite. It imports core/server and is imported by main only.
//
// The tools, resources and prompts whose names begin with "test" (and
// json_schema_2020_12_tool) are the fixtures that the official suite asks for, under
// its names. The others are for people: each shows one thing that a server can do.
// Nothing here reads a file, opens a connection or keeps anything after it ends.
package demo
