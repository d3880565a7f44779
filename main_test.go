package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// home gives the test a person's folders of its own.
func home(t *testing.T) (config string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(dir, "run"))
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:")
	return filepath.Join(dir, "config", "drawbridge", "servers.json")
}

func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestUsage(t *testing.T) {
	home(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"version"}, 0, "drawbridge " + version},
		{[]string{"help"}, 0, "drawbridge serve"},
		{[]string{"-h"}, 0, "drawbridge serve"},
		{[]string{"frobnicate"}, exitUsage, `no command "frobnicate"`},
		{[]string{"--nope"}, exitUsage, "drawbridge serve"},
		{[]string{"serve", "now"}, exitUsage, "drawbridge serve"},
		{[]string{"status"}, exitFailed, "nothing is running"},
		{[]string{"status", "--xml"}, exitUsage, "-json"},
		{[]string{"secret"}, exitUsage, "drawbridge secret set NAME"},
		{[]string{"secret", "list"}, 0, ""},
	} {
		code, out, errs := command(t, c.args...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%q: code %d\n%s%s", c.args, code, out, errs)
		}
	}
}

// K3, top case 20: without a keyring, the app says so and what to do.
func TestSecretsWithoutKeyring(t *testing.T) {
	home(t)
	var errs bytes.Buffer
	code := run(t.Context(), []string{"secret", "set", "TOKEN"}, strings.NewReader("value"), io.Discard, &errs)
	if code != exitFailed || !strings.Contains(errs.String(), "D-Bus") || strings.Contains(errs.String(), "value\n") {
		t.Errorf("code %d: %s", code, errs.String())
	}
}

// `drawbridge serve` runs the core, `drawbridge status` asks it, a second one is
// refused, and it all ends with the context.
func TestServeAndStatus(t *testing.T) {
	path := home(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	spec := `{"mcpServers": {
		"bad": {"command": "no-such-command-here"},
		"secretive": {"url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": "Bearer ${secret:TOKEN}"}}, // waits
	}}`
	if err := os.WriteFile(path, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	var log bytes.Buffer
	go func() { ended <- run(ctx, []string{"serve"}, nil, io.Discard, &log) }()
	var s hub.Snapshot
	deadline := time.Now().Add(time.Minute)
	for settled := false; !settled; {
		code, out, _ := command(t, "status", "--json")
		if code == 0 {
			s = hub.Snapshot{}
			if err := json.Unmarshal([]byte(out), &s); err != nil {
				t.Fatal(err)
			}
			settled = len(s.Servers) == 2 && s.Servers[0].State == hub.Failed && s.Servers[1].State == hub.WaitingSecret
		}
		if time.Now().After(deadline) {
			t.Fatalf("never settled: %s", out)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if s.Keyring.Problem == "" || s.Servers[1].Action.Arg != "TOKEN" {
		t.Errorf("got %+v, %+v", s.Keyring, s.Servers[1])
	}
	_, out, _ := command(t, "status")
	for _, want := range []string{"bad", "Failed", "The command no-such-command-here was not found.", "Waiting for secret TOKEN", "Keyring:"} {
		if !strings.Contains(out, want) {
			t.Errorf("status lacks %q:\n%s", want, out)
		}
	}
	if code, _, errs := command(t, "serve"); code != exitFailed || !strings.Contains(errs, "running already") {
		t.Errorf("a second one: %d %s", code, errs)
	}
	if code, _, errs := command(t); code != exitFailed || !strings.Contains(errs, "without a window") {
		t.Errorf("a window beside it: %d %s", code, errs)
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("serve ended with %d: %s", code, log.String())
	}
	if code, _, _ := command(t, "status"); code != exitFailed {
		t.Error("it still answers")
	}
}
