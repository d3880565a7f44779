package transport

import (
	"errors"
	"fmt"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
)

// Code is one of the closed set of ways in which a server or a call fails (T6).
type Code string

// The closed set. The comment gives the Reason words of each.
const (
	Blocked         Code = "blocked"          // url, address, source
	DNS             Code = "dns"              //
	BreakerOpen     Code = "breaker_open"     //
	HTTPStatus      Code = "http"             // Status, RPC
	RedirectRefused Code = "redirect_refused" // Status, Location
	TooLarge        Code = "too_large"        // Limit
	Timeout         Code = "timeout"          // connect, headers, idle, call, probe, handshake
	Broken          Code = "transport"        // refused, reset, tls, eof, no_answer, write, protocol, closed, id, …
	SessionRejected Code = "session_rejected" // Status, RPC
	Exited          Code = "exited"           // ExitCode or Signal
	Spawn           Code = "spawn"            // not_found, permission, directory, other
	NotMCP          Code = "not_mcp"          // web_page, other_json, other_content, empty
	VersionMismatch Code = "version"          //
	UnmeteredCall   Code = "unmetered_call"   //
	UnknownPrice    Code = "unknown_price"    // Tool
	Busy            Code = "busy"             //
	Cancelled       Code = "cancelled"        // declined, unasked, reconnect
	NotReady        Code = "not_ready"        // the state's word
	Invalid         Code = "invalid_response" // the method answered wrongly
)

// Error is the one error type of sessions and their wires. Its text is made of
// the closed vocabulary alone; a server's own words travel beside it in Words and
// RPC, for a person, and never reach a log through Error (T6).
type Error struct {
	Code   Code
	Reason string
	// Status is the HTTP status, where there was one.
	Status int
	// Limit is in bytes, for TooLarge.
	Limit int64
	// ExitCode and Signal tell how a process ended; Signal is "" unless one
	// killed it.
	ExitCode int
	Signal   string
	// Tool is the tool's name, for UnknownPrice.
	Tool string
	// Location is the origin (scheme://host:port) a redirect pointed to.
	Location string
	// RetryAfter is how long the server asked us to wait; 0 when it did not.
	RetryAfter time.Duration
	// RPC is the JSON-RPC error that came with the status, if any.
	RPC *jsonrpc.Error
	// Words are a few lines of the server's own (stderr tail, body preview),
	// bounded; the hub masks them and makes them display-safe.
	Words []string
	// Err is the cause, for errors.Is; never shown.
	Err error
}

// Error gives the closed text, such as "timeout (connect)".
func (e *Error) Error() string {
	switch {
	case e.Code == Exited && e.Signal != "":
		return "exited (signal " + e.Signal + ")"
	case e.Code == Exited:
		return fmt.Sprintf("exited (code %d)", e.ExitCode)
	case e.Code == TooLarge:
		return fmt.Sprintf("too large (limit %d bytes)", e.Limit)
	case e.Status != 0 && e.Reason != "":
		return fmt.Sprintf("%s (%s, HTTP %d)", e.Code, e.Reason, e.Status)
	case e.Status != 0:
		return fmt.Sprintf("%s (HTTP %d)", e.Code, e.Status)
	case e.Reason != "":
		return fmt.Sprintf("%s (%s)", e.Code, e.Reason)
	}
	return string(e.Code)
}

func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is(err, &Error{Code: c}) match by code, and by reason and
// status where the target sets them.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && (t.Reason == "" || t.Reason == e.Reason) && (t.Status == 0 || t.Status == e.Status)
}

// CodeOf returns the code of err, "" when err is no Error.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
