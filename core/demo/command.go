package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/server"
)

// httpGrace is how long calls may take to end when the server stops.
const httpGrace = 2 * time.Second

// Path is where the HTTP door answers.
const Path = "/mcp"

// Command runs `drawbridge demo [--stdio] [--http HOST:PORT]` until ctx or, over
// stdio, its input ends. It returns the exit code: 0, 1 when it could not serve, 2
// for wrong arguments. Over HTTP it prints the URL to stderr, and serves every
// program on this machine: the demo has nothing to protect.
func Command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("drawbridge demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	stdio := flags.Bool("stdio", false, "serve one client on standard input and output (the default)")
	addr := flags.String("http", "", "serve on this loopback `address` instead, such as 127.0.0.1:8123; port 0 picks one")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if flags.NArg() > 0 || (*stdio && *addr != "") {
		fmt.Fprintln(stderr, "drawbridge demo: give --stdio or --http HOST:PORT, and nothing else")
		return 2
	}
	d := New()
	defer d.Close()
	var err error
	if *addr == "" {
		err = server.ServeStdio(ctx, d.Server(), stdin, stdout)
	} else {
		err = serveHTTP(ctx, d.Server(), *addr, stderr)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(stderr, "drawbridge demo:", err)
		return 1
	}
	return 0
}

func serveHTTP(ctx context.Context, s *server.Server, addr string, stderr io.Writer) error {
	door, err := server.NewHTTP(server.HTTPOptions{
		Endpoint:      func(_, path string) (*server.Server, bool) { return s, path == Path },
		Authorization: server.NoAuthorization,
	})
	if err != nil {
		return err
	}
	lns, err := server.Listen(addr)
	if err != nil {
		return fmt.Errorf("open %s: %w", addr, err)
	}
	host, _, _ := net.SplitHostPort(addr)
	port := lns[0].Addr().(*net.TCPAddr).Port
	fmt.Fprintf(stderr, "http://%s%s\n", net.JoinHostPort(host, fmt.Sprint(port)), Path)
	return door.Serve(ctx, httpGrace, lns...)
}
