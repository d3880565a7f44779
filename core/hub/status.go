package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/drawbridge-mcp/drawbridge/core/display"
)

// StateWord is the state as a person reads it.
func (s *Server) StateWord() string {
	switch s.State {
	case Off:
		return "Off"
	case Blocked:
		return "Blocked"
	case Starting, Initializing:
		return "Connecting"
	case Ready:
		if s.Tools == 0 {
			return "Ready, 0 tools"
		}
		return "Ready"
	case Retrying:
		return "Retrying"
	case BreakerOpen:
		return "Breaker open"
	case WaitingSecret:
		return "Waiting for secret " + s.Action.Arg
	case SignInNeeded:
		return "Sign-in needed"
	case InvalidSpec:
		return "Invalid"
	case ShuttingDown:
		return "Stopping"
	}
	return "Failed"
}

// Badge is the era badge's text.
func (e Era) Badge() string {
	switch {
	case e.Modern:
		return e.Version
	case e.Legacy:
		return "Legacy " + e.Version
	}
	return "?"
}

// Public returns the snapshot without what only a window needs: the link of a
// question often holds a one-time token, and a call's arguments anything.
func (s *Snapshot) Public() *Snapshot {
	out := *s
	out.Questions = nil
	for _, q := range s.Questions {
		p := *q
		p.URL, p.Schema = "", nil
		out.Questions = append(out.Questions, &p)
	}
	out.Asks = nil
	for _, a := range s.Asks {
		p := *a
		p.Arguments, p.Diff = nil, ""
		out.Asks = append(out.Asks, &p)
	}
	return &out
}

// WriteStatus prints a snapshot as a table for a terminal (A7).
func WriteStatus(w io.Writer, s *Snapshot) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "SERVER\tSTATE\tERA\tTOOLS\tWHY")
	for _, v := range s.Servers {
		tools := "-"
		if v.Tools >= 0 {
			tools = fmt.Sprint(v.Tools)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", display.Line(v.Name, 40), v.StateWord(), display.Line(v.Era.Badge(), 24), tools, display.Line(v.Sentence, 120))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	var notes []string
	if s.Config.Problem != "" {
		notes = append(notes, s.Config.Path+": "+s.Config.Problem)
	}
	if s.Keyring.Problem != "" {
		notes = append(notes, "Keyring: "+strings.TrimSuffix(s.Keyring.Problem, ".")+". "+sentence(errors.New(strings.TrimSuffix(s.Keyring.Hint, "."))))
	}
	if n := len(s.Questions); n > 0 {
		notes = append(notes, fmt.Sprintf("%d question(s) wait for you in the window.", n))
	}
	if n := len(s.Asks); n > 0 {
		notes = append(notes, fmt.Sprintf("%d call(s) wait for your decision in the window.", n))
	}
	if s.Gateway.Problem != "" {
		notes = append(notes, s.Gateway.Problem)
	}
	if s.Gateway.URL != "" {
		notes = append(notes, "AI clients connect to "+s.Gateway.URL)
	}
	for _, n := range notes {
		if _, err := fmt.Fprintln(w, display.Line(n, 400)); err != nil {
			return err
		}
	}
	return nil
}

// WriteStatusJSON prints a snapshot as JSON.
func WriteStatusJSON(w io.Writer, s *Snapshot) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(s)
}
