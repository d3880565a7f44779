package hub

import (
	"errors"
	"fmt"
	"strings"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// explanation is what a row says about a failure.
type explanation struct {
	sentence string
	words    []string
	action   Action
}

var (
	actReconnect = Action{Kind: Reconnect, Label: "Reconnect"}
	actEdit      = Action{Kind: EditSpec, Label: "Show the file"}
	actLog       = Action{Kind: ShowLog, Label: "Show the log"}
	actProbe     = Action{Kind: ProbeAgain, Label: "Probe again"}
	actTurnOn    = Action{Kind: TurnOn, Label: "Turn on"}
	actParallel  = Action{Kind: AllowParallel, Label: "Allow parallel calls"}
)

// explain says in one sentence what an error of a session means to a person, and
// what to try next. host is where the server is, without its query.
func explain(err error, host string) explanation {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return explainAll(joined.Unwrap(), host)
	}
	var te *transport.Error
	var rpc *jsonrpc.Error
	switch {
	case errors.As(err, &te):
		x := explainTransport(te, host)
		x.words = append(x.words, te.Words...)
		if te.RPC != nil && te.RPC.Message != "" {
			x.words = append(x.words, te.RPC.Message)
		}
		return x
	case errors.As(err, &rpc):
		x := explanation{sentence: fmt.Sprintf("The server refused with error %d.", rpc.Code), action: actReconnect}
		if rpc.Message != "" {
			x.words = []string{rpc.Message}
		}
		return x
	}
	return explanation{sentence: "Something unexpected went wrong.", action: actReconnect}
}

// explainAll reports every answer of a server, the decisive one first (E3).
func explainAll(errs []error, host string) explanation {
	x := explain(errs[0], host)
	for _, err := range errs[1:] {
		more := explain(err, host)
		if more.sentence != x.sentence {
			x.words = append(append(x.words, "Before that: "+more.sentence), more.words...)
		}
	}
	return x
}

func explainTransport(e *transport.Error, host string) explanation {
	say := func(a Action, format string, args ...any) explanation {
		return explanation{sentence: fmt.Sprintf(format, args...), action: a}
	}
	switch e.Code {
	case transport.Blocked:
		return explainBlocked(e)
	case transport.DNS:
		return say(actEdit, "The name %s could not be found.", host)
	case transport.BreakerOpen:
		return say(actReconnect, "It failed several times in a row, so nothing is sent to it for a while.")
	case transport.HTTPStatus:
		return explainStatus(e)
	case transport.RedirectRefused:
		return say(actEdit, "The server has moved to %s; put its new address into the file.", orElse(e.Location, "another address"))
	case transport.TooLarge:
		return say(actEdit, "A message was larger than the limit of %s.", size(e.Limit))
	case transport.Timeout:
		return explainTimeout(e, host)
	case transport.Broken:
		return explainBroken(e, host)
	case transport.SessionRejected:
		return say(actReconnect, "The server has forgotten the session, and a new one did not help.")
	case transport.Exited:
		if e.Signal != "" {
			return say(actLog, "The process was ended by signal %s.", e.Signal)
		}
		return say(actLog, "The process ended with code %d.", e.ExitCode)
	case transport.Spawn:
		return explainSpawn(e, host)
	case transport.NotMCP:
		return explainNotMCP(e)
	case transport.VersionMismatch:
		return say(actProbe, "There is no protocol version that both sides speak.")
	case transport.Busy:
		return say(actReconnect, "Too many calls are waiting for this server.")
	case transport.Cancelled:
		if e.Reason == "reconnect" {
			return say(Action{}, "The server was connected anew before there was an answer.")
		}
		return say(Action{}, "It was cancelled.")
	case transport.Invalid:
		return say(actLog, "The server gave an answer that is not valid (%s).", e.Reason)
	case transport.NotReady:
		if e.Err != nil {
			return explain(e.Err, host)
		}
		return say(Action{}, "The server is not ready: it is %s.", e.Reason)
	}
	return say(actReconnect, "Something went wrong: %s.", e.Error())
}

func explainBlocked(e *transport.Error) explanation {
	switch e.Reason {
	case "source":
		return explanation{sentence: "It comes from a project folder and nobody has allowed it.", action: actEdit}
	case "address":
		return explanation{sentence: "Its address is not allowed: plain http goes only to this computer and private networks.", action: actEdit}
	}
	return explanation{sentence: "Its URL cannot be used.", action: actEdit}
}

func explainStatus(e *transport.Error) explanation {
	switch {
	case e.Status == 401 || e.Status == 403:
		return explanation{sentence: "It needs sign-in, which is not supported yet; put a token header in the keyring.", action: actEdit}
	case e.Status == 404 || e.Status == 405:
		return explanation{sentence: fmt.Sprintf("There is no MCP server at this address (HTTP %d).", e.Status), action: actEdit}
	case e.Status == 429:
		return explanation{sentence: "The server asks us to slow down (HTTP 429).", action: actReconnect}
	case e.Status >= 500:
		return explanation{sentence: fmt.Sprintf("The server has a problem of its own (HTTP %d).", e.Status), action: actReconnect}
	}
	return explanation{sentence: fmt.Sprintf("The server refused with HTTP %d.", e.Status), action: actLog}
}

func explainTimeout(e *transport.Error, host string) explanation {
	text := map[string]string{
		"connect":   "No connection to " + host + " could be made in time.",
		"headers":   "The server accepted the request and never answered.",
		"idle":      "The server fell silent in the middle of a request.",
		"call":      "The request took longer than its limit.",
		"probe":     "The server did not answer the first question.",
		"handshake": "The server did not answer the handshake.",
	}[e.Reason]
	return explanation{sentence: orElse(text, "It took too long."), action: actReconnect}
}

func explainBroken(e *transport.Error, host string) explanation {
	if strings.HasPrefix(e.Reason, "tls") {
		text := map[string]string{
			"tls_certificate": "Its certificate is not signed by anybody this computer trusts.",
			"tls_expired":     "Its certificate has expired.",
			"tls_hostname":    "Its certificate is for another name than " + host + ".",
			"tls_plaintext":   "It speaks plain http where https was expected.",
		}[e.Reason]
		return explanation{sentence: orElse(text, "No secure connection could be agreed on."), action: actEdit}
	}
	text := map[string]string{
		"refused":     "Nothing is listening at " + host + ".",
		"unreachable": "There is no way to " + host + " from here.",
		"reset":       "The server cut the connection.",
		"eof":         "The server closed the connection.",
		"lost":        "The connection was lost.",
		"no_answer":   "The server closed the stream without answering.",
		"closed":      "The connection is closed.",
		"write":       "The server does not read what is sent to it.",
	}[e.Reason]
	return explanation{sentence: orElse(text, "The connection broke."), action: actReconnect}
}

func explainSpawn(e *transport.Error, command string) explanation {
	text := map[string]string{
		"not_found":  "The command " + command + " was not found.",
		"permission": "The command " + command + " may not be run.",
		"directory":  "The working directory does not exist.",
	}[e.Reason]
	return explanation{sentence: orElse(text, "The command could not be started."), action: actEdit}
}

func explainNotMCP(e *transport.Error) explanation {
	text := map[string]string{
		"web_page":   "The address answers with a web page, not with MCP.",
		"other_json": "The address answers with JSON that is not MCP.",
		"empty":      "The address answers with nothing.",
	}[e.Reason]
	return explanation{sentence: orElse(text, "What answers there does not speak MCP."), action: actEdit}
}

func orElse(s, or string) string {
	if s == "" {
		return or
	}
	return s
}

// size gives a number of bytes in words.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// stateOf translates a session's state.
func stateOf(st client.Status) State {
	switch st.State {
	case client.Starting:
		return Starting
	case client.Initializing:
		return Initializing
	case client.Ready:
		return Ready
	case client.Blocked:
		return Blocked
	case client.SignIn:
		return SignInNeeded
	case client.Failed:
		return Failed
	case client.Closed:
		return ShuttingDown
	}
	if transport.CodeOf(st.Err) == transport.BreakerOpen {
		return BreakerOpen
	}
	return Retrying
}
