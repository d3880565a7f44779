package ui

import (
	"context"
	"net/url"
	"sync"
	"time"

	"fyne.io/fyne/v2"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// Config is what the window needs. All fields are required unless they say
// otherwise.
type Config struct {
	App fyne.App
	Hub Hub
	// Do runs a function on the UI goroutine, from any goroutine, without
	// waiting: fyne.Do in the app, a queue that the test drains in tests.
	Do func(func())
	// Quit ends the program. It is called on the UI goroutine: when the window is
	// closed and there is no tray, and from the tray's menu.
	Quit func()
	// Open opens a URL in the person's browser.
	Open func(*url.URL) error
	// Save lets the person save bytes as a file, proposing a name; nil offers no
	// saving.
	Save func(parent fyne.Window, name string, data []byte)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Tray says that there is a tray, so that closing the window hides it.
	Tray    bool
	Version string
}

// UI is the window and what belongs to it. Its methods are called on the UI
// goroutine unless they say otherwise.
type UI struct {
	cfg      Config
	ctx      context.Context // ends with Close
	close    context.CancelFunc
	wg       sync.WaitGroup
	main     *mainWindow
	asker    *asker
	approver *approver
	snap     *hub.Snapshot
}

// New builds the windows; none is shown yet. It follows the hub until Close.
func New(cfg Config) *UI {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	ctx, cancel := context.WithCancel(context.Background())
	u := &UI{cfg: cfg, ctx: ctx, close: cancel, snap: &hub.Snapshot{}}
	cfg.App.Settings().SetTheme(newTheme())
	u.main = newMainWindow(u)
	u.asker = newAsker(u)
	u.approver = newApprover(u)
	u.wg.Go(func() {
		cfg.Hub.Watch(ctx, func(s *hub.Snapshot) { cfg.Do(func() { u.update(s) }) })
	})
	return u
}

// update draws a snapshot.
func (u *UI) update(s *hub.Snapshot) {
	if u.ctx.Err() != nil {
		return
	}
	u.snap = s
	u.main.update(s)
	u.asker.update(s.Questions)
	u.approver.update(s.Asks)
}

// Show shows and raises the main window.
func (u *UI) Show() {
	u.main.win.Show()
	u.main.win.RequestFocus()
}

// Close stops following the hub and waits for what runs in the background. It may
// be called from any goroutine that Do does not need.
func (u *UI) Close() {
	u.close()
	u.wg.Wait()
}

// background runs work off the UI goroutine; Close waits for it. ctx ends with
// Close.
func (u *UI) background(work func(ctx context.Context)) {
	u.wg.Go(func() { work(u.ctx) })
}
