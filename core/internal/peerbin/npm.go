package peerbin

import "testing"

// Command is a program and its arguments.
type Command struct {
	Path string
	Args []string
}

// Node returns the path of Node.js 22, which the npm peers are run with.
func Node(tb testing.TB) string {
	tb.Helper()
	return npm(tb, "node", "bin", "node")
}

func script(tb testing.TB, args []string, elem ...string) Command {
	tb.Helper()
	return Command{Node(tb), append([]string{npm(tb, elem...)}, args...)}
}

// Everything is @modelcontextprotocol/server-everything over stdio.
func Everything(tb testing.TB) Command {
	tb.Helper()
	return everything(tb, "stdio")
}

func everything(tb testing.TB, transport string) Command {
	tb.Helper()
	return script(tb, []string{transport}, "@modelcontextprotocol", "server-everything", "dist", "index.js")
}

// Filesystem is @modelcontextprotocol/server-filesystem over stdio, allowed dirs.
func Filesystem(tb testing.TB, dirs ...string) Command {
	tb.Helper()
	return script(tb, dirs, "@modelcontextprotocol", "server-filesystem", "dist", "index.js")
}

// Memory is @modelcontextprotocol/server-memory over stdio. It keeps its graph in
// the file named by the variable MEMORY_FILE_PATH.
func Memory(tb testing.TB) Command {
	tb.Helper()
	return script(tb, nil, "@modelcontextprotocol", "server-memory", "dist", "index.js")
}

// Conformance is the official conformance suite with these arguments.
func Conformance(tb testing.TB, args ...string) Command {
	tb.Helper()
	return script(tb, args, "@modelcontextprotocol", "conformance", "dist", "index.js")
}
