package client

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// Acceptance 13; E2: a modern server is ready at once, without a handshake.
func TestModernNeedsNoHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(done)}
		s := start(t, p)
		synctest.Wait()
		st := wantState(t, s, Ready)
		if st.Version != mcp.V20260728 || st.Verdict.Era != era.Modern || st.Concurrency != Stateless || st.Info.Name != "m" {
			t.Errorf("got %+v", st)
		}
		wantMethods(t, p, mcp.MethodDiscover, mcp.MethodToolsList)
		if n := st.Lists[Tools].Count; n != 1 {
			t.Errorf("%d tools", n)
		}
	})
}

// Acceptance 14; C1, T5: probe, initialize, initialized, then work; serialized
// over HTTP.
func TestLegacyShakesHands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: legacy(notFound, done)}
		s := start(t, p)
		synctest.Wait()
		st := wantState(t, s, Ready)
		if st.Version != mcp.V20250618 || st.Verdict.Era != era.Legacy || st.Concurrency != Serialized {
			t.Errorf("got %+v", st)
		}
		wantMethods(t, p, mcp.MethodDiscover, mcp.MethodInitialize, mcp.NotifyInitialized, mcp.MethodToolsList)
		if v := jsonrpc.Get(p.last(mcp.MethodInitialize), "protocolVersion"); string(v) != `"2025-11-25"` {
			t.Errorf("offered %s", v)
		}
	})
}

// Top case 13, E2, E3, field cases 42 and 43: whatever a legacy server says to the
// probe, a valid handshake proves it legacy.
func TestEveryRefusalLeadsToTheHandshake(t *testing.T) {
	for name, refuse := range map[string]func(c *peerConn, id int64){
		"-32601": notFound,
		"-32602": func(c *peerConn, id int64) { c.refuse(id, -32602, "initialize first") },
		"-32600": func(c *peerConn, id int64) { c.refuse(id, -32600, "x") },
		"-32603": func(c *peerConn, id int64) { c.refuse(id, -32603, "x") },
		"-32000": func(c *peerConn, id int64) { c.refuse(id, -32000, "x") },
		"400 with -32000": func(c *peerConn, id int64) {
			c.fail(id, &transport.Error{Code: transport.HTTPStatus, Status: 400, RPC: &jsonrpc.Error{Code: -32000}})
		},
		"400 empty": func(c *peerConn, id int64) { c.fail(id, httpFailure(400)) },
		"404":       func(c *peerConn, id int64) { c.fail(id, httpFailure(404)) },
		"405":       func(c *peerConn, id int64) { c.fail(id, httpFailure(405)) },
		"a web page": func(c *peerConn, id int64) {
			c.fail(id, &transport.Error{Code: transport.NotMCP, Status: 200, Reason: "web_page"})
		},
		"another result":    func(c *peerConn, id int64) { c.result(id, `{"ok":true}`) },
		"legacy tools list": func(c *peerConn, id int64) { c.result(id, oneTool) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{answer: legacy(refuse, done)}
				s := start(t, p)
				synctest.Wait()
				if st := wantState(t, s, Ready); st.Verdict.Era != era.Legacy {
					t.Errorf("verdict %v", st.Verdict)
				}
			})
		})
	}
}

// Acceptance 15, 18; E4, E7: a second session on the same table sends no probe to a
// legacy server; a TTL of 0 probes every time.
func TestVerdictsAreShared(t *testing.T) {
	for ttl, probes := range map[time.Duration]int{-1: 1, 0: 2} {
		synctest.Test(t, func(t *testing.T) {
			p := &peer{answer: legacy(notFound, done)}
			table := era.NewVerdicts()
			share := func(c *Config) { c.Verdicts = table; c.Limits.VerdictTTL = ttl }
			start(t, p, share)
			synctest.Wait()
			s := start(t, p, share)
			synctest.Wait()
			wantState(t, s, Ready)
			if n := p.count(mcp.MethodDiscover); n != probes {
				t.Errorf("ttl %v: %d probes, want %d", ttl, n, probes)
			}
		})
	}
}

// Acceptance 26; E3: one refusal never becomes an era. A later session finds out.
func TestHealthWritesNoVerdict(t *testing.T) {
	for _, status := range []int{401, 403, 429, 500, 503} {
		synctest.Test(t, func(t *testing.T) {
			down := true
			answer := modern(done)
			p := &peer{answer: func(c *peerConn, id int64, r transport.Request) {
				if down {
					c.fail(id, httpFailure(status))
					return
				}
				answer(c, id, r)
			}}
			table := era.NewVerdicts()
			s := start(t, p, func(c *Config) { c.Verdicts = table })
			synctest.Wait()
			want := Retrying
			if status == 401 || status == 403 {
				want = SignIn
			}
			wantState(t, s, want)
			if _, ok := table.Get(testKey, time.Hour); ok {
				t.Errorf("%d wrote a verdict", status)
			}
			wantMethods(t, p, mcp.MethodDiscover)
			down = false
			s.Reconnect()
			synctest.Wait()
			if st := wantState(t, s, Ready); st.Verdict.Era != era.Modern {
				t.Errorf("%d: verdict %v", status, st.Verdict)
			}
		})
	}
}

// Acceptance 23; E3: doubt without proof caches nothing and reports both answers.
func TestDoubtWithoutProofCachesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: func(c *peerConn, id int64, r transport.Request) {
			if r.Method == mcp.MethodDiscover {
				c.fail(id, httpFailure(400))
			} else {
				c.fail(id, httpFailure(418))
			}
		}}
		table := era.NewVerdicts()
		s := start(t, p, func(c *Config) { c.Verdicts = table })
		synctest.Wait()
		st := wantState(t, s, Retrying)
		if msg := st.Err.Error(); !strings.Contains(msg, "418") || !strings.Contains(msg, "400") {
			t.Errorf("got %q", msg)
		}
		if _, ok := table.Get(testKey, time.Hour); ok {
			t.Error("a verdict was cached")
		}
	})
}

// E5, field case 44: silence on the probe means legacy, after a bounded time.
func TestSilentPipeIsLegacy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{kind: transport.Stdio, answer: legacy(func(*peerConn, int64) {}, done)}
		s := start(t, p)
		synctest.Wait()
		wantState(t, s, Starting)
		time.Sleep(5*time.Second + tick)
		synctest.Wait()
		if st := wantState(t, s, Ready); st.Verdict.Era != era.Legacy || st.Concurrency != Stateless {
			t.Errorf("got %+v", st)
		}
	})
}

// E5, field case 44 (b): a DiscoverResult that comes late wins, whether the
// handshake was answered meanwhile or not; one fresh process, and the verdict is
// corrected.
func TestLateDiscoverResultWins(t *testing.T) {
	for name, shake := range map[string]bool{"handshake unanswered": false, "handshake answered": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{kind: transport.Stdio}
				p.answer = func(c *peerConn, id int64, r transport.Request) {
					switch {
					case r.Method == mcp.MethodDiscover && c.n == 1:
						time.Sleep(8 * time.Second)
						c.result(id, discovered)
					case r.Method == mcp.MethodInitialize && shake:
						c.result(id, initialized)
					case r.Method == mcp.MethodInitialize: // a cold start reads in order
					default:
						modern(done)(c, id, r)
					}
				}
				table := era.NewVerdicts()
				key := era.SpecKey("f")
				s := start(t, p, func(c *Config) { c.Verdicts, c.Key = table, key })
				time.Sleep(9 * time.Second)
				synctest.Wait()
				st := wantState(t, s, Ready)
				if st.Verdict.Era != era.Modern || p.connects() != 2 {
					t.Errorf("got %v after %d processes", st.Verdict, p.connects())
				}
				if v, ok := table.Get(key, -1); !ok || v.Era != era.Modern {
					t.Errorf("kept %v, %v", v, ok)
				}
			})
		})
	}
}

// Top case 14, E5, field case 45: a process that exits on the probe is started once
// more with initialize first, and the next start does not probe.
func TestProbeKillsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{kind: transport.Stdio}
		p.answer = func(c *peerConn, id int64, r transport.Request) {
			if r.Method == mcp.MethodDiscover {
				c.die(&transport.Error{Code: transport.Exited, ExitCode: 1})
				return
			}
			legacy(notFound, done)(c, id, r)
		}
		s := start(t, p)
		synctest.Wait()
		if st := wantState(t, s, Ready); st.Verdict.Era != era.Legacy || st.Restarts != 0 || st.LastErr != nil {
			t.Errorf("got %+v", st)
		}
		s.Reconnect()
		synctest.Wait()
		wantState(t, s, Ready)
		if p.connects() != 3 || p.count(mcp.MethodDiscover) != 1 {
			t.Errorf("%d processes, %d probes", p.connects(), p.count(mcp.MethodDiscover))
		}
	})
}

// E5, field case 45: the same for one that answers the probe and dies a moment later.
func TestProbeKillsTheServerLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{kind: transport.Stdio}
		p.answer = func(c *peerConn, id int64, r transport.Request) {
			switch {
			case r.Method == mcp.MethodDiscover:
				c.refuse(id, -32600, "initialize first")
			case c.n == 1:
				time.Sleep(500 * time.Millisecond)
				c.die(&transport.Error{Code: transport.Exited, ExitCode: 1})
			default:
				legacy(notFound, done)(c, id, r)
			}
		}
		s := start(t, p)
		time.Sleep(time.Second)
		synctest.Wait()
		wantState(t, s, Ready)
		if p.connects() != 2 {
			t.Errorf("%d processes", p.connects())
		}
	})
}

// Top case 5: a process that dies before it reads is reported by its exit, not by the
// pipe that could not be written to.
func TestExitIsTheCauseOfABrokenPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{kind: transport.Stdio}
		p.answer = func(c *peerConn, id int64, r transport.Request) {
			c.fail(id, &transport.Error{Code: transport.Broken, Reason: "write"})
			time.Sleep(50 * time.Millisecond)
			c.die(&transport.Error{Code: transport.Exited, ExitCode: 3})
		}
		s := start(t, p)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		wantCode(t, wantState(t, s, Retrying).Err, transport.Exited)
	})
}

// C8: while the breaker is open the next attempt waits for it, and what led there
// stays the last failure.
func TestOpenBreakerIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{kind: transport.Stdio}
		p.connect = func(n int) error {
			if n == 1 {
				return &transport.Error{Code: transport.Exited, ExitCode: 3}
			}
			return &transport.Error{Code: transport.BreakerOpen, Err: &breaker.OpenError{RetryAt: time.Now().Add(30 * time.Second)}}
		}
		s := start(t, p)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		st := wantState(t, s, Retrying)
		wantCode(t, st.Err, transport.BreakerOpen)
		wantCode(t, st.LastErr, transport.Exited)
		if d := time.Until(st.RetryAt); d < 28*time.Second {
			t.Errorf("retries in %v", d)
		}
	})
}

// E2: a server whose list or error names only legacy versions gets a handshake; on a
// pipe that answered a modern request, in a fresh process (E5).
func TestOnlyLegacyVersionsOffered(t *testing.T) {
	for name, refuse := range map[string]func(c *peerConn, id int64){
		"DiscoverResult": func(c *peerConn, id int64) { c.result(id, `{"supportedVersions":["2025-11-25","2024-11-05"]}`) },
		"-32022": func(c *peerConn, id int64) {
			if c.claim(id) {
				c.sink.Message(c.stream(id), jsonrpc.Refuse(jsonrpc.IntID(id), &jsonrpc.Error{Code: mcp.CodeUnsupportedVersion, Data: json.RawMessage(`{"supported":["2025-11-25"]}`)}))
			}
		},
	} {
		for _, kind := range []transport.Kind{transport.HTTP, transport.Stdio} {
			t.Run(name+" over "+string(kind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := &peer{kind: kind, answer: legacy(refuse, done)}
					s := start(t, p)
					synctest.Wait()
					if st := wantState(t, s, Ready); st.Verdict.Era != era.Legacy {
						t.Errorf("got %v", st.Verdict)
					}
					if want := map[transport.Kind]int{transport.HTTP: 1, transport.Stdio: 2}[kind]; p.connects() != want {
						t.Errorf("%d connections, want %d", p.connects(), want)
					}
				})
			})
		}
	}
}

// E1: no common version is said with both lists, and is not retried.
func TestNoCommonVersion(t *testing.T) {
	for name, answer := range map[string]func(c *peerConn, id int64, r transport.Request){
		"modern": func(c *peerConn, id int64, r transport.Request) { c.result(id, `{"supportedVersions":["2031-01-01"]}`) },
		"legacy": legacy(notFound, nil),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{answer: func(c *peerConn, id int64, r transport.Request) {
					if r.Method == mcp.MethodInitialize {
						c.result(id, `{"protocolVersion":"1999-01-01","capabilities":{}}`)
						return
					}
					answer(c, id, r)
				}}
				s := start(t, p)
				synctest.Wait()
				st := wantState(t, s, Failed)
				var te *transport.Error
				if !errors.As(st.Err, &te) || te.Code != transport.VersionMismatch || len(te.Words) != 2 || !strings.Contains(te.Words[1], "2026-07-28") {
					t.Errorf("got %#v", st.Err)
				}
			})
		})
	}
}

// E5: a kept legacy verdict that turns out wrong is dropped, and the era asked anew.
func TestWrongVerdictIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(done)} // answers initialize with -32601
		table := era.NewVerdicts()
		table.Put(testKey, era.Verdict{Era: era.Legacy, Version: mcp.V20251125, DecidedAt: time.Now(), TTL: time.Hour})
		s := start(t, p, func(c *Config) { c.Verdicts = table })
		synctest.Wait()
		if st := wantState(t, s, Ready); st.Verdict.Era != era.Modern || st.Cached {
			t.Errorf("got %+v", st)
		}
		wantMethods(t, p, mcp.MethodInitialize, mcp.MethodDiscover, mcp.MethodToolsList)
	})
}

// Acceptance 24, 25, 104, 105; C1: every way in which a handshake fails says so,
// leaves nothing pending and is retried with a growing wait.
func TestHandshakeFailures(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(c *peerConn, id int64)
		want   func(error) bool
	}{
		"silence": {func(*peerConn, int64) {}, func(err error) bool {
			return errors.Is(err, &transport.Error{Code: transport.Timeout})
		}},
		"an error": {func(c *peerConn, id int64) { c.refuse(id, -32603, "no") }, func(err error) bool { return rpcCode(err) == -32603 }},
		"a string": {func(c *peerConn, id int64) { c.result(id, `"hello"`) }, func(err error) bool {
			return errors.Is(err, &transport.Error{Code: transport.Invalid, Reason: mcp.MethodInitialize})
		}},
		"a reset": {func(c *peerConn, id int64) { c.fail(id, &transport.Error{Code: transport.Broken, Reason: "reset"}) }, func(err error) bool {
			return errors.Is(err, &transport.Error{Code: transport.Broken, Reason: "reset"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{answer: func(conn *peerConn, id int64, r transport.Request) {
					if r.Method == mcp.MethodDiscover {
						notFound(conn, id)
						return
					}
					c.answer(conn, id)
				}}
				s := start(t, p, func(c *Config) { c.Limits.VerdictTTL = 0; c.Limits.Handshake = 100 * time.Millisecond })
				time.Sleep(200 * time.Millisecond)
				synctest.Wait()
				st := wantState(t, s, Retrying)
				if !c.want(st.Err) {
					t.Errorf("got %v", st.Err)
				}
				_, err := s.CallTool(background, "echo", nil, nil)
				wantCode(t, err, transport.NotReady)
				if !errors.Is(err, st.Err) {
					t.Errorf("the call does not say why: %v", err)
				}
			})
		})
	}
}

// Acceptance 20; C1, field case 13: one attempt at a time, waits double to 60 s, and
// sustained uptime starts over.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		p := &peer{answer: modern(done)}
		p.connect = func(n int) error {
			at = append(at, time.Now())
			if n <= 9 {
				return &transport.Error{Code: transport.Broken, Reason: "refused"}
			}
			return nil
		}
		s := start(t, p)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		wantState(t, s, Ready)
		for i := 1; i < 9; i++ {
			wait, most := at[i].Sub(at[i-1]), min(time.Second<<(i-1), time.Minute)
			if wait > most || wait < most*4/5 {
				t.Errorf("wait %d was %v, want at most %v", i, wait, most)
			}
		}
	})
}

// Field case 13: a command server that keeps dying is given up visibly, and a person
// can try again.
func TestRespawnStormEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{kind: transport.Stdio}
		p.answer = func(c *peerConn, id int64, r transport.Request) {
			time.Sleep(20 * time.Millisecond)
			c.die(&transport.Error{Code: transport.Exited, ExitCode: 1})
		}
		s := start(t, p)
		time.Sleep(time.Hour)
		synctest.Wait()
		wantState(t, s, Failed)
		if p.connects() > 25 {
			t.Errorf("%d processes were started", p.connects())
		}
		before := p.connects()
		s.Reconnect()
		time.Sleep(time.Second)
		if p.connects() == before {
			t.Error("Reconnect did nothing")
		}
	})
}

// C1: permanent causes wait for a person.
func TestPermanentCausesDoNotRetry(t *testing.T) {
	for code, want := range map[transport.Code]State{transport.Spawn: Failed, transport.Blocked: Blocked, transport.RedirectRefused: Failed} {
		synctest.Test(t, func(t *testing.T) {
			p := &peer{kind: transport.Stdio, connect: func(int) error { return &transport.Error{Code: code, Reason: "x"} }}
			s := start(t, p)
			time.Sleep(time.Hour)
			synctest.Wait()
			wantState(t, s, want)
			if p.connects() != 1 {
				t.Errorf("%s: %d attempts", code, p.connects())
			}
		})
	}
}
