// Command run runs the official conformance suite against Drawbridge, for every
// revision that it has requirements of, and ends with one line a revision. It
// fails where the outcome differs from the expected failures.
//
//	run [-packages DIR] [-expected FILE] [-out DIR] client COMMAND
//	run [-packages DIR] [-expected FILE] [-out DIR] server [URL]
//
// Without a URL the server is our demo, served by this process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/drawbridge-mcp/drawbridge/core/internal/conformance"
)

func main() {
	here := filepath.Join("core", "internal")
	packages := flag.String("packages", filepath.Join(here, "peers", "npm", "node_modules"), "the npm packages with the suite")
	expected := flag.String("expected", filepath.Join(here, "conformance", "expected-failures.yml"), "the scenarios that may fail")
	out := flag.String("out", filepath.Join("build", "conformance"), "where the results are left")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, conformance.In(*packages, *out), *expected, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// subject is what is put to the test.
type subject func(ctx context.Context, revision string) (*conformance.Report, error)

func run(ctx context.Context, suite conformance.Suite, file string, args []string) error {
	var test subject
	switch {
	case len(args) == 2 && args[0] == "client":
		test = func(ctx context.Context, revision string) (*conformance.Report, error) {
			return suite.Client(ctx, args[1], revision)
		}
	case len(args) == 2 && args[0] == "server":
		test = server(suite, args[1])
	case len(args) == 1 && args[0] == "server":
		url, stop, err := conformance.Demo(ctx)
		if err != nil {
			return err
		}
		defer stop()
		test = server(suite, url)
	default:
		return errors.New("usage: run [flags] client COMMAND | server [URL]")
	}
	expected, err := conformance.Expected(file, args[0])
	if err != nil {
		return err
	}
	return compare(ctx, test, expected)
}

func server(suite conformance.Suite, url string) subject {
	return func(ctx context.Context, revision string) (*conformance.Report, error) {
		return suite.Server(ctx, "server", url, revision)
	}
}

// compare prints what is not as expected, and last a line for each revision.
func compare(ctx context.Context, test subject, expected []string) error {
	var lines []string
	faults := 0
	for _, revision := range conformance.Revisions {
		report, err := test(ctx, revision)
		if err != nil {
			return err
		}
		for _, f := range report.Faults(expected) {
			faults++
			fmt.Printf("%s: %s\n", revision, f)
		}
		lines = append(lines, report.Line())
	}
	for _, l := range lines {
		fmt.Println(l)
	}
	if faults > 0 {
		return fmt.Errorf("%d scenarios are not as expected", faults)
	}
	return nil
}
