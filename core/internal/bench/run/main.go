// Command run compares Drawbridge's client with the Go SDK's. Each row ends with
// how many times as much ours takes:
//
//	bench NAME: RATIO (ours/theirs)
//
// Usage:
//
//	run [-rounds N] [-sessions N] [-only REGEXP] -ours FILE -theirs FILE -server FILE
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"

	"github.com/drawbridge-mcp/drawbridge/core/internal/bench"
)

func main() {
	var (
		programs bench.Programs
		size     bench.Size
	)
	flag.StringVar(&programs.Ours, "ours", "", "the program that measures our client")
	flag.StringVar(&programs.Theirs, "theirs", "", "the program that measures theirs")
	flag.StringVar(&programs.Server, "server", "", "the server of both")
	flag.IntVar(&size.Rounds, "rounds", 5, "how often each measurement is repeated")
	flag.IntVar(&size.Sessions, "sessions", 1000, "how many sessions are idle")
	only := flag.String("only", "", "compare only what has a name like `REGEXP`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, programs, bench.Plan(size), *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, programs bench.Programs, plan []bench.Case, only string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	fmt.Printf("%s/%s, %d processors, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	for _, c := range plan {
		if !wanted.MatchString(c.Name) {
			continue
		}
		rows, err := programs.Compare(ctx, c)
		if err != nil {
			return err
		}
		for _, r := range rows {
			fmt.Println(r)
		}
	}
	return nil
}
