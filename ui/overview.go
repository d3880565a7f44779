package ui

import (
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// overview answers "what is wrong?", "why this era?" and "why this health?".
type overview struct {
	u     *UI
	w     *mainWindow
	s     *hub.Server
	facts overviewFacts

	trouble  *fyne.Container
	line     *fyne.Container
	sentence *widget.Label
	words    *widget.Label
	action   *widget.Button
	era      *widget.Label
	health   *widget.Label
	spark    *sparkline
	load     *widget.Label
	parallel *widget.Button
	says     *widget.Label
	sayHead  *widget.Label
	spec     *widget.Label
	probe    *widget.Button
	connect  *widget.Button
	power    *widget.Button
	content  *fyne.Container
	box      fyne.CanvasObject
}

// The most of a server's own text that the overview shows.
const (
	maxInstructionLines = 40
	maxLineWidth        = 400
	maxNotes            = 12
)

func newOverview(u *UI, w *mainWindow) *overview {
	o := &overview{
		u: u, w: w, sentence: wrapped(""), words: wrapped(""), era: wrapped(""), health: wrapped(""), spark: newSparkline(),
		load: widget.NewLabel(""), says: wrapped(""), sayHead: heading("What the server says"), spec: wrapped(""),
	}
	o.sentence.Importance = widget.WarningImportance
	o.words.TextStyle = fyne.TextStyle{Monospace: true}
	o.words.SizeName = theme.SizeNameCaptionText
	o.action = widget.NewButton("", func() { w.press(o.s) })
	o.line = container.NewBorder(nil, nil, container.NewCenter(widget.NewIcon(theme.NewWarningThemedResource(theme.WarningIcon()))), container.NewVBox(o.action), o.sentence)
	o.trouble = container.NewVBox(o.line, o.words, widget.NewSeparator())
	o.probe = widget.NewButton("Probe again", func() { w.do(o.s.Name, hub.ProbeAgain) })
	o.connect = widget.NewButton("Reconnect", func() { w.do(o.s.Name, hub.Reconnect) })
	o.power = widget.NewButton("Turn off", func() {
		name, on := o.s.Name, !o.s.Wanted
		u.attempt("The switch could not be changed", func() error { return u.cfg.Hub.SetWanted(u.ctx, name, on) })
	})
	o.parallel = widget.NewButton("Allow parallel calls…", func() { w.offerParallel(o.s.Name) })
	o.content = container.NewVBox(
		o.trouble,
		section(heading("Why this era?"), o.era),
		section(heading("Why this health?"), o.health), o.spark, container.NewBorder(nil, nil, nil, o.parallel, o.load),
		container.NewHBox(o.probe, o.connect, o.power),
		section(o.sayHead, o.says),
		section(heading("What the file says"), o.spec),
	)
	o.box = container.NewVScroll(o.content)
	return o
}

// section puts a heading close to what it heads.
func section(head, body fyne.CanvasObject) fyne.CanvasObject {
	return container.New(&stacked{overlap: 12}, head, body)
}

func (o *overview) object() fyne.CanvasObject { return o.box }

// overviewFacts is everything that the overview shows, as text.
type overviewFacts struct {
	sentence, words, action       string
	era, health, load, says, spec string
	wanted, connectable, parallel bool
	calls                         int
	last                          time.Time
}

func factsOf(s *hub.Server, now time.Time) overviewFacts {
	f := overviewFacts{
		sentence: display.Line(s.Sentence, 400), action: s.Action.Label,
		era: eraText(s, now), health: healthText(s, now), says: saysText(s), spec: specText(s),
		wanted: s.Wanted, connectable: s.Wanted && s.State != hub.InvalidSpec, calls: len(s.Health.Calls),
	}
	var words []string
	for _, w := range s.Words {
		words = append(words, display.Line(w, 300))
	}
	f.words = strings.Join(words, "\n")
	f.parallel = s.Action.Kind == hub.AllowParallel
	if s.State == hub.Ready {
		f.load = fmt.Sprintf("In flight %d of %d · queued %d · %s", s.Health.InFlight, s.Health.Cap, s.Health.Queued, s.Health.Concurrency)
	}
	if f.calls > 0 {
		f.last = s.Health.Calls[f.calls-1].At
	}
	return f
}

// set shows a server. What reads as before is not laid out again.
func (o *overview) set(s *hub.Server) {
	o.s = s
	f := factsOf(s, o.u.cfg.Now())
	if f == o.facts {
		return
	}
	o.facts = f
	setText(o.sentence, f.sentence)
	setText(o.words, f.words)
	setVisible(o.words, f.words != "")
	o.action.SetText(f.action)
	setVisible(o.action, f.action != "")
	setVisible(o.trouble, f.sentence != "")
	setText(o.era, f.era)
	setText(o.health, f.health)
	o.spark.set(s.Health.Calls)
	setText(o.load, f.load)
	setVisible(o.load, f.load != "")
	setVisible(o.parallel, f.parallel)
	setText(o.says, f.says)
	setVisible(o.says, f.says != "")
	setVisible(o.sayHead, f.says != "")
	setText(o.spec, f.spec)
	o.power.SetText(map[bool]string{true: "Turn off", false: "Turn on"}[f.wanted])
	setEnabled(o.probe, f.connectable)
	setEnabled(o.connect, f.connectable)
	o.line.Refresh()
	o.content.Refresh()
}

// eraText is the evidence behind the badge (E9).
func eraText(s *hub.Server, now time.Time) string {
	if !s.Era.Modern && !s.Era.Legacy {
		return "Not known yet: the server has not answered."
	}
	text := "It speaks " + display.Line(s.Era.Version, 20)
	if s.Era.Legacy {
		text += ", a revision with a handshake"
	}
	text += ".\n" + orElse(display.Line(s.Era.Evidence, 200), "nothing was noted") + ", " + ago(s.Era.At, now)
	if s.Era.Until.IsZero() {
		text += "; kept until the command changes or the assumption fails"
	} else if left := s.Era.Until.Sub(now); left > 0 {
		text += fmt.Sprintf("; holds %s more", lasting(left))
	}
	if s.Era.FromCache {
		text += " (kept from an earlier connection)"
	}
	return text + "."
}

func healthText(s *hub.Server, now time.Time) string {
	h := s.Health
	var lines []string
	switch {
	case !h.UpSince.IsZero():
		lines = append(lines, "Connected since "+ago(h.UpSince, now)+".")
	case s.State == hub.Off:
		lines = append(lines, "Turned off by choice.")
	default:
		lines = append(lines, "Not connected.")
	}
	if h.Restarts > 0 && h.UpSince.IsZero() {
		lines = append(lines, plural(h.Restarts, "attempt")+" failed since it last stayed up.")
	}
	breaker := "Breaker " + h.Breaker
	if h.Failures > 0 {
		breaker += fmt.Sprintf(" (%s in a row)", plural(h.Failures, "failure"))
	}
	if h.Breaker != "" {
		lines = append(lines, breaker+".")
	}
	if h.LastError != "" {
		lines = append(lines, "Last failure "+ago(h.LastErrorAt, now)+": "+display.Line(h.LastError, 200))
	}
	if n := len(h.Calls); n > 0 {
		failed := 0
		for _, c := range h.Calls {
			if !c.OK {
				failed++
			}
		}
		last := fmt.Sprintf("Last %s", plural(n, "request"))
		if failed > 0 {
			last += fmt.Sprintf(", %d failed", failed)
		}
		lines = append(lines, last+":")
	}
	return strings.Join(lines, "\n")
}

func saysText(s *hub.Server) string {
	var lines []string
	if s.ServerName != "" {
		lines = append(lines, "It calls itself "+display.Line(s.ServerName, 60)+" "+display.Line(s.ServerVersion, 30)+".")
	}
	if len(s.Capabilities) > 0 {
		lines = append(lines, "It offers "+display.Line(strings.Join(s.Capabilities, ", "), 200)+".")
	}
	if s.Instructions != "" {
		lines = append(lines, "", "Its instructions for AI clients:")
		lines = append(lines, display.Lines(s.Instructions, maxInstructionLines, maxLineWidth)...)
	}
	return strings.Join(lines, "\n")
}

func specText(s *hub.Server) string {
	kind := "A command that Drawbridge starts: "
	if s.Remote {
		kind = "A server at "
	}
	lines := []string{kind + display.Line(s.Target, 200)}
	if s.Target == "" {
		lines = []string{"The entry could not be read."}
	}
	if len(s.Secrets) > 0 {
		lines = append(lines, "It uses the secrets "+display.Line(strings.Join(s.Secrets, ", "), 200)+".")
	}
	for i, n := range s.Notes {
		if i == maxNotes {
			lines = append(lines, fmt.Sprintf("… %d more", len(s.Notes)-i))
			break
		}
		lines = append(lines, "• "+display.Line(n, 300))
	}
	return strings.Join(lines, "\n")
}

func orElse(s, or string) string {
	if s == "" {
		return or
	}
	return s
}

// setText sets a label only if that changes it: a new text is a new layout.
func setText(l *widget.Label, text string) {
	if l.Text != text {
		l.SetText(text)
	}
}

func setVisible(o fyne.CanvasObject, on bool) {
	switch {
	case on && !o.Visible():
		o.Show()
	case !on && o.Visible():
		o.Hide()
	}
}

func setEnabled(b *widget.Button, on bool) {
	switch {
	case on && b.Disabled():
		b.Enable()
	case !on && !b.Disabled():
		b.Disable()
	}
}
