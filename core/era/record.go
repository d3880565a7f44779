package era

import (
	"fmt"
	"strings"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// The closed vocabulary of Record.Summary.
const (
	ModernVersions  = "it listed its versions, a modern one among them"
	LegacyVersions  = "it listed its versions, none of them modern"
	ModernError     = "an error that only modern servers give"
	MethodNotFound  = "method not found"
	NoSuchEndpoint  = "no such endpoint"
	SignInRequired  = "sign-in required"
	TooBusy         = "too busy"
	ServerError     = "server error"
	OtherError      = "an error that tells no era"
	OtherStatus     = "a status that tells no era"
	OtherResult     = "no list of versions"
	Redirect        = "a redirect"
	NoAnswerInTime  = "no answer in time"
	ProcessExited   = "the process exited"
	NoAnswer        = "no answer"
	Initialized     = "a valid handshake"
	NotInitialized  = "no valid handshake"
	KeptFromEarlier = "kept from an earlier run"
)

// Record is the evidence that a verdict keeps for the badge's "why?" (E9). It holds
// no text of the server.
type Record struct {
	// Method is the request that was answered.
	Method string
	// Status is the HTTP status; 0 when there was none.
	Status int
	// Code is the JSON-RPC error code, if HasCode.
	Code    int64
	HasCode bool
	// Summary is one of the closed vocabulary of this package.
	Summary string
	// At is when the answer was seen.
	At time.Time
}

// Observe makes the record of one answer to method, server/discover or initialize.
func Observe(method string, a Answer, stdio bool, at time.Time) Record {
	r := Record{Method: method, Status: a.Status, At: at}
	if a.Error != nil {
		r.Code, r.HasCode = a.Error.Code, true
	}
	if method != mcp.MethodInitialize {
		_, r.Summary = weigh(a, stdio)
		return r
	}
	r.Summary = NotInitialized
	if _, ok := mcp.ParseInitializeResult(a.Result); ok && a.Error == nil && !a.Failed {
		r.Summary = Initialized
	}
	return r
}

// String gives one line for a person, such as
// "server/discover → 400, error -32000: an error that tells no era".
func (r Record) String() string {
	var seen []string
	if r.Status != 0 {
		seen = append(seen, fmt.Sprint(r.Status))
	}
	if r.HasCode {
		seen = append(seen, fmt.Sprintf("error %d", r.Code))
	}
	head := r.Method
	if len(seen) > 0 {
		head += " → " + strings.Join(seen, ", ")
	}
	switch {
	case head == "":
		return r.Summary
	case r.Summary == "":
		return head
	}
	return head + ": " + r.Summary
}
