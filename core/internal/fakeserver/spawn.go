package fakeserver

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// marker, as the first argument, turns a test binary into a fake server.
const marker = "drawbridge-fake-server"

// armed tells that Main has run, hence that this binary can play a server.
var armed bool

// Main plays the script and exits if this process was started by [Command], and
// returns otherwise. Call it first in TestMain.
func Main() {
	armed = true
	if len(os.Args) != 3 || os.Args[1] != marker {
		return
	}
	var s Script
	if err := json.Unmarshal([]byte(os.Args[2]), &s); err != nil {
		fmt.Fprintln(os.Stderr, "fake server: script:", err)
		quit(64)
	}
	quit(run(&s, os.Stdin, os.Stdout, os.Stderr))
}

// Command returns the command that starts a server playing s.
func Command(tb testing.TB, s Script) (path string, args []string) {
	tb.Helper()
	if !armed {
		tb.Fatal("fakeserver.Command: TestMain of this package does not call fakeserver.Main")
	}
	path, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	script, err := json.Marshal(s)
	if err != nil {
		tb.Fatal(err)
	}
	return path, []string{marker, string(script)}
}

// ShellLine returns [Command]'s command quoted for a POSIX shell, to be wrapped
// as people do: `sh -c "LINE & wait"`.
func ShellLine(tb testing.TB, s Script) string {
	tb.Helper()
	path, args := Command(tb, s)
	words := append([]string{path}, args...)
	for i, w := range words {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}
