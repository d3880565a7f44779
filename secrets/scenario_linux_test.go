package secrets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/godbus/dbus/v5"
	"go.uber.org/goleak"
)

func init() {
	scenarios = func() (int, bool) {
		name, ok := os.LookupEnv(scenarioVariable)
		if !ok {
			return 0, false
		}
		return runScenario(name), true
	}
}

// runScenario runs in a process of its own, under a private D-Bus session or
// none. It returns the exit code.
func runScenario(name string) int {
	scenario, ok := map[string]func(context.Context, string) error{
		"values come back byte for byte":          roundTrip,
		"fifty at once":                           fiftyAtOnce,
		"the daemon restarts locked":              restartLocked,
		"no default keyring":                      noDefault,
		"no bus, and dbus-launch could start one": noBusAtAll,
		"the bus address is of no bus":            badAddresses,
		"a bus without a secret service":          noSecretService,
		"one prompt for fifty readers":            onePrompt,
		"the prompt is dismissed":                 dismissedPrompt,
		"the prompt is withdrawn":                 withdrawnPrompt,
		"the service ends during the prompt":      serviceEnds,
		"an item asks inside the call":            itemAsks,
	}[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no scenario %q\n", name)
		return 2
	}
	dir, err := os.MkdirTemp("", "config")
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		err = scenario(ctx, dir)
	}
	if os.Getenv(busVariable) != "" {
		// go-keyring never closes the bus that it shares with everyone.
		if conn, err := dbus.SessionBusPrivateNoAutoStartup(); err == nil {
			_ = conn.Close()
			if shared, err := dbus.SessionBus(); err == nil {
				_ = shared.Close()
			}
		}
	}
	if err = errors.Join(err, goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// startKeyring starts and unlocks gnome-keyring, as logging in does.
func startKeyring(ctx context.Context, more ...string) error {
	args := append([]string{"--unlock", "--components=secrets"}, more...)
	cmd := exec.CommandContext(ctx, "gnome-keyring-daemon", args...)
	cmd.Stdin = strings.NewReader("testpass")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("start gnome-keyring: %w", err)
	}
	return nil
}

// servicePID returns the process that owns the Secret Service's name.
func servicePID(ctx context.Context) (pid uint32, err error) {
	conn, err := dialBus(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	err = conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetConnectionUnixProcessID", 0, secretService).Store(&pid)
	return pid, err
}

func roundTrip(ctx context.Context, dir string) error {
	if err := startKeyring(ctx); err != nil {
		return err
	}
	values := map[string]string{
		"ONE_BYTE":  "x",
		"SPACES":    " \t leading and trailing \n",
		"LINES":     "-----BEGIN KEY-----\nÜnïcode ✓ 日本語\r\n-----END KEY-----\n",
		"BYTES":     "\x00\xff\xfe\x80 not UTF-8 \x00",
		"N2561":     token(2561),
		"N3100":     token(3100),
		"TOKEN_20K": token(20 << 10),
		"LONGEST":   token(MaxValue),
	}
	k := OpenKeyring(dir, nil)
	defer k.Close()
	if err := k.Check(ctx); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if _, err := k.Get(ctx, "BYTES"); !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("get before set: %v", err)
	}
	for name, value := range values {
		for _, v := range []string{"an earlier value of " + name, value} {
			if err := k.Set(ctx, name, v); err != nil {
				return err
			}
		}
	}
	// As after a restart.
	again := OpenKeyring(dir, nil)
	defer again.Close()
	for name, value := range values {
		if got, err := again.Get(ctx, name); err != nil || got != value {
			return fmt.Errorf("get %s: %d of %d bytes, %v", name, len(got), len(value), err)
		}
	}
	names, err := again.List(ctx)
	if err != nil || len(names) != len(values) {
		return fmt.Errorf("list: %v, %v", names, err)
	}
	idx, err := k.index.load()
	if err != nil {
		return err
	}
	for name, e := range idx.Secrets {
		if err := again.Delete(ctx, name); err != nil {
			return err
		}
		for _, account := range e.accounts() {
			if _, err := (osVault{}).get(account); !errors.Is(err, errNoItem) {
				return fmt.Errorf("an item of %s after delete: %v", name, err)
			}
		}
	}
	if names, err := k.List(ctx); err != nil || len(names) != 0 {
		return fmt.Errorf("list after delete: %v, %v", names, err)
	}
	return nil
}

func fiftyAtOnce(ctx context.Context, dir string) error {
	if err := startKeyring(ctx); err != nil {
		return err
	}
	k := OpenKeyring(dir, nil)
	defer k.Close()
	errs := make([]error, 50)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			name, value := fmt.Sprintf("N%d", i), fmt.Sprintf("value %d", i)
			if errs[i] = k.Set(ctx, name, value); errs[i] != nil {
				return
			}
			if got, err := k.Get(ctx, name); err != nil || got != value {
				errs[i] = fmt.Errorf("get %s = %q, %w", name, got, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func restartLocked(ctx context.Context, dir string) error {
	if err := startKeyring(ctx); err != nil {
		return err
	}
	k := OpenKeyring(dir, nil)
	defer k.Close()
	if err := k.Set(ctx, "TOKEN", "t0ken"); err != nil {
		return err
	}
	pid, err := servicePID(ctx)
	if err != nil {
		return err
	}
	if err := syscall.Kill(int(pid), syscall.SIGKILL); err != nil {
		return err
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if now, err := servicePID(ctx); err != nil || now != pid {
			break
		}
		if time.Now().After(deadline) {
			return errors.New("gnome-keyring did not end")
		}
	}
	// The bus starts a new one, which is locked, and nobody can be asked.
	if err := k.Check(ctx); !errors.Is(err, ErrLocked) {
		return fmt.Errorf("check: %v", err)
	}
	for what, err := range map[string]error{
		"get":    second(k.Get(ctx, "TOKEN")),
		"set":    k.Set(ctx, "TOKEN", "new"),
		"delete": k.Delete(ctx, "TOKEN"),
		"unlock": k.Unlock(ctx),
	} {
		if e, ok := errors.AsType[*Error](err); !errors.Is(err, ErrLocked) || !ok || !strings.Contains(e.Reason, "no desktop session") || !strings.Contains(e.Action, "--unlock") {
			return fmt.Errorf("%s: %v", what, err)
		}
	}
	if names, err := k.List(ctx); err != nil || !slices.Equal(names, []string{"TOKEN"}) {
		return fmt.Errorf("list: %v, %v", names, err)
	}
	// What the error proposes helps, at once.
	if err := startKeyring(ctx, "--replace"); err != nil {
		return err
	}
	if got, err := k.Get(ctx, "TOKEN"); err != nil || got != "t0ken" {
		return fmt.Errorf("get after unlock: %q, %v", got, err)
	}
	return nil
}

// unavailable checks that every operation says, with reason, that there is no
// keyring, and says it soon.
func unavailable(ctx context.Context, dir, reason string) error {
	k := OpenKeyring(dir, nil)
	defer k.Close()
	start := time.Now()
	// As if it had been stored when there was a keyring.
	if err := k.index.save(index{Version: indexVersion, Secrets: map[string]entry{"TOKEN": newEntry().next(1)}}); err != nil {
		return err
	}
	for what, err := range map[string]error{
		"check":  k.Check(ctx),
		"get":    second(k.Get(ctx, "TOKEN")),
		"set":    k.Set(ctx, "TOKEN", "new"),
		"delete": k.Delete(ctx, "TOKEN"),
		"unlock": k.Unlock(ctx),
	} {
		e, ok := errors.AsType[*Error](err)
		if !errors.Is(err, ErrUnavailable) || !ok || !strings.Contains(e.Reason, reason) || e.Action == "" {
			return fmt.Errorf("%s: %v; want %q", what, err, reason)
		}
	}
	if names, err := k.List(ctx); err != nil || !slices.Equal(names, []string{"TOKEN"}) {
		return fmt.Errorf("list: %v, %v", names, err)
	}
	if took := time.Since(start); took > 30*time.Second {
		return fmt.Errorf("took %v", took)
	}
	return nil
}

func noDefault(ctx context.Context, dir string) error {
	return unavailable(ctx, dir, "no default keyring")
}

func noSecretService(ctx context.Context, dir string) error {
	return unavailable(ctx, dir, "no Secret Service")
}

func noBusAtAll(ctx context.Context, dir string) error {
	for _, address := range []string{"", "autolaunch:", "autolaunch:scope=*user"} {
		if err := os.Setenv(busVariable, address); err != nil {
			return err
		}
		if err := unavailable(ctx, dir, "no D-Bus session"); err != nil {
			return fmt.Errorf("%q: %w", address, err)
		}
		if now := os.Getenv(busVariable); now != address {
			return fmt.Errorf("%s became %q", busVariable, now)
		}
	}
	if len(marked(os.Getenv(markVariable))) != 1 {
		return fmt.Errorf("processes were started: %v", marked(os.Getenv(markVariable)))
	}
	return nil
}

func badAddresses(ctx context.Context, dir string) error {
	for _, address := range []string{"disabled:", "unix:path=/nonexistent/bus", "nonsense"} {
		if err := os.Setenv(busVariable, address); err != nil {
			return err
		}
		if err := unavailable(ctx, dir, "no D-Bus session"); err != nil {
			return fmt.Errorf("%q: %w", address, err)
		}
	}
	return nil
}
