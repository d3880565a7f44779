package ui

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// stateLook is how a state is drawn: a shape, a colour, a word.
type stateLook struct {
	mark fyne.Resource
	tint widget.Importance
	word string
	// ticks says that the word changes every second.
	ticks bool
}

// lookOf draws a server's actual state. Amber needs a person, red is failure,
// grey is by choice (5-ui.md).
func lookOf(s *hub.Server, now time.Time) stateLook {
	word := s.StateWord()
	switch s.State {
	case hub.Off:
		return stateLook{markRing, widget.LowImportance, word, false}
	case hub.Ready:
		if s.Sentence != "" || s.Tools == 0 {
			return stateLook{markHalf, widget.WarningImportance, word, false}
		}
		return stateLook{markFull, widget.SuccessImportance, word, false}
	case hub.Starting, hub.Initializing:
		return stateLook{markDots, widget.HighImportance, since(word, s.Since, now), true}
	case hub.Retrying, hub.BreakerOpen:
		if wait := s.RetryAt.Sub(now).Round(time.Second); wait > 0 {
			if s.State == hub.BreakerOpen {
				return stateLook{markUp, widget.DangerImportance, "Breaker open, " + seconds(wait), true}
			}
			return stateLook{markUp, widget.DangerImportance, "Retrying in " + seconds(wait), true}
		}
		return stateLook{markUp, widget.DangerImportance, word, true}
	case hub.Blocked, hub.SignInNeeded, hub.WaitingSecret:
		return stateLook{markHalf, widget.WarningImportance, word, false}
	case hub.ShuttingDown:
		return stateLook{markDots, widget.LowImportance, word, false}
	}
	return stateLook{markBlock, widget.DangerImportance, word, false}
}

func since(word string, at, now time.Time) string {
	if d := now.Sub(at).Round(time.Second); d >= 2*time.Second && !at.IsZero() {
		return word + " " + seconds(d)
	}
	return word
}

// group is what the counters above the list count.
type group int

const (
	everything group = iota
	isReady
	needsPerson
	isFailing
	isOff
)

func groupOf(s *hub.Server) group {
	switch s.State {
	case hub.Ready:
		if s.Sentence != "" {
			return isFailing
		}
		return isReady
	case hub.Off:
		return isOff
	case hub.Blocked, hub.SignInNeeded, hub.WaitingSecret:
		return needsPerson
	case hub.Starting, hub.Initializing, hub.ShuttingDown:
		return everything
	}
	return isFailing
}

// ago says how long something is past, in one unit.
func ago(at, now time.Time) string {
	switch d := now.Sub(at); {
	case at.IsZero():
		return "never"
	case d < 2*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
}

// seconds gives a wait as a person counts it.
func seconds(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min", int(d.Minutes()))
}

// lasting gives a duration in one or two units.
func lasting(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "under 1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
