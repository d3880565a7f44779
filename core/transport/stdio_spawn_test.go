package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

// spawnFails connects and returns the error.
func spawnFails(t *testing.T, cfg transport.StdioConfig) *transport.Error {
	t.Helper()
	conn, err := transport.NewStdio(cfg).Connect(t.Context(), new(transporttest.Recorder))
	if err == nil {
		conn.Close()
		t.Fatal("connect succeeded")
	}
	var e *transport.Error
	if !errors.As(err, &e) {
		t.Fatalf("connect gave %#v", err)
	}
	return e
}

// Case 1, acceptance 101: what is wrong is said with command and PATH.
func TestStdioSpawnFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "plain"), "no program")
	if err := os.Chmod(filepath.Join(dir, "plain"), 0o600); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "script"), "#!/no/such/interpreter\n")
	writeFile(t, filepath.Join(dir, "binary"), "\x00\x01\x02\x03")
	path := "PATH=" + dir + string(os.PathListSeparator) + "relative"
	for name, c := range map[string]struct {
		cfg    transport.StdioConfig
		reason string
		words  string
	}{
		"not on PATH":         {transport.StdioConfig{Command: "npx", Env: []string{path}}, "not_found", "command not found: npx|searched PATH: " + path[5:]},
		"sh is not on PATH":   {transport.StdioConfig{Command: "sh", Env: []string{path}}, "not_found", "command not found: sh|searched PATH: " + path[5:]},
		"no PATH":             {transport.StdioConfig{Command: "sh", Env: []string{"PATH="}}, "not_found", "command not found: sh|searched PATH: "},
		"no file":             {transport.StdioConfig{Command: dir + "/none"}, "not_found", "no such file: " + dir + "/none"},
		"no command":          {transport.StdioConfig{}, "not_found", "the command is empty"},
		"not executable":      {transport.StdioConfig{Command: dir + "/plain"}, "permission", "not an executable file: " + dir + "/plain"},
		"PATH not executable": {transport.StdioConfig{Command: "plain", Env: []string{path}}, "permission", "not an executable file: " + dir + "/plain|searched PATH: " + path[5:]},
		"a directory":         {transport.StdioConfig{Command: dir}, "permission", "not an executable file: " + dir},
		"no interpreter":      {transport.StdioConfig{Command: dir + "/script"}, "not_found", "the program that runs this script was not found: " + dir + "/script"},
		"no program":          {transport.StdioConfig{Command: dir + "/binary"}, "other", "could not start: " + dir + "/binary: exec format error"},
		"no such directory":   {transport.StdioConfig{Command: "sh", Dir: dir + "/none"}, "directory", "not a directory: " + dir + "/none"},
		"file as directory":   {transport.StdioConfig{Command: "sh", Dir: dir + "/plain"}, "directory", "not a directory: " + dir + "/plain"},
	} {
		e := spawnFails(t, c.cfg)
		if e.Code != transport.Spawn || e.Reason != c.reason || strings.Join(e.Words, "|") != c.words {
			t.Errorf("%s: got %v %q, want %s %q", name, e, e.Words, c.reason, c.words)
		}
		if want := "spawn (" + c.reason + ")"; e.Error() != want {
			t.Errorf("%s: the error reads %q", name, e.Error())
		}
	}
}

// Case 1: the PATH of the spec finds the command, and the child's own look-ups.
func TestStdioLooksUpOnTheChildsPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "npx"), "#!/usr/bin/env fakenode\n")
	writeFile(t, filepath.Join(dir, "fakenode"), "#!/bin/sh\necho '{\"jsonrpc\":\"2.0\",\"method\":\"node\"}'\nread x\n")
	var r transporttest.Recorder
	openStdio(t, transport.StdioConfig{Command: "npx", Env: []string{"PATH=" + dir + ":/usr/bin:/bin"}}, &r)
	r.Noted(t, "node")
}

// A command with a separator is taken relative to the working directory of the spec.
func TestStdioRelativeCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "bin", "server"), "#!/bin/sh\necho \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"method\\\":\\\"$PWD\\\"}\"\nread x\n")
	var r transporttest.Recorder
	openStdio(t, transport.StdioConfig{Command: "bin/server", Dir: dir}, &r)
	r.Noted(t, dir)
}

// T3: blocked means that nothing was started, whatever the gate said.
func TestStdioGateComesBeforeTheSpawn(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "journal")
	command, args := fakeserver.Command(t, fakeserver.Script{Journal: journal})
	table := breaker.NewTable(1, time.Hour)
	e := spawnFails(t, transport.StdioConfig{
		Command: command, Args: args, Breakers: table, BreakerKey: "k",
		Gate: func() error { return errors.New("no") },
	})
	if e.Code != transport.Blocked || e.Reason != "source" {
		t.Errorf("connect gave %v", e)
	}
	if entries, err := fakeserver.ReadJournal(journal); err != nil || len(entries) != 0 {
		t.Errorf("the server noted %v, %v", entries, err)
	}
	if s := table.State("k"); s.Failures != 0 {
		t.Errorf("the breaker counted %d failures", s.Failures)
	}
}

// dumped is what a child sees.
type dumped struct {
	Env []string
	Dir string
}

func dump(t *testing.T, cfg transport.StdioConfig) dumped {
	t.Helper()
	var r transporttest.Recorder
	play(t, cfg, &r, "env")
	var d dumped
	if err := json.Unmarshal(r.Noted(t, "env").Msg.Params, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Acceptance 88 and 89, case 11.
func TestStdioEnvironment(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("HTTPS_PROXY", "http://proxy.example:3128")
	t.Setenv("NODE_EXTRA_CA_CERTS", "/etc/ca.pem")
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/1")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1/bus")
	for _, secret := range []string{"DRAWBRIDGE_GATEWAY_TOKEN", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "DATABASE_URL"} {
		t.Setenv(secret, "canary")
	}
	dir := t.TempDir()
	got := dump(t, transport.StdioConfig{Env: []string{"A=1", "A=2", "LC_ALL=de_DE.UTF-8", "EMPTY="}, Dir: dir})
	for _, want := range []string{
		"HOME=" + home, "HTTPS_PROXY=http://proxy.example:3128", "NODE_EXTRA_CA_CERTS=/etc/ca.pem", "XDG_RUNTIME_DIR=/run/user/1",
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1/bus", "A=2", "LC_ALL=de_DE.UTF-8", "EMPTY=", "PWD=" + dir, "PATH=" + os.Getenv("PATH"),
	} {
		if !slices.Contains(got.Env, want) {
			t.Errorf("the child does not see %s", want)
		}
	}
	if slices.Contains(got.Env, "A=1") || slices.Contains(got.Env, "LC_ALL=C.UTF-8") {
		t.Error("the child sees what was replaced")
	}
	if strings.Contains(strings.Join(got.Env, "\n"), "canary") {
		t.Errorf("the child sees a secret of ours: %q", got.Env)
	}
	if got.Dir != dir && runtime.GOOS == "linux" {
		t.Errorf("the child runs in %s", got.Dir)
	}

	got = dump(t, transport.StdioConfig{Env: []string{"AWS_SECRET_ACCESS_KEY=mine"}})
	if !slices.Contains(got.Env, "AWS_SECRET_ACCESS_KEY=mine") {
		t.Error("the child does not see what its spec names")
	}
}

// C8: failures to start and unexpected ends open the breaker; nothing is started
// while it is open.
func TestStdioBreaker(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "journal")
	command, args := fakeserver.Command(t, fakeserver.Script{Journal: journal, Exit: &fakeserver.Exit{Code: 1}})
	table := breaker.NewTable(3, time.Hour)
	cfg := transport.StdioConfig{Command: command, Args: args, Env: []string{quickExit}, Breakers: table, BreakerKey: "k"}
	if got := transport.Origin(transport.NewStdio(cfg)); got != "k" {
		t.Errorf("origin %q", got)
	}
	missing := cfg
	missing.Command = "/no/such/file"
	spawnFails(t, missing)
	for range 2 {
		var r transporttest.Recorder
		openStdio(t, cfg, &r)
		closedError(t, &r)
	}
	if e := spawnFails(t, cfg); e.Code != transport.BreakerOpen {
		t.Errorf("connect gave %v", e)
	}
	entries, err := fakeserver.ReadJournal(journal)
	if err != nil {
		t.Fatal(err)
	}
	starts := 0
	for _, e := range entries {
		if e.Event == fakeserver.Started {
			starts++
		}
	}
	if starts != 2 {
		t.Errorf("%d processes were started", starts)
	}
}

// C8: the first valid message is the success.
func TestStdioBreakerCountsTheFirstMessage(t *testing.T) {
	t.Parallel()
	table := breaker.NewTable(5, time.Hour)
	failures := func() int { return table.State("k").Failures }
	cfg := transport.StdioConfig{Breakers: table, BreakerKey: "k"}
	missing := cfg
	missing.Command = "/no/such/file"
	spawnFails(t, missing)

	var r transporttest.Recorder
	conn := fake(t, fakeserver.Script{Preamble: []byte("junk\n"), Replies: map[string]fakeserver.Reply{
		"ok": {Exit: &fakeserver.Exit{}}, "bad": {Exit: &fakeserver.Exit{Code: 1}},
	}}, cfg, &r)
	if failures() != 1 {
		t.Errorf("a start alone counted: %d failures", failures())
	}
	handshake(t, conn, &r)
	if failures() != 0 {
		t.Errorf("%d failures after a message", failures())
	}
	request(t, conn, 5, "ok", `{}`)
	closedError(t, &r)
	if failures() != 0 {
		t.Errorf("%d failures after an orderly exit", failures())
	}

	var r2 transporttest.Recorder
	conn = fake(t, fakeserver.Script{Replies: map[string]fakeserver.Reply{"bad": {Exit: &fakeserver.Exit{Code: 1}}}}, cfg, &r2)
	handshake(t, conn, &r2)
	request(t, conn, 5, "bad", `{}`)
	closedError(t, &r2)
	if failures() != 1 {
		t.Errorf("%d failures after a crash", failures())
	}

	var r3 transporttest.Recorder
	conn = fake(t, fakeserver.Script{}, cfg, &r3)
	conn.Close()
	if failures() != 1 {
		t.Errorf("%d failures after a Close of ours", failures())
	}
}

// The context bounds Connect: a deadline in the past is a timeout, and nothing is
// started.
func TestStdioConnectDeadline(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "journal")
	command, args := fakeserver.Command(t, fakeserver.Script{Journal: journal})
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := transport.NewStdio(transport.StdioConfig{Command: command, Args: args}).Connect(ctx, new(transporttest.Recorder))
	if !errors.Is(err, &transport.Error{Code: transport.Timeout, Reason: "connect"}) {
		t.Errorf("connect gave %v", err)
	}
	if entries, err := fakeserver.ReadJournal(journal); err != nil || len(entries) != 0 {
		t.Errorf("the server noted %v, %v", entries, err)
	}
}
