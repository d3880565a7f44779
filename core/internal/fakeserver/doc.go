// Package fakeserver is a set of MCP servers that misbehave on purpose. Tests of
// the client side (core/transport, core/client, core/hub, ui) start them in
// place of servers from the field. The servers are written from the field cases
// and the specification with the standard library alone, and share no code with
// core, so that a mistake made there is not made here a second time.
//
// It is a package for tests: nothing that ships imports it.
//
// # A server behind a pipe
//
// The test binary itself is the server: started with a marker argument it plays
// the script and exits. The test package lets it, first thing in TestMain:
//
//	func TestMain(m *testing.M) {
//		fakeserver.Main() // returns at once in an ordinary test run
//		goleak.VerifyTestMain(m)
//	}
//
// A test says how its server behaves and gets a command to start:
//
//	path, args := fakeserver.Command(t, fakeserver.Script{
//		Preamble: []byte("Welcome!\n\n{bad json\n"),
//		Journal:  filepath.Join(t.TempDir(), "journal"),
//	})
//
// The zero [Script] is a well-behaved server of the legacy era (2025-11-25) with
// the tools listed at [Tools]. Each field of Script adds one deviation. What the
// server saw (starts, messages, end of input, signals) is read back with
// [ReadJournal]. [ShellLine] gives the command as one word list for `sh -c`.
//
// # A server behind HTTP
//
//	srv := fakeserver.StartHTTP(t, fakeserver.HTTP{
//		Answers: map[string]fakeserver.Answer{
//			"server/discover": fakeserver.ServerNotInitialized(), // 400, -32000, id null
//		},
//		Stream: fakeserver.Stream{EOL: "\r\n", Priming: true, Comments: true},
//	})
//	// srv.URL, srv.Requests(), srv.DropSessions(), srv.Notify(...)
//
// [HTTP] holds the same Script, says how its messages travel, and may replace
// the answer to a method by a raw one ([Answer]): the named ones cover the
// statuses, redirects and bodies seen in the field.
//
// # Recipes
//
//   - exits on the probe (case 45): Script{InitializeFirst: &Exit{Code: 1}}; the
//     slow variant: &Exit{Code: 1, After: 500 * time.Millisecond}
//   - silent on the probe: Script{Replies: map[string]Reply{"server/discover": {Silent: true}}}
//   - answers the probe with an error: {"server/discover": {Error: &Error{Code: -32000, Message: "no"}}}
//   - a DiscoverResult that arrives late: Script{Era: Modern, Replies: {"server/discover": {After: 7 * time.Second}}}
//   - lists only legacy versions (Go SDK, stateful): Script{Era: Modern, Versions: []string{"2025-11-25"}}
//   - hung: Script{Replies: map[string]Reply{"*": {Silent: true}}}
//   - ids answered as strings: Script{IDs: AsStrings}
//   - dies at start with a reason: Script{Stderr: "API_KEY missing\n", Exit: &Exit{Code: 3}}
//   - dies later: Script{Exit: &Exit{Code: 0, After: 200 * time.Millisecond}}
//   - ignores end of input and TERM: Script{IgnoreEOF: true, IgnoreTERM: true}
//   - leaves a grandchild: Script{Grandchild: pidFile}
//   - pages without end: Script{ToolCount: 30, PageSize: 10, Cursors: CursorsEndless}
//   - a line of 20 MiB: call the tool "big" with {"bytes": 20971520}
//   - never answers a call: call the tool "never"
package fakeserver
