package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/approval"
	"github.com/drawbridge-mcp/drawbridge/core/control"
	"github.com/drawbridge-mcp/drawbridge/core/gateway"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// defaultGateway is where AI clients connect.
const defaultGateway = "127.0.0.1:8484"

// gatewayConfig is nil when the gateway is off.
func (p places) gatewayConfig() *hub.GatewayConfig {
	if p.gateway == "off" {
		return nil
	}
	return &hub.GatewayConfig{Addr: p.gateway, ClientsPath: p.clients, GrantsPath: p.grants}
}

// clientCommand runs `drawbridge client`, in the running instance where there is one.
func clientCommand(ctx context.Context, p places, args []string, stdout, stderr io.Writer) int {
	err := control.Client(ctx, p.runtime, args, stdout)
	if errors.Is(err, control.ErrNotRunning) {
		var clients *gateway.Clients
		if clients, err = gateway.OpenClients(p.clients); err == nil {
			// A book that cannot be read is the running instance's to tell about; there
			// is nothing in it to forget then.
			book, _ := approval.Open(p.grants)
			clients.OnReset(book.Forget)
			err = gateway.Command(clients, args, "http://"+p.gateway+gateway.Path, stdout)
		}
	}
	if err != nil {
		return fail(stderr, err)
	}
	return 0
}

// startPatience is how long a started instance may take to answer.
const startPatience = 15 * time.Second

// stdio joins an AI client on standard input and output to the running instance. If
// none runs it starts one without a window, which stays.
func stdio(ctx context.Context, p places, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("drawbridge stdio", flag.ContinueOnError)
	flags.SetOutput(stderr)
	name := flags.String("client", "stdio", "the name by which this client is shown")
	one := flags.String("server", "", "offer this server alone, under its own names")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil || flags.NArg() > 0:
		return exitUsage
	}
	err := control.Stdio(ctx, p.runtime, *name, *one, stdin, stdout)
	if errors.Is(err, control.ErrNotRunning) {
		if err = startInstance(ctx, p); err == nil {
			err = control.Stdio(ctx, p.runtime, *name, *one, stdin, stdout)
		}
	}
	if err != nil && ctx.Err() == nil {
		return fail(stderr, err)
	}
	return 0
}

// startInstance starts `drawbridge serve` apart from us and waits until it answers.
func startInstance(ctx context.Context, p places) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find our own program: %w", err)
	}
	cmd := exec.Command(self, "--config", p.specPath, "--gateway", p.gateway, "serve")
	apart(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start an instance: %w", err)
	}
	go func() { _ = cmd.Wait() }() // one that ends at once lost the race against another
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var any struct{}
		if control.Status(ctx, p.runtime, &any) == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the instance that was started does not answer: %w", control.ErrNotRunning)
		}
	}
}
