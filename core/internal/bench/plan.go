package bench

import (
	"fmt"
	"strconv"
)

// Case is one comparison: how both programs are started, and what is read from what
// they print.
type Case struct {
	Name string
	// HTTP says that the server is reached by Streamable HTTP, else by stdio.
	// Legacy is the era of both ends.
	HTTP, Legacy bool
	Args         []string
	Rounds       int
	Quantities   []Quantity
}

// Quantity is one member of the JSON object that a program prints.
type Quantity struct {
	Name, Field, Unit string
	// Scale is what the member is multiplied by, to be in Unit.
	Scale float64
	// PerSecond says that the member counts what was done in a second: its row
	// shows how long one took.
	PerSecond bool
}

func (q Quantity) read(from map[string]float64) (float64, error) {
	v, ok := from[q.Field]
	if !ok {
		return 0, fmt.Errorf("no %s was printed", q.Field)
	}
	if q.PerSecond {
		if v <= 0 {
			return 0, fmt.Errorf("%s is %v", q.Field, v)
		}
		v = 1 / v
	}
	return v * q.Scale, nil
}

// Size is how much of everything is done.
type Size struct {
	// Rounds of calls and of readiness. Idle sessions take longer and vary less;
	// they get half of it, and at least one.
	Rounds int
	// Sessions is how many rest.
	Sessions int
}

var (
	callQuantities = []Quantity{
		{Name: "time-per-call", Field: "perSecond", Unit: "µs", Scale: 1e6, PerSecond: true},
		{Name: "p50", Field: "P50", Unit: "µs", Scale: 1},
		{Name: "p99", Field: "P99", Unit: "µs", Scale: 1},
	}
	readyQuantities = []Quantity{
		{Name: "p50", Field: "P50", Unit: "ms", Scale: 1e-3},
		{Name: "p99", Field: "P99", Unit: "ms", Scale: 1e-3},
	}
	idleQuantities = []Quantity{
		{Name: "rss", Field: "RSS", Unit: "KiB a session", Scale: 1. / 1024},
		{Name: "heap", Field: "Heap", Unit: "KiB a session", Scale: 1. / 1024},
		{Name: "goroutines", Field: "Goroutines", Unit: "a session", Scale: 1},
		{Name: "process", Field: "Total", Unit: "MiB", Scale: 1. / (1 << 20)},
		{Name: "open-all", Field: "Open", Unit: "ms", Scale: 1},
	}
)

// Plan returns what is compared.
func Plan(size Size) []Case {
	var out []Case
	for _, wire := range []string{"stdio", "http"} {
		for _, era := range []string{"modern", "legacy"} {
			add := func(name string, rounds int, quantities []Quantity, args ...string) {
				out = append(out, Case{
					Name: name + "-" + wire + "-" + era,
					HTTP: wire == "http", Legacy: era == "legacy",
					Args: args, Rounds: rounds, Quantities: quantities,
				})
			}
			for _, callers := range []string{"1", "16", "64"} {
				add("calls-"+callers, size.Rounds, callQuantities, "-mode", "calls", "-callers", callers)
			}
			add("ready", size.Rounds, readyQuantities, "-mode", "ready", "-sessions", "20")
			add("idle", max(1, size.Rounds/2), idleQuantities, "-mode", "idle", "-sessions", strconv.Itoa(size.Sessions))
		}
	}
	return out
}
