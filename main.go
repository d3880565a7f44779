// Command drawbridge is the place where people run their MCP servers: a window
// over them, or the same core without one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/driver/desktop"
	"github.com/godbus/dbus/v5"

	"github.com/drawbridge-mcp/drawbridge/assets"
	"github.com/drawbridge-mcp/drawbridge/core/control"
	"github.com/drawbridge-mcp/drawbridge/core/demo"
	"github.com/drawbridge-mcp/drawbridge/core/gateway"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
	"github.com/drawbridge-mcp/drawbridge/core/spec"
	"github.com/drawbridge-mcp/drawbridge/secrets"
	"github.com/drawbridge-mcp/drawbridge/ui"
)

// version is the release; FyneApp.toml says the same.
const version = "0.1.0"

// Exit codes: 0 is success.
const (
	exitFailed = 1
	exitUsage  = 2
)

const usage = `Drawbridge runs your MCP servers.

  drawbridge                        open the window
  drawbridge serve                  run the same without a window
  drawbridge status [--json]        what the running instance is doing
  drawbridge demo [--stdio|--http ADDR]
                                    be an MCP server with one of everything
  drawbridge client add|list|rm     AI clients that may connect
  drawbridge stdio [--client NAME] [--server NAME]
                                    be the servers, for an AI client that starts us
  drawbridge secret set|list|rm     keep credentials in the keyring
  drawbridge version

Before the command: --config FILE uses another servers.json, --gateway HOST:PORT
another address for AI clients (default 127.0.0.1:8484; off for none).
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main with its surroundings as arguments.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("drawbridge", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	config := flags.String("config", "", "the servers.json to use")
	gatewayAddr := flags.String("gateway", defaultGateway, "where AI clients connect")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return exitUsage
	}
	verb, rest := flags.Arg(0), flags.Args()
	if len(rest) > 0 {
		rest = rest[1:]
	}
	switch verb {
	case "demo":
		return demo.Command(ctx, rest, stdin, stdout, stderr)
	case "version":
		fmt.Fprintln(stdout, "drawbridge", version)
		return 0
	case "help":
		fmt.Fprint(stdout, usage)
		return 0
	case "", "serve", "status", "secret", "client", "stdio":
	default:
		fmt.Fprintf(stderr, "drawbridge: there is no command %q\n\n%s", verb, usage)
		return exitUsage
	}
	p, err := findPlaces(*config)
	if err != nil {
		return fail(stderr, err)
	}
	p.gateway = *gatewayAddr
	switch verb {
	case "client":
		return clientCommand(ctx, p, rest, stdout, stderr)
	case "stdio":
		return stdio(ctx, p, rest, stdin, stdout, stderr)
	case "status":
		return status(ctx, p, rest, stdout, stderr)
	case "secret":
		store := secrets.OpenKeyring(p.config, func(open bool) {
			if open {
				fmt.Fprintln(stderr, "Waiting for your keyring to be unlocked …")
			}
		})
		defer store.Close()
		code := secrets.Command(ctx, store, rest, stdin, stdout, stderr)
		_ = control.SecretsChanged(ctx, p.runtime) // nobody runs: nobody waits
		return code
	}
	if len(rest) > 0 {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	return instance(ctx, p, verb == "", stderr)
}

func fail(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, "drawbridge:", err)
	return exitFailed
}

// places are the folders and files of this person.
type places struct {
	specPath string
	config   string // folder of servers.json and the index of secrets
	eras     string
	runtime  string // folder of the control socket
	clients  string
	grants   string
	gateway  string // host:port, or "off"
}

func findPlaces(config string) (places, error) {
	p := places{specPath: config}
	var err error
	if p.specPath == "" {
		if p.specPath, err = spec.DefaultPath(); err != nil {
			return p, err
		}
	}
	if p.specPath, err = filepath.Abs(p.specPath); err != nil {
		return p, err
	}
	home, err := os.UserConfigDir()
	if err != nil {
		return p, fmt.Errorf("find the configuration folder: %w", err)
	}
	p.config = filepath.Join(home, "drawbridge")
	p.clients = filepath.Join(p.config, "clients.json")
	p.grants = filepath.Join(p.config, "grants.json")
	cache, err := os.UserCacheDir()
	if err != nil {
		return p, fmt.Errorf("find the cache folder: %w", err)
	}
	p.eras = filepath.Join(cache, "drawbridge", "eras.json")
	p.runtime, err = control.Dir()
	return p, err
}

// status prints what the running instance is doing.
func status(ctx context.Context, p places, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("drawbridge status", flag.ContinueOnError)
	flags.SetOutput(stderr)
	asJSON := flags.Bool("json", false, "print JSON")
	if flags.Parse(args) != nil || flags.NArg() > 0 {
		return exitUsage
	}
	var s hub.Snapshot
	switch err := control.Status(ctx, p.runtime, &s); {
	case errors.Is(err, control.ErrNotRunning):
		fmt.Fprintln(stderr, "drawbridge: nothing is running; start it with `drawbridge` or `drawbridge serve`")
		return exitFailed
	case err != nil:
		return fail(stderr, err)
	}
	write := hub.WriteStatus
	if *asJSON {
		write = hub.WriteStatusJSON
	}
	if err := write(stdout, &s); err != nil {
		return fail(stderr, err)
	}
	return 0
}

// instance is the one running instance, with a window or without. A second start
// raises the first one's window.
func instance(ctx context.Context, p places, window bool, stderr io.Writer) int {
	self, err := os.Executable()
	if err != nil {
		return fail(stderr, fmt.Errorf("find our own program: %w", err))
	}
	claim, err := control.Claim(p.runtime)
	if errors.Is(err, control.ErrRunning) {
		return second(ctx, p, window, stderr)
	}
	if err != nil {
		return fail(stderr, err)
	}
	mask := new(secrets.Masker)
	masked := mask.Writer(stderr)
	log := slog.New(mask.Handler(slog.NewTextHandler(masked, &slog.HandlerOptions{Level: logLevel()})))
	var h *hub.Hub
	keyring := secrets.OpenKeyring(p.config, func(open bool) { h.KeyringWaits(open) })
	h = hub.New(hub.Config{
		SpecPath: p.specPath, ErasPath: p.eras, Secrets: mask.Store(keyring), Mask: mask, CheckKeyring: keyring.Check,
		Log: log, Version: version, Executable: self, Gateway: p.gatewayConfig(),
	})

	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := h.Run(ctx); err != nil && ctx.Err() == nil {
			log.Error("the core has stopped", "error", err)
		}
	}()
	leave := sync.OnceFunc(func() {
		cancel()
		<-done
		keyring.Close()
		masked.Close()
		claim.Close()
	})
	defer leave()
	handlers := control.Handlers{Status: func() any { return h.Snapshot().Public() }, SecretsChanged: h.Retry, Stdio: h.Stdio, Client: func(args []string, w io.Writer) error {
		clients, err := h.Clients()
		if err != nil {
			return err
		}
		return gateway.Command(clients, args, h.Snapshot().Gateway.URL, w)
	}}
	if !window {
		log.Info("running without a window", "servers", p.specPath)
		if err := claim.Serve(ctx, handlers); err != nil {
			return fail(stderr, err)
		}
		return 0
	}
	show(ctx, cancel, leave, h, log, func(raise func()) {
		handlers.Show = raise
		go func() {
			if err := claim.Serve(ctx, handlers); err != nil {
				log.Error("the control socket has stopped", "error", err)
			}
		}()
	})
	return 0
}

// second is a start while another instance runs.
func second(ctx context.Context, p places, window bool, stderr io.Writer) int {
	if !window {
		fmt.Fprintln(stderr, "drawbridge: it is running already; see `drawbridge status`")
		return exitFailed
	}
	switch err := control.Show(ctx, p.runtime); {
	case errors.Is(err, control.ErrNoWindow):
		fmt.Fprintln(stderr, "drawbridge: it is running without a window (`drawbridge serve`); stop that one first")
		return exitFailed
	case err != nil:
		return fail(stderr, err)
	}
	return 0
}

func logLevel() slog.Level {
	var l slog.Level
	if l.UnmarshalText([]byte(os.Getenv("DRAWBRIDGE_LOG"))) != nil {
		return slog.LevelInfo
	}
	return l
}

// show opens the window and blocks until the person quits or ctx ends, which
// either way begins with cancel. leave ends all else. running is told how to raise
// the window.
func show(ctx context.Context, cancel, leave func(), h *hub.Hub, log *slog.Logger, running func(raise func())) {
	quietBus()
	a := app.NewWithID("io.github.drawbridge_mcp.drawbridge")
	a.SetIcon(fyne.NewStaticResource("icon.svg", assets.Icon()))
	desk, tray := a.(desktop.App)
	tray = tray && hasTray()
	l := newLoop()
	quit := func() { // on the loop
		if l.end() {
			fyne.Do(a.Quit)
		}
		cancel()
	}
	u := ui.New(ui.Config{
		App: a, Hub: h, Do: l.do, Quit: quit, Tray: tray, Version: version,
		Open: func(u *url.URL) error { return a.OpenURL(u) },
		Save: save,
	})
	if tray {
		desk.SetSystemTrayMenu(u.TrayMenu())
	}
	// The toolkit quits by the same signal that ends ctx.
	stop := context.AfterFunc(ctx, func() { l.end() })
	defer stop()
	a.Lifecycle().SetOnStarted(func() { running(func() { l.do(u.Show) }) })
	u.Show()
	returned := make(chan struct{})
	go l.insist(returned, leave)
	a.Run()
	close(returned)
	u.Close()
}

// save lets the person choose where bytes of a result are kept.
func save(parent fyne.Window, name string, data []byte) {
	d := dialog.NewFileSave(func(w fyne.URIWriteCloser, err error) {
		if err == nil && w != nil {
			_, err = w.Write(data)
			err = errors.Join(err, w.Close())
		}
		if err != nil {
			dialog.ShowError(err, parent)
		}
	}, parent)
	d.SetFileName(name)
	d.Show()
}

// loop is the toolkit's own, on the goroutine of main, as long as it runs. What is
// handed to fyne.Do after its end runs on the caller's goroutine, over windows that
// are gone; and it ends by a signal without asking us.
type loop struct {
	goroutine string
	mu        sync.RWMutex // orders what is queued before the end
	ended     atomic.Bool
	over      chan struct{} // closed by end
}

// newLoop is called on the goroutine that will run the loop.
func newLoop() *loop { return &loop{goroutine: goroutine(), over: make(chan struct{})} }

// do runs f on the loop, later, or drops it when the loop has ended or will.
func (l *loop) do(f func()) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.ended.Load() {
		return
	}
	fyne.Do(func() {
		if !l.ended.Load() && goroutine() == l.goroutine {
			f()
		}
	})
}

// end lets nothing more be done on the loop, and tells whether it was the first to.
func (l *loop) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.ended.CompareAndSwap(false, true)
	if first {
		close(l.over)
	}
	return first
}

// goroutine returns the number of the calling goroutine, which the runtime tells in
// stack traces alone.
func goroutine() string {
	var trace [64]byte
	_, rest, _ := strings.Cut(string(trace[:runtime.Stack(trace[:], false)]), " ")
	number, _, _ := strings.Cut(rest, " ")
	return number
}

// insist ends the program when the loop should end and does not: Fyne 2.7
// now and then loses its own last event, and waits for it for ever.
func (l *loop) insist(returned <-chan struct{}, leave func()) {
	<-l.over
	select {
	case <-returned:
	case <-time.After(time.Second):
		leave()
		os.Exit(0)
	}
}

// hasTray reports whether the desktop shows tray icons: without one, closing the
// window must quit, and the toolkit's own tray would fail when it ends.
func hasTray() bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return true
	}
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return false
	}
	defer conn.Close()
	var owned bool
	err = conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.kde.StatusNotifierWatcher").Store(&owned)
	return err == nil && owned
}

// quietBus keeps the toolkit from starting a message bus of its own, which would
// outlive us, on machines that have none.
func quietBus() {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "bus")); err == nil {
			return
		}
	}
	os.Setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:")
}
