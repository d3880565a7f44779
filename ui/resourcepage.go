package ui

import (
	"context"
	"encoding/json"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// resourcePage shows one resource, or a template to be filled in.
type resourcePage struct {
	u        *UI
	server   string
	resource hub.Resource
	follows  map[string]hub.Follow

	uri   *widget.Label
	args  *argForm
	panel *panel // nil when it cannot be read
	line  *followLine
}

func newResourcePage(u *UI, win fyne.Window, s *hub.Server, r hub.Resource) *resourcePage {
	p := &resourcePage{u: u, server: s.Name, resource: r}
	p.uri = widget.NewLabelWithStyle("", fyne.TextAlignLeading, fyne.TextStyle{Monospace: true})
	p.uri.SizeName = theme.SizeNameCaptionText
	p.uri.Wrapping = fyne.TextWrapBreak
	p.line = newFollowLine(p.wish)
	if r.Oddity != "" {
		p.uri.SetText(display.Line(r.URI, 300))
		return p
	}
	p.panel = newPanel(u, win, task{verb: "Read", busy: "Reading…", file: p.server + "-" + orElse(r.Name, "resource"), run: p.read})
	var args []argument
	for _, v := range r.Vars {
		args = append(args, argument{name: v.Name, required: !v.Optional})
	}
	var complete completer
	if s.Completes {
		complete = p.complete
	}
	p.args = newArgForm(u, args, "", complete, p.panel, p.changed)
	p.panel.use(p.args)
	p.changed()
	return p
}

// object lays the page out for a width.
func (p *resourcePage) object(width float32) fyne.CanvasObject {
	r := p.resource
	head := aboutHead(orElse(r.Name, r.URI), r.Title)
	head.Add(p.uri)
	size := ""
	if r.Size >= 0 {
		size = byteSize(int(r.Size))
	}
	if facts := joined(display.Line(r.MIME, 80), size); facts != "" {
		head.Add(caption(facts, widget.LowImportance))
	}
	if r.Oddity != "" {
		head.Add(warning(display.Line(r.Oddity, 300)))
	}
	addDescription(head, r.Description)
	if p.panel == nil {
		return container.NewVScroll(head)
	}
	return above(head, container.NewBorder(p.line.box, nil, nil, nil, p.panel.object()), width)
}

// target is the URI to read; ok is false while a template lacks something.
func (p *resourcePage) target() (uri string, ok bool) {
	r := p.resource
	if !r.Template {
		return r.URI, true
	}
	for _, x := range p.args.fields {
		if x.arg.required && x.entry.Text == "" {
			return "", false
		}
	}
	uri, err := hub.Expand(r.URI, p.args.values())
	return uri, err == nil
}

// changed shows what a template has become.
func (p *resourcePage) changed() {
	if p.args == nil {
		return
	}
	p.panel.changed()
	uri, ok := p.target()
	if !ok {
		uri = p.resource.URI
	}
	setText(p.uri, display.Line(uri, 300))
	p.draw()
}

// read runs off the UI goroutine.
func (p *resourcePage) read(ctx context.Context, args json.RawMessage, progress func(hub.Progress)) (*hub.Outcome, error) {
	uri := p.resource.URI
	if p.resource.Template {
		var values map[string]string
		err := json.Unmarshal(args, &values)
		if err == nil {
			uri, err = hub.Expand(uri, values)
		}
		if err != nil {
			return nil, &hub.CallError{Sentence: "The template cannot be filled in."}
		}
	}
	return p.u.cfg.Hub.Read(ctx, p.server, uri, progress)
}

// complete runs off the UI goroutine.
func (p *resourcePage) complete(ctx context.Context, argument, value string, others map[string]string) ([]string, error) {
	return p.u.cfg.Hub.Complete(ctx, p.server, hub.Completing{Template: p.resource.URI, Argument: argument, Value: value, Others: others})
}

// wish asks the server to tell about changes, or no longer to.
func (p *resourcePage) wish(on bool) {
	if uri, ok := p.target(); ok {
		p.u.attempt("That did not work", func() error { return p.u.cfg.Hub.Follow(p.server, uri, on) })
	}
}

// update takes what is followed of the server.
func (p *resourcePage) update(s *hub.Server, follows map[string]hub.Follow) {
	p.follows = follows
	setVisible(p.line.box, s.Subscribes && s.State == hub.Ready)
	p.draw()
}

func (p *resourcePage) draw() {
	uri, ok := p.target()
	f, followed := p.follows[uri]
	p.line.set(f, followed, ok)
}

// stop ends what runs.
func (p *resourcePage) stop() {
	if p.panel != nil {
		p.panel.stop()
	}
}

// followLine is the switch that follows a resource, and what came of it.
type followLine struct {
	tick *tick
	says *widget.Label
	box  *fyne.Container
}

func newFollowLine(wish func(on bool)) *followLine {
	l := &followLine{tick: newTick("Tell me when it changes", noKeys{}, wish), says: widget.NewLabel("")}
	l.says.Truncation = fyne.TextTruncateEllipsis
	l.box = container.NewBorder(nil, nil, l.tick, nil, l.says)
	return l
}

// set shows the state of a resource. able says that there is one to follow.
func (l *followLine) set(f hub.Follow, followed, able bool) {
	l.tick.put(followed && f.Problem == "")
	if able {
		l.tick.Enable()
	} else {
		l.tick.Disable()
	}
	text, i := "", widget.LowImportance
	switch {
	case f.Problem != "":
		text, i = "⚠ "+f.Problem, widget.WarningImportance
	case !f.Updated.IsZero():
		text, i = "● Updated at "+f.Updated.Local().Format(time.TimeOnly), widget.HighImportance
	}
	l.says.Importance = i
	l.says.SetText(display.Line(text, 160))
}
