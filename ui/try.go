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

// try is the panel that calls one tool: arguments, Call and Cancel, progress, and
// the result. One call runs at a time.
type try struct {
	u      *UI
	server string
	tool   hub.Tool
	win    fyne.Window

	args   *tryArgs
	callB  *widget.Button
	stopB  *widget.Button
	busy   *tryProgress
	result *fyne.Container
	split  *container.Split
	box    *fyne.Container

	cancel context.CancelFunc // of the running call; nil when none runs
	run    int                // counts calls, so that a late result is known as such
	gone   bool
	shown  *resultView
}

func newTry(u *UI, server string, tool hub.Tool, win fyne.Window) *try {
	t := &try{u: u, server: server, tool: tool, win: win}
	t.args = newTryArgs(tool.InputSchema, t, t.argsChanged)
	t.callB = widget.NewButtonWithIcon("Call", theme.MediaPlayIcon(), t.call)
	t.callB.Importance = widget.HighImportance
	t.stopB = widget.NewButton("Cancel", t.stopCall)
	t.stopB.Disable()
	t.busy = newTryProgress()
	t.result = container.NewStack()
	t.split = container.NewVSplit(t.top(), t.result)
	t.box = container.NewStack(t.split.Leading)
	t.argsChanged()
	return t
}

// top is everything above the result.
func (t *try) top() fyne.CanvasObject {
	foot := container.NewVBox(widget.NewSeparator())
	if t.tool.Destructive {
		foot.Add(warning("This tool says that it can destroy or expose something. Look at the arguments before you call it."))
	}
	foot.Add(container.NewBorder(nil, nil, container.NewHBox(t.callB, t.stopB), nil, t.busy.box))
	return container.NewBorder(nil, foot, nil, nil, t.args.box)
}

func (t *try) object() fyne.CanvasObject { return t.box }

// stop ends a running call and whatever it would still draw.
func (t *try) stop() {
	t.gone = true
	t.stopCall()
	if t.shown != nil {
		t.shown.stop()
	}
}

func (t *try) stopCall() {
	if t.cancel != nil {
		t.cancel()
	}
}

func (t *try) argsChanged() { t.buttons() }

func (t *try) buttons() {
	running := t.cancel != nil
	setEnabled(t.callB, !running && !t.tool.Invalid && t.args.ready())
	setEnabled(t.stopB, running)
}

// call calls the tool with what is written, unless something is missing.
func (t *try) call() {
	if t.cancel != nil || t.gone || t.tool.Invalid {
		return
	}
	args, ok := t.args.encode()
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(t.u.ctx)
	t.cancel = cancel
	t.run++
	t.busy.begin()
	t.buttons()
	run := t.run
	t.u.background(func(context.Context) {
		defer cancel()
		out, err := t.callTool(ctx, run, args)
		t.u.cfg.Do(func() { t.finished(run, out, err) })
	})
}

// callTool runs off the UI goroutine.
func (t *try) callTool(ctx context.Context, run int, args json.RawMessage) (*hub.Outcome, error) {
	feed := newProgressFeed(t.u.cfg.Do, func(p hub.Progress) {
		if run == t.run && t.cancel != nil {
			t.busy.show(p)
		}
	})
	defer feed.stop()
	return t.u.cfg.Hub.Call(ctx, t.server, t.tool.Name, args, feed.set)
}

// finished shows what a call came to.
func (t *try) finished(run int, out *hub.Outcome, err error) {
	if run != t.run || t.gone || t.u.ctx.Err() != nil {
		return
	}
	t.cancel = nil
	t.busy.end()
	t.buttons()
	if t.shown != nil {
		t.shown.stop()
	}
	if err != nil {
		t.shown = newFailedView(t.u, err)
	} else {
		t.shown = newResultView(t.u, t.win, t.server+"-"+t.tool.Name, out)
	}
	t.result.Objects = []fyne.CanvasObject{t.shown.box}
	t.result.Refresh()
	if t.box.Objects[0] != fyne.CanvasObject(t.split) {
		t.split.Offset = t.share()
		t.box.Objects[0] = t.split
	}
	t.box.Refresh()
}

// share is the part of the height that the arguments keep beside a result: what
// they need, and no more than half.
func (t *try) share() float64 {
	height := t.box.Size().Height
	if height <= 0 {
		return 0.5
	}
	return float64(min((t.args.height()+90)/height, 0.5))
}

// key implements keyboard.
func (t *try) key(*fyne.KeyEvent) bool { return false }

// shortcut implements keyboard: Ctrl+Enter calls.
func (t *try) shortcut(s fyne.Shortcut) bool {
	if !isSend(s) {
		return false
	}
	t.call()
	return true
}
