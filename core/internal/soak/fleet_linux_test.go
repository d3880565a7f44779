package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

const (
	// perSite is how many sessions share one server behind HTTP.
	perSite = 5
	// callersEach is how many callers a session has.
	callersEach = 2
)

// fleet is sessions of four kinds, as many of each: a process of their own in either
// era, and a server behind HTTP in either era. Tables are shared as in the hub (E7).
type fleet struct {
	seed     uint64
	journals string
	sites    []*website
	sessions []*client.Session
	callers  []*caller
	verdicts *era.Verdicts
	breakers *breaker.Table

	stop           context.CancelFunc
	running        sync.WaitGroup
	killed, raised atomic.Int64 // processes ended by us, reconnects asked for
}

// newFleet starts servers and sessions.
func newFleet(t *testing.T, size int, seed uint64) *fleet {
	f := &fleet{
		seed: seed, journals: t.TempDir(), verdicts: era.NewVerdicts(),
		// Five failures open it, as ever, but a soak cannot wait for half a minute.
		breakers: breaker.NewTable(breaker.DefaultThreshold, 2*time.Second),
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.stop = cancel
	port := 20000 + int(seed%10000)
	for i := range size {
		var d transport.Dialer
		var key era.Key
		long, longArgs := "slow_task", `{"seconds":60,"steps":20}`
		switch kind := i % 4; kind {
		case 0:
			d, key = f.process(i, self(t), []string{serverMarker, f.journals})
		case 1:
			path, args := fakeserver.Command(t, fakeserver.Script{
				Journal: filepath.Join(f.journals, fmt.Sprintf("fake-%d", i)),
				Replies: map[string]fakeserver.Reply{"tools/call echo": {After: work}},
			})
			d, key = f.process(i, path, args)
			long, longArgs = "never", `{}`
		default:
			d, key = f.page(t, kind-2, i/4/perSite, &port)
		}
		s := client.New(client.Config{
			Name: fmt.Sprintf("server-%d", i), Dialer: d, Key: key, Verdicts: f.verdicts,
			Info:   mcp.Implementation{Name: "drawbridge-soak", Version: "0"},
			Limits: client.Limits{VerdictTTL: -1, Total: callTotal, GiveUp: 1 << 20},
		})
		f.sessions = append(f.sessions, s)
		for range callersEach {
			n := len(f.callers)
			f.callers = append(f.callers, &caller{
				n: n, session: s, long: long, longArgs: json.RawMessage(longArgs),
				random: f.random(n), codes: map[string]int{},
			})
		}
		f.running.Go(func() { s.Run(ctx) })
	}
	return f
}

// random returns a source that depends on the seed and its user alone.
func (f *fleet) random(user int) *rand.Rand { return rand.New(rand.NewPCG(f.seed, uint64(user))) }

func (f *fleet) process(i int, path string, args []string) (transport.Dialer, era.Key) {
	name := fmt.Sprintf("stdio:%d", i)
	return transport.NewStdio(transport.StdioConfig{Command: path, Args: args, Breakers: f.breakers, BreakerKey: name}), era.SpecKey(name)
}

// page returns a dialer to the n-th server of an era, which it starts for the first.
func (f *fleet) page(t *testing.T, which, n int, port *int) (transport.Dialer, era.Key) {
	i := 2*n + which
	if i == len(f.sites) {
		w := &website{addr: freeAddr(t, port), era: []string{modernEra, legacyEra}[which], journals: f.journals}
		w.start(t)
		f.sites = append(f.sites, w)
	}
	url := f.sites[i].url()
	d, err := transport.NewHTTP(transport.HTTPConfig{URL: url, Breakers: f.breakers})
	if err != nil {
		t.Fatal(err)
	}
	key, err := era.URLKey(url)
	if err != nil {
		t.Fatal(err)
	}
	return d, key
}

// live calls and kills until ctx ends, and returns when all calls have ended.
func (f *fleet) live(ctx context.Context, t *testing.T) {
	var work sync.WaitGroup
	for _, c := range f.callers {
		work.Go(func() { c.run(ctx, t) })
	}
	hit := make(chan struct{}, 1) // held while a server behind HTTP changes
	work.Go(func() { f.killSites(ctx, t, hit) })
	work.Go(func() { f.killProcesses(ctx, hit) })
	work.Wait()
}

// killSites kills servers behind HTTP, which stay away for a while.
func (f *fleet) killSites(ctx context.Context, t *testing.T, hit chan struct{}) {
	random := f.random(-1)
	for wait(ctx, time.Duration(random.Int64N(int64(2*time.Second)))) {
		w := f.sites[random.IntN(len(f.sites))]
		hit <- struct{}{}
		w.kill()
		<-hit
		f.killed.Add(1)
		wait(ctx, time.Duration(random.Int64N(int64(time.Second))))
		hit <- struct{}{}
		w.start(t)
		<-hit
	}
}

// killProcesses kills servers behind pipes, one way or the other, and sometimes asks
// for a session that waits for its next attempt, as a person does.
func (f *fleet) killProcesses(ctx context.Context, hit chan struct{}) {
	random := f.random(-2)
	for wait(ctx, time.Duration(random.Int64N(int64(400*time.Millisecond)))) {
		if random.IntN(5) < 2 {
			s := f.sessions[random.IntN(len(f.sessions))]
			if s.Status().State == client.Retrying || random.IntN(20) == 0 {
				s.Reconnect()
				f.raised.Add(1)
			}
			continue
		}
		hit <- struct{}{} // so that a starting server behind HTTP is not taken for one
		pids := slices.DeleteFunc(children(), f.isSite)
		if len(pids) > 0 {
			signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[random.IntN(2)]
			if syscall.Kill(pids[random.IntN(len(pids))], signal) == nil {
				f.killed.Add(1)
			}
		}
		<-hit
	}
}

func (f *fleet) isSite(pid int) bool {
	return slices.ContainsFunc(f.sites, func(w *website) bool { return w.cmd != nil && w.cmd.Process.Pid == pid })
}

// recover waits until every session works again by itself, now that nobody kills.
func (f *fleet) recover(t *testing.T) {
	var work sync.WaitGroup
	for i := 0; i < len(f.callers); i += callersEach {
		c := f.callers[i]
		work.Go(func() {
			if c.session.Status().State == client.Retrying {
				c.session.Reconnect() // the wait may be long
			}
			for deadline := time.Now().Add(2 * time.Minute); !c.echo(t); {
				if time.Now().After(deadline) {
					st := c.session.Status()
					t.Errorf("session %d did not come back: %s, %v", i/callersEach, st.State, st.Err)
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	work.Wait()
}

// close ends sessions and servers.
func (f *fleet) close() {
	f.stop()
	f.running.Wait()
	for _, w := range f.sites {
		w.kill()
	}
}

// wait waits for d; false means that ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
