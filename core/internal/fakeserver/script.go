package fakeserver

import (
	"encoding/json"
	"time"
)

// Eras a fake server speaks. The zero value is Legacy.
const (
	// Legacy knows the handshake only and answers server/discover with -32601.
	Legacy = "legacy"
	// Modern knows 2026-07-28 only and refuses initialize with -32022.
	Modern = "modern"
	// Dual serves both and, like the Go SDK, refuses initialize on a pipe that
	// has carried a modern request.
	Dual = "dual"
)

// How the ids of answers are written (cases 49 and 50). The zero value echoes.
const (
	AsStrings   = "strings"   // 1 comes back as "1"
	AsFractions = "fractions" // 1 comes back as 1.0
	AsNull      = "null"      // 1 comes back as null
)

// How lists are paged (case 58). The zero value pages honestly.
const (
	CursorsEmptyWord = "empty-word" // the cursor of the second page is "", later ones are honest
	CursorsEmptyEver = "empty-ever" // "" on every page, each the same page
	CursorsSame      = "same"       // the same cursor for ever
	CursorsEndless   = "endless"    // a new cursor for ever
)

// Script says how one server behaves. The zero Script is a well-behaved legacy
// server. It travels to the server's process as JSON in an argument.
type Script struct {
	Era string `json:",omitempty"` // Legacy, Modern or Dual

	// Versions replaces the versions listed by server/discover and in -32022.
	Versions []string `json:",omitempty"`
	// Negotiate replaces the version answered to initialize.
	Negotiate string `json:",omitempty"`
	// Name is the server's name in serverInfo; "fake" if empty.
	Name string `json:",omitempty"`
	// Instructions, if any, are given in the handshake or in discovery.
	Instructions string `json:",omitempty"`
	// Capabilities replaces {"tools":{"listChanged":true},"logging":{}}.
	Capabilities json.RawMessage `json:",omitempty"`

	// Replies replaces the answer to a method; "*" stands for every method
	// without an entry of its own, "tools/call NAME" for one tool.
	Replies map[string]Reply `json:",omitempty"`
	// InitializeFirst ends the process when its first message is anything but
	// initialize (case 45).
	InitializeFirst *Exit `json:",omitempty"`
	// IDs is one of AsStrings, AsFractions, AsNull.
	IDs string `json:",omitempty"`

	// Tools replaces the definitions in tools/list, byte for byte (case 52).
	Tools []json.RawMessage `json:",omitempty"`
	// ToolCount, if positive, lists that many tools named tool-0, tool-1, …
	// which all behave like echo, in place of the usual ones.
	ToolCount int `json:",omitempty"`
	// PageSize, if positive, pages the lists.
	PageSize int `json:",omitempty"`
	// Cursors is one of the Cursors constants.
	Cursors string `json:",omitempty"`
	// Storm is a number of tools/list_changed sent once the client is ready: after
	// notifications/initialized, or on the subscription of a modern client.
	Storm int `json:",omitempty"`

	// The rest concerns a process; HTTP ignores it, Journal apart.

	// Journal is a file in which the server notes what it sees: see [ReadJournal].
	Journal string `json:",omitempty"`
	// Preamble is written to stdout before anything is read (cases 15 and 16).
	Preamble []byte `json:",omitempty"`
	// Noise are lines written to stdout before every answer.
	Noise []string `json:",omitempty"`
	// EOL ends the lines on stdout; "\n" if empty.
	EOL string `json:",omitempty"`
	// Stderr is written to stderr at the start.
	Stderr string `json:",omitempty"`
	// StderrFlood is a number of bytes written to stderr before anything is read
	// (case 8), one long line unless StderrLines.
	StderrFlood int  `json:",omitempty"`
	StderrLines bool `json:",omitempty"`
	// StderrEvery, if positive, writes a numbered line to stderr at that interval.
	StderrEvery time.Duration `json:",omitempty"`
	// Exit ends the process by itself: at once, or some time after its start.
	Exit *Exit `json:",omitempty"`
	// IgnoreEOF keeps the process alive when its stdin ends, IgnoreTERM when it
	// is asked to terminate (cases 4 and 7). It gives up after two minutes.
	IgnoreEOF  bool `json:",omitempty"`
	IgnoreTERM bool `json:",omitempty"`
	// Grandchild makes the server start a process that holds its stdout and
	// stderr, ignores TERM and lives for two minutes, and write its process id to
	// this file before anything is read (case 2).
	Grandchild string `json:",omitempty"`

	// Sleep is the role of the grandchild; tests have no use for it.
	Sleep bool `json:",omitempty"`
}

// Exit is an end of the process.
type Exit struct {
	Code  int
	After time.Duration `json:",omitempty"`
}

// Reply is what a request gets in place of the usual answer. After a delay,
// the first of Silent, Exit, Raw, Error and Result that is set decides; a Reply
// with none of them gives the usual answer, late.
type Reply struct {
	After  time.Duration   `json:",omitempty"`
	Silent bool            `json:",omitempty"` // no answer, ever
	Exit   *Exit           `json:",omitempty"` // the process ends
	Raw    string          `json:",omitempty"` // these bytes and an end of line; $id is the request's id
	Error  *Error          `json:",omitempty"`
	Result json.RawMessage `json:",omitempty"`
	Times  int             `json:",omitempty"` // only the first so many requests; 0 is all
}

// Error is a JSON-RPC error object.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (s *Script) name() string {
	if s.Name == "" {
		return "fake"
	}
	return s.Name
}

var legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

const modernVersion = "2026-07-28"

// versions lists what the server says it supports, the newest first.
func (s *Script) versions() []string {
	switch {
	case s.Versions != nil:
		return s.Versions
	case s.Era == Modern:
		return []string{modernVersion}
	case s.Era == Dual:
		return append([]string{modernVersion}, legacyVersions...)
	default:
		return legacyVersions
	}
}

func (s *Script) capabilities() json.RawMessage {
	if s.Capabilities != nil {
		return s.Capabilities
	}
	return json.RawMessage(`{"tools":{"listChanged":true},"logging":{}}`)
}
