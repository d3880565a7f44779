// Command run runs the official conformance suite against Drawbridge, for every
// revision that it has requirements of, and ends with one line a revision. It
// fails where the outcome differs from the expected failures.
//
//	run [-packages DIR] [-expected FILE] [-out DIR] client COMMAND
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

func run(ctx context.Context, suite conformance.Suite, file string, args []string) error {
	if len(args) != 2 || args[0] != "client" {
		return errors.New("usage: run [flags] client COMMAND")
	}
	expected, err := conformance.Expected(file, args[0])
	if err != nil {
		return err
	}
	var lines []string
	faults := 0
	for _, revision := range conformance.Revisions {
		report, err := suite.Client(ctx, args[1], revision)
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
