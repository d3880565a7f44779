package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// This file is the same in both programs, core/internal/bench/client and
// core/internal/peers/gosdk-bench, which are of two modules and can share no
// package. A test of core/internal/bench compares the two.

// connector opens sessions with the server at target: a URL, or a command with its
// arguments. An open session is ready, has listed its tools, and hears of their
// changes.
type connector interface {
	open(ctx context.Context) (session, error)
}

// session is one open session.
type session interface {
	// call calls the tool echo with text and returns the text of the answer.
	call(ctx context.Context, text string) (string, error)
	close()
}

// calls is what -mode calls prints.
type calls struct {
	PerSecond float64 `json:"perSecond"`
	P50, P99  float64 // microseconds
}

// idle is what -mode idle prints. All but Open are differences between before the
// sessions were opened and when they had been idle for a while.
type idle struct {
	Open       float64 // milliseconds from the first to the last session's readiness
	RSS        float64 // bytes a session, resident in the process
	Heap       float64 // bytes a session, in live objects and stacks
	Goroutines float64 // a session
	Total      float64 // bytes, resident in the whole process
}

// ready is what -mode ready prints: how long one session takes to open.
type ready struct {
	P50, P99 float64 // microseconds
}

func main() {
	mode := flag.String("mode", "calls", "`calls`, idle or ready")
	legacy := flag.Bool("legacy", false, "speak 2025-11-25, without a probe")
	callers := flag.Int("callers", 1, "calls at a time")
	length := flag.Duration("length", time.Second, "how long to call")
	sessions := flag.Int("sessions", 1, "how many to open")
	rest := flag.Duration("rest", 6*time.Second, "how long sessions are idle before memory is measured")
	flag.StringVar(&heapProfile, "heap", "", "write a heap profile of the idle sessions to `FILE`")
	flag.Parse()
	if err := run(*mode, newConnector(*legacy, flag.Args()), *callers, *sessions, *length, *rest); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// heapProfile is where a profile is written, "" for nowhere.
var heapProfile string

func run(mode string, c connector, callers, sessions int, length, rest time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var (
		out any
		err error
	)
	switch mode {
	case "calls":
		out, err = measureCalls(ctx, c, callers, length)
	case "idle":
		out, err = measureIdle(ctx, c, sessions, rest)
	case "ready":
		out, err = measureReady(ctx, c, sessions)
	default:
		err = errors.New("unknown mode: " + mode)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// measureCalls calls one session from several goroutines, after a warm-up of a
// fifth of the time.
func measureCalls(ctx context.Context, c connector, callers int, length time.Duration) (calls, error) {
	s, err := c.open(ctx)
	if err != nil {
		return calls{}, err
	}
	defer s.close()
	if _, err := callFor(ctx, s, callers, length/5); err != nil {
		return calls{}, err
	}
	began := time.Now()
	took, err := callFor(ctx, s, callers, length)
	if err != nil {
		return calls{}, err
	}
	return calls{
		PerSecond: float64(len(took)) / time.Since(began).Seconds(),
		P50:       percentile(took, 50), P99: percentile(took, 99),
	}, nil
}

// callFor returns how long each call took. Each caller makes at least one.
func callFor(ctx context.Context, s session, callers int, length time.Duration) ([]time.Duration, error) {
	var wg sync.WaitGroup
	took, errs := make([][]time.Duration, callers), make([]error, callers)
	end := time.Now().Add(length)
	for i := range callers {
		wg.Go(func() {
			for n := 0; n == 0 || time.Now().Before(end); n++ {
				began := time.Now()
				text := strconv.Itoa(i) + "/" + strconv.Itoa(n)
				got, err := s.call(ctx, text)
				if err == nil && got != text {
					err = fmt.Errorf("called with %q, answered %q", text, got)
				}
				if err != nil {
					errs[i] = err
					return
				}
				took[i] = append(took[i], time.Since(began))
			}
		})
	}
	wg.Wait()
	return slices.Concat(took...), errors.Join(errs...)
}

// opening is how many sessions are opened at a time.
const opening = 16

// measureIdle opens n sessions, lets them rest, and looks at what they hold.
func measureIdle(ctx context.Context, c connector, n int, rest time.Duration) (idle, error) {
	before := weigh()
	began := time.Now()
	all, err := openMany(ctx, c, n)
	took := time.Since(began)
	defer closeMany(all)
	if err != nil {
		return idle{}, err
	}
	time.Sleep(rest)
	after := weigh()
	if err := profile(); err != nil {
		return idle{}, err
	}
	each := func(before, after float64) float64 { return (after - before) / float64(n) }
	return idle{
		Open: float64(took.Microseconds()) / 1000, Total: after.rss,
		RSS: each(before.rss, after.rss), Heap: each(before.heap, after.heap),
		Goroutines: each(before.goroutines, after.goroutines),
	}, nil
}

func openMany(ctx context.Context, c connector, n int) ([]session, error) {
	var (
		wg   sync.WaitGroup
		next atomic.Int64
	)
	all, errs := make([]session, n), make([]error, n)
	for range opening {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				all[i], errs[i] = c.open(ctx)
			}
		})
	}
	wg.Wait()
	return all, errors.Join(errs...)
}

func closeMany(all []session) {
	var wg sync.WaitGroup
	for _, s := range all {
		if s != nil {
			wg.Go(s.close)
		}
	}
	wg.Wait()
}

// weight is what the process holds at one moment.
type weight struct{ rss, heap, goroutines float64 }

// weigh takes the resident size first, as it is, and then collects garbage to see
// what is live.
func weigh() weight {
	w := weight{rss: rss(), goroutines: float64(runtime.NumGoroutine())}
	runtime.GC()
	runtime.GC() // what the first one only moved out of pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.heap = float64(m.HeapAlloc + m.StackInuse)
	return w
}

// profile writes what the heap holds, if that is wanted.
func profile() error {
	if heapProfile == "" {
		return nil
	}
	f, err := os.Create(heapProfile)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
}

// rss is the resident size of this process in bytes; 0 where there is no /proc.
func rss() float64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseFloat(fields[1], 64)
	return pages * float64(os.Getpagesize())
}

// measureReady opens n sessions, one after the other.
func measureReady(ctx context.Context, c connector, n int) (ready, error) {
	var took []time.Duration
	for range n {
		began := time.Now()
		s, err := c.open(ctx)
		if err != nil {
			return ready{}, err
		}
		took = append(took, time.Since(began))
		s.close()
	}
	return ready{P50: percentile(took, 50), P99: percentile(took, 99)}, nil
}

// percentile returns the p-th percentile in microseconds, 0 of nothing.
func percentile(took []time.Duration, p int) float64 {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return float64(took[(len(took)-1)*p/100].Nanoseconds()) / 1000
}
