package client

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// Acceptance 13 and 14, E2: the verdict that others find is written once the first
// exchange has succeeded, and is the era that was chosen.
func TestVerdictIsCached(t *testing.T) {
	for want, answer := range map[era.Era]func(*peerConn, int64, transport.Request){era.Modern: modern(done), era.Legacy: legacy(notFound, done)} {
		synctest.Test(t, func(t *testing.T) {
			table := era.NewVerdicts()
			start(t, &peer{answer: answer}, func(c *Config) { c.Verdicts = table })
			synctest.Wait()
			if v, ok := table.Get(testKey, time.Hour); !ok || v.Era != want || v.Record.Method == "" {
				t.Errorf("want %v, cached %+v, %v", want, v, ok)
			}
		})
	}
}

// Acceptance 22, E6: the probe after a rejected session holds up neither the call nor
// its successors; its verdict counts when it comes, and until then there is none.
func TestReprobeHoldsUpNothing(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(c *peerConn, id int64)
		want   era.Era
		conns  int
	}{
		"still legacy": {notFound, era.Legacy, 1},
		"now modern":   {func(c *peerConn, id int64) { c.result(id, discovered) }, era.Modern, 2},
		"no verdict":   {func(c *peerConn, id int64) { c.fail(id, httpFailure(503)) }, era.Unknown, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newForgetful()
				answer := f.answer
				var probes atomic.Int32
				f.answer = func(conn *peerConn, id int64, r transport.Request) {
					if r.Method == mcp.MethodDiscover {
						n := probes.Add(1)
						if n == 2 {
							time.Sleep(20 * time.Second)
						}
						if n > 1 {
							c.answer(conn, id)
							return
						}
					}
					answer(conn, id, r)
				}
				table := era.NewVerdicts()
				s := start(t, &f.peer, func(c *Config) { c.Verdicts = table })
				synctest.Wait()
				f.lost.Store(true)
				began := time.Now()
				for range 3 {
					if _, err := s.CallTool(background, "echo", nil, nil); err != nil {
						t.Fatal(err)
					}
				}
				took := time.Since(began)
				synctest.Wait() // the probe runs beside the calls
				if took != 0 || probes.Load() != 2 {
					t.Errorf("three calls took %v, with %d probes", took, probes.Load())
				}
				if v, ok := table.Get(testKey, time.Hour); ok {
					t.Errorf("the old verdict stayed: %+v", v)
				}
				time.Sleep(30 * time.Second)
				synctest.Wait()
				wantState(t, s, Ready)
				if v, _ := table.Get(testKey, time.Hour); v.Era != c.want || f.connects() != c.conns {
					t.Errorf("cached %v after %d connections", v.Era, f.connects())
				}
			})
		})
	}
}
