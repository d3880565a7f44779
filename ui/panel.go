package ui

import (
	"context"
	"encoding/json"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// task is one thing that a server can be asked to do.
type task struct {
	// verb is the button's word, busy what is said meanwhile.
	verb, busy string
	// file is what proposed file names begin with.
	file string
	// caution is said above the button, unless it is "".
	caution string
	// off says that it cannot be done at all.
	off bool
	// run does it, off the UI goroutine.
	run func(ctx context.Context, args json.RawMessage, progress func(hub.Progress)) (*hub.Outcome, error)
}

// taskArgs are what a task is given. Their encode shows what has to be put right
// first, and is false then.
type taskArgs interface {
	object() fyne.CanvasObject
	height() float32 // what they need to be seen whole
	ready() bool
	encode() (json.RawMessage, bool)
}

// panel does one task: arguments, a button and Cancel, progress, and the result.
// One run goes on at a time.
type panel struct {
	u    *UI
	win  fyne.Window
	task task
	args taskArgs

	callB  *widget.Button
	stopB  *widget.Button
	busy   *tryProgress
	result *fyne.Container
	foot   *fyne.Container
	split  *container.Split
	box    *fyne.Container

	cancel context.CancelFunc // of what runs; nil when nothing does
	run    int                // counts runs, so that a late result is known as such
	gone   bool
	shown  *resultView
}

func newPanel(u *UI, win fyne.Window, t task) *panel {
	p := &panel{u: u, win: win, task: t}
	p.callB = widget.NewButtonWithIcon(t.verb, theme.MediaPlayIcon(), p.call)
	p.callB.Importance = widget.HighImportance
	p.stopB = widget.NewButton("Cancel", p.stopCall)
	p.stopB.Disable()
	p.busy = newTryProgress(t.busy)
	p.result = container.NewStack()
	p.box = container.NewStack()
	return p
}

// use gives the panel its arguments, which may report to it.
func (p *panel) use(args taskArgs) {
	p.args = args
	p.split = container.NewVSplit(p.top(), p.result)
	p.box.Objects = []fyne.CanvasObject{p.split.Leading}
	p.buttons()
}

// top is everything above the result.
func (p *panel) top() fyne.CanvasObject {
	p.foot = container.NewVBox(widget.NewSeparator())
	if p.task.caution != "" {
		p.foot.Add(warning(p.task.caution))
	}
	p.foot.Add(container.NewBorder(nil, nil, container.NewHBox(p.callB, p.stopB), nil, p.busy.box))
	return container.NewBorder(nil, p.foot, nil, nil, p.args.object())
}

func (p *panel) object() fyne.CanvasObject { return p.box }

// stop ends what runs and whatever it would still draw.
func (p *panel) stop() {
	p.gone = true
	p.stopCall()
	if p.shown != nil {
		p.shown.stop()
	}
}

func (p *panel) stopCall() {
	if p.cancel != nil {
		p.cancel()
	}
}

func (p *panel) buttons() {
	running := p.cancel != nil
	setEnabled(p.callB, !running && !p.task.off && p.args.ready())
	setEnabled(p.stopB, running)
}

// changed is called when an argument changed.
func (p *panel) changed() {
	if p.args != nil {
		p.buttons()
	}
}

// call does the task with what is written, unless something is missing.
func (p *panel) call() {
	if p.cancel != nil || p.gone || p.task.off {
		return
	}
	args, ok := p.args.encode()
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(p.u.ctx)
	p.cancel = cancel
	p.run++
	p.busy.begin()
	p.buttons()
	run := p.run
	p.u.background(func(context.Context) {
		defer cancel()
		out, err := p.perform(ctx, run, args)
		p.u.cfg.Do(func() { p.finished(run, out, err) })
	})
}

// perform runs off the UI goroutine.
func (p *panel) perform(ctx context.Context, run int, args json.RawMessage) (*hub.Outcome, error) {
	feed := newProgressFeed(p.u.cfg.Do, func(x hub.Progress) {
		if run == p.run && p.cancel != nil {
			p.busy.show(x)
		}
	})
	defer feed.stop()
	return p.task.run(ctx, args, feed.set)
}

// finished shows what a run came to.
func (p *panel) finished(run int, out *hub.Outcome, err error) {
	if run != p.run || p.gone || p.u.ctx.Err() != nil {
		return
	}
	p.cancel = nil
	p.busy.end()
	p.buttons()
	if p.shown != nil {
		p.shown.stop()
	}
	if err != nil {
		p.shown = newFailedView(p.u, err)
	} else {
		p.shown = newResultView(p.u, p.win, p.task.file, out)
	}
	p.result.Objects = []fyne.CanvasObject{p.shown.box}
	p.result.Refresh()
	if p.box.Objects[0] != fyne.CanvasObject(p.split) {
		p.split.Offset = p.share()
		p.box.Objects[0] = p.split
	}
	p.box.Refresh()
}

// share is the part of the height that the arguments keep beside a result: what
// they need, and no more than half.
func (p *panel) share() float64 {
	height := p.box.Size().Height
	if height <= 0 {
		return 0.5
	}
	return float64(min((p.args.height()+p.foot.MinSize().Height+10)/height, 0.5))
}

// key implements keyboard.
func (p *panel) key(*fyne.KeyEvent) bool { return false }

// shortcut implements keyboard: Ctrl+Enter is the button.
func (p *panel) shortcut(s fyne.Shortcut) bool {
	if !isSend(s) {
		return false
	}
	p.call()
	return true
}
