package ui

import (
	"context"
	"encoding/json"

	"fyne.io/fyne/v2"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// try is the panel that calls one tool.
type try struct {
	*panel
	args *tryArgs
}

func newTry(u *UI, server string, tool hub.Tool, win fyne.Window) *try {
	do := task{
		verb: "Call", busy: "Calling…", file: server + "-" + tool.Name, off: tool.Invalid,
		run: func(ctx context.Context, args json.RawMessage, progress func(hub.Progress)) (*hub.Outcome, error) {
			return u.cfg.Hub.Call(ctx, server, tool.Name, args, progress)
		},
	}
	if tool.Destructive {
		do.caution = "This tool says that it can destroy or expose something. Look at the arguments before you call it."
	}
	p := newPanel(u, win, do)
	t := &try{panel: p, args: newTryArgs(tool.InputSchema, p, p.changed)}
	p.use(t.args)
	return t
}
