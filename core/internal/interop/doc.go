// Package interop tests sessions against servers that nobody here wrote, as real
// processes: those of npm, of the Go SDK and of mcp-go, over stdio and HTTP, and
// our own servers that misbehave. It holds nothing but tests.
package interop
