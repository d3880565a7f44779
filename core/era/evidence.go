package era

import (
	"encoding/json"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Answer is one answer to a probe, as a transport-neutral fact.
type Answer struct {
	// Status is the HTTP status; 0 on stdio or when none came.
	Status int
	// Result is the result member, nil when absent.
	Result json.RawMessage
	// Error is the error member, nil when absent. On HTTP the exchange correlates
	// it, so that an error whose id is null counts too (field case 43).
	Error *jsonrpc.Error
	// Silent says that no answer came within the probe's time (stdio).
	Silent bool
	// Exited says that the process ended on the probe (stdio).
	Exited bool
	// Failed says that there was no answer at all: connect, TLS or size errors, a
	// redirect, a process that could not be started.
	Failed bool
}

// Evidence is what one answer says about the era.
type Evidence int

// The kinds of evidence, with what follows (E2).
const (
	None         Evidence = iota // nothing: the error itself is reported
	ProvesModern                 // see Next
	Demotes                      // legacy: initialize
	Health                       // a refusal: no verdict; the breaker, or sign-in
	Doubt                        // settled by proof: initialize once (E3)
)

// String gives "none", "modern", "demotes", "health" or "doubt".
func (e Evidence) String() string {
	switch e {
	case ProvesModern:
		return "modern"
	case Demotes:
		return "demotes"
	case Health:
		return "health"
	case Doubt:
		return "doubt"
	}
	return "none"
}

// Judge says what an answer to server/discover tells about the era: the table of
// E2, and E5 for stdio. It is pure.
func Judge(a Answer, stdio bool) Evidence {
	e, _ := weigh(a, stdio)
	return e
}

// weigh is Judge with the reason, one of the closed vocabulary of Record.
func weigh(a Answer, stdio bool) (Evidence, string) {
	if a.Failed {
		return None, NoAnswer
	}
	// The four codes that are decisive under any status come first: a code is more
	// specific than a status.
	if a.Error != nil {
		switch {
		case mcp.ModernError(a.Error.Code):
			return ProvesModern, ModernError
		case a.Error.Code == jsonrpc.CodeMethodNotFound:
			return Demotes, MethodNotFound
		}
	}
	if d, ok := discovered(a); ok {
		for _, v := range d.SupportedVersions {
			if v.Modern() {
				return ProvesModern, ModernVersions
			}
		}
		return ProvesModern, LegacyVersions
	}
	if stdio {
		return weighPipe(a)
	}
	return weighStatus(a)
}

// weighPipe follows stdio "Backward Compatibility": whatever is not modern means
// legacy, and "the fallback MUST NOT be keyed to one specific error code".
func weighPipe(a Answer) (Evidence, string) {
	switch {
	case a.Error != nil:
		return Demotes, OtherError
	case a.Result != nil:
		return Demotes, OtherResult
	case a.Exited:
		return Demotes, ProcessExited
	case a.Silent:
		return Demotes, NoAnswerInTime
	}
	return None, NoAnswer
}

func weighStatus(a Answer) (Evidence, string) {
	coded := a.Error != nil
	switch s := a.Status; {
	case s >= 300 && s < 400:
		return None, Redirect
	// These speak of the caller, of time or of a gateway, not of the method, so
	// that an indecisive code in the body does not outweigh them: a 401 with a
	// JSON-RPC error still asks for sign-in.
	case s == 401, s == 403:
		return Health, SignInRequired
	case s == 408, s == 429:
		return Health, TooBusy
	case s > 501 && s < 600:
		return Health, ServerError
	// A plain 500 with an error object is how legacy servers often say that they
	// stumbled over an unknown method (field case 42); initialize settles it.
	case coded:
		return Doubt, OtherError
	case s == 404, s == 405, s == 501:
		return Demotes, NoSuchEndpoint
	case s == 500:
		return Health, ServerError
	case s >= 400 && s < 500:
		return Doubt, OtherStatus
	case s >= 200 && s < 300:
		return Doubt, OtherResult
	}
	return None, NoAnswer
}

// discovered reads the answer's DiscoverResult. One that comes under a refusing
// status is not believed.
func discovered(a Answer) (mcp.DiscoverResult, bool) {
	if a.Failed || a.Error != nil || a.Status != 0 && (a.Status < 200 || a.Status > 299) {
		return mcp.DiscoverResult{}, false
	}
	return mcp.ParseDiscoverResult(a.Result)
}

// Unhealthy reports whether the status alone of an ordinary exchange (not of a
// probe) counts against the server's origin (C8): 400, 401, 403, 408, 429 and
// every 5xx, 501 included.
func Unhealthy(status int) bool {
	switch status {
	case 400, 401, 403, 408, 429:
		return true
	}
	return status >= 500
}
