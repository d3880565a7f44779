package ui

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// mainWindow is the rail, the server list and the detail of one server.
type mainWindow struct {
	u      *UI
	win    fyne.Window
	list   *serverList
	detail *detail
	empty  *emptyState
	about  *about
	bands  *fyne.Container
	config *band
	keys   *band
	pages  *fyne.Container
	body   fyne.CanvasObject // list and detail
	rail   *rail
	// ticking says that some text changes every second.
	ticking atomic.Bool
	first   bool
}

func newMainWindow(u *UI) *mainWindow {
	w := &mainWindow{u: u, win: u.cfg.App.NewWindow("Drawbridge"), first: true}
	w.detail = newDetail(u, w)
	w.list = newServerList(u, w.pick, w.press)
	w.empty = newEmptyState(u)
	w.about = newAbout(u)
	w.config = newBand("Read it again", func() { w.do("", hub.Reload) })
	w.keys = newBand("", nil)
	w.bands = container.NewVBox(w.config.object(), w.keys.object())
	split := container.NewHSplit(w.list.object(), w.detail.object())
	split.Offset = 0.36
	w.body = split
	w.pages = container.NewStack(w.body, w.empty.object(), w.about.object())
	w.rail = newRail(w.show)
	w.win.SetContent(container.NewBorder(w.bands, nil, w.rail.object(), nil, container.NewPadded(w.pages)))
	w.win.Resize(fyne.NewSize(1100, 720))
	w.win.SetMaster()
	if u.cfg.Tray {
		w.win.SetCloseIntercept(w.win.Hide)
	} else {
		w.win.SetCloseIntercept(func() { u.cfg.Quit() })
	}
	w.win.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault}, func(fyne.Shortcut) {
		w.win.Canvas().Focus(w.list.filter)
	})
	w.show(pageServers)
	u.background(w.tick)
	return w
}

// update draws a snapshot.
func (w *mainWindow) update(s *hub.Snapshot) {
	w.config.set(s.Config.Problem, "The spec file as it stands is not in force; the last good one runs on.")
	if s.Keyring.Waiting {
		w.keys.set("Your keyring asks to be unlocked", "Servers that need a secret start when it is")
	} else {
		w.keys.set(s.Keyring.Problem, s.Keyring.Hint)
	}
	w.list.update(s.Servers)
	w.about.update(s)
	w.empty.update(s)
	if w.first && len(s.Servers) > 0 {
		w.first = false
		w.list.choose(s.Servers[0].Name)
	}
	w.detail.update(find(s, w.list.chosen))
	w.show(w.rail.page)
	ticking := false
	for _, v := range s.Servers {
		ticking = ticking || lookOf(v, w.u.cfg.Now()).ticks
	}
	w.ticking.Store(ticking)
}

func find(s *hub.Snapshot, name string) *hub.Server {
	for _, v := range s.Servers {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// pick shows another server.
func (w *mainWindow) pick(name string) { w.detail.update(find(w.u.snap, name)) }

// tick redraws once a second what counts seconds, while something does.
func (w *mainWindow) tick(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if w.ticking.Load() {
				w.u.cfg.Do(func() {
					w.list.list.Refresh()
					w.detail.refreshState()
				})
			}
		case <-ctx.Done():
			return
		}
	}
}

// show switches pages; the servers' page is the empty state while there are none.
func (w *mainWindow) show(p page) {
	w.rail.set(p)
	visible := map[fyne.CanvasObject]bool{}
	switch {
	case p == pageAbout:
		visible[w.about.object()] = true
	case len(w.u.snap.Servers) == 0:
		visible[w.empty.object()] = true
	default:
		visible[w.body] = true
	}
	for _, o := range w.pages.Objects {
		if visible[o] {
			o.Show()
		} else {
			o.Hide()
		}
	}
}

// press carries out the one suggested action of a row.
func (w *mainWindow) press(s *hub.Server) {
	if s == nil {
		return
	}
	switch s.Action.Kind {
	case hub.ShowLog:
		w.list.choose(s.Name)
		w.detail.showLog()
	case hub.EditSpec:
		w.explainFile(s)
	case hub.SetSecret:
		w.explainSecret(s)
	case hub.AllowParallel:
		w.offerParallel(s.Name)
	default:
		w.do(s.Name, s.Action.Kind)
	}
}

// offerParallel says what parallel calls are and lets the person choose; the answer
// is kept in the spec file.
func (w *mainWindow) offerParallel(server string) {
	var d *dialog.CustomDialog
	choice := func(label string, action hub.ActionKind) *widget.Button {
		return widget.NewButton(label, func() {
			d.Hide()
			if action != hub.NoAction {
				w.do(server, action)
			}
		})
	}
	text := wrapped("Calls to this server wait for each other: it speaks a revision with sessions, and some such servers fail when two calls share one. " +
		"If it can take several calls at a time, allow that and they no longer wait.\n\n" +
		"The answer is kept in the spec file as “concurrency”. The server reconnects, which ends calls that run now.")
	d = dialog.NewCustomWithoutButtons("Parallel calls to “"+display.Line(server, 60)+"”", text, w.win)
	allow := choice("Allow parallel calls", hub.AllowParallel)
	allow.Importance = widget.HighImportance
	d.SetButtons([]fyne.CanvasObject{choice("Decide later", hub.NoAction), choice("Keep one at a time", hub.KeepSerial), allow})
	d.Resize(fyne.NewSize(560, 260))
	d.Show()
}

// do asks the hub, off the UI goroutine.
func (w *mainWindow) do(server string, action hub.ActionKind) {
	w.u.attempt("That did not work", func() error { return w.u.cfg.Hub.Do(w.u.ctx, server, action) })
}

// explainFile says where the spec file is, with the path ready to be copied.
func (w *mainWindow) explainFile(s *hub.Server) {
	path := w.u.snap.Config.Path
	text := display.Line(s.Sentence, 300)
	if text == "" {
		text = "The server is described in the spec file."
	}
	w.copyDialog("The entry of “"+display.Line(s.Name, 60)+"”", text+"\n\nOpen this file in an editor; Drawbridge notices when it is saved.", path)
}

// explainSecret says how to store the missing secret.
func (w *mainWindow) explainSecret(s *hub.Server) {
	w.copyDialog("Store the secret “"+display.Line(s.Action.Arg, 60)+"”",
		display.Line(s.Sentence, 300)+"\n\nRun this in a terminal; it asks for the value without showing it. The server starts by itself then.",
		"drawbridge secret set "+s.Action.Arg)
}

// copyDialog shows a text and one line that can be copied.
func (w *mainWindow) copyDialog(title, text, line string) {
	l := widget.NewLabel(text)
	l.Wrapping = fyne.TextWrapWord
	e := widget.NewEntry()
	e.SetText(line)
	e.TextStyle = fyne.TextStyle{Monospace: true}
	cp := widget.NewButtonWithIcon("Copy", theme.ContentCopyIcon(), func() { w.u.cfg.App.Clipboard().SetContent(line) })
	body := container.NewVBox(l, container.NewBorder(nil, nil, nil, cp, e))
	d := dialog.NewCustom(title, "Close", body, w.win)
	d.Resize(fyne.NewSize(560, 220))
	d.Show()
}

// attempt runs something of the hub's off the UI goroutine and shows its error.
func (u *UI) attempt(failure string, work func() error) {
	u.background(func(ctx context.Context) {
		err := work()
		if err == nil || ctx.Err() != nil {
			return
		}
		u.cfg.Do(func() {
			dialog.ShowError(fmt.Errorf("%s: %s", failure, display.Line(err.Error(), 300)), u.main.win)
		})
	})
}

// band is a line of warning above everything.
type band struct {
	box    *fyne.Container
	text   *widget.Label
	button *widget.Button
}

func newBand(label string, tapped func()) *band {
	b := &band{text: widget.NewLabel("")}
	b.text.Truncation = fyne.TextTruncateEllipsis
	b.text.Importance = widget.WarningImportance
	icon := widget.NewIcon(theme.NewWarningThemedResource(theme.WarningIcon()))
	var right fyne.CanvasObject
	if tapped != nil {
		b.button = widget.NewButton(label, tapped)
		right = b.button
	}
	b.box = container.NewVBox(container.NewBorder(nil, nil, container.NewHBox(layout.NewSpacer(), icon), right, b.text), widget.NewSeparator())
	b.box.Hide()
	return b
}

func (b *band) object() fyne.CanvasObject { return b.box }

// set shows a problem and what follows from it; an empty problem hides the band.
func (b *band) set(problem, more string) {
	if problem == "" {
		b.box.Hide()
		return
	}
	text := sentenceOf(problem)
	if more != "" {
		text += " " + sentenceOf(more)
	}
	b.text.SetText(display.Line(text, 400))
	b.box.Show()
}

// sentenceOf gives a clause a capital and a full stop.
func sentenceOf(s string) string {
	b := []byte(s)
	if len(b) == 0 {
		return s
	}
	if b[0] >= 'a' && b[0] <= 'z' {
		b[0] -= 'a' - 'A'
	}
	if last := b[len(b)-1]; last != '.' && last != '!' && last != '?' {
		b = append(b, '.')
	}
	return string(b)
}
