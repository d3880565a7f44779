package client

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// open connects and settles the era: by a kept verdict, or by asking (E2, E3, E5).
func (s *Session) open(ctx context.Context) (*opened, error) {
	v, kept := s.cfg.Verdicts.Get(s.cfg.Key, s.verdictTTL())
	if kept && v.Era == era.Legacy {
		o, err := s.openLegacy(ctx, v)
		if err == nil || !assumptionFailed(err) {
			return o, err
		}
		s.cfg.Verdicts.Forget(s.cfg.Key)
		kept = false
	}
	a := attempt{s: s, cached: kept}
	o, err := a.run(ctx)
	if err != nil && kept && assumptionFailed(err) {
		s.cfg.Verdicts.Forget(s.cfg.Key)
	}
	return o, err
}

// verdictTTL is the age up to which a verdict holds; stdio verdicts hold for the
// spec's fingerprint, not for a time (E5).
func (s *Session) verdictTTL() time.Duration {
	if s.stdio() {
		return -1
	}
	return s.cfg.Limits.VerdictTTL
}

// openLegacy shakes hands without a probe.
func (s *Session) openLegacy(ctx context.Context, v era.Verdict) (*opened, error) {
	l, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	a := attempt{s: s, cached: true, kept: &v}
	return a.handshake(ctx, l, nil)
}

// assumptionFailed reports whether a server answered, but not as its kept era
// would. A dead or refusing server says nothing about its era (E3).
func assumptionFailed(err error) bool {
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) {
		return true
	}
	var te *transport.Error
	if !errors.As(err, &te) {
		return false
	}
	switch te.Code {
	case transport.NotMCP, transport.Invalid, transport.VersionMismatch:
		return true
	case transport.HTTPStatus:
		return te.Status == 400 || te.Status == 404 || te.Status == 405 || te.Status == 501
	}
	return false
}

// dial opens a connection and wraps it in a link.
func (s *Session) dial(ctx context.Context) (*link, error) {
	l := newLink(s.cfg.Log, s.nextID, s.inbound)
	conn, err := s.cfg.Dialer.Connect(ctx, l)
	if err != nil {
		return nil, err
	}
	l.conn = conn
	close(l.up)
	return l, nil
}

// attempt is one opening; fresh counts the extra connections it took, so that a
// contradictory server cannot keep it busy.
type attempt struct {
	s      *Session
	cached bool
	kept   *era.Verdict
	fresh  int
}

// run probes with server/discover and follows the evidence.
func (a *attempt) run(ctx context.Context) (*opened, error) {
	l, err := a.s.dial(ctx)
	if err != nil {
		return nil, err
	}
	ans, late := a.probe(ctx, l, mcp.Latest)
	switch ev := era.Judge(ans.Answer, a.s.stdio()); ev {
	case era.ProvesModern:
		return a.modern(ctx, l, ans)
	case era.Demotes, era.Doubt:
		if ans.Exited {
			l.shut(ans.err)
			if l, err = a.again(ctx); err != nil {
				return nil, err
			}
		}
		o, err := a.handshake(ctx, l, late)
		if a.fresh == 0 && transport.CodeOf(err) == transport.Exited && ctx.Err() == nil {
			// It answered the probe and then died of it: the same second chance
			// as one that exits at once (field case 45).
			if l, err = a.again(ctx); err != nil {
				return nil, err
			}
			o, err = a.handshake(ctx, l, nil)
		}
		if err != nil && ev == era.Doubt && ans.err != nil {
			// Both answers are reported, the later one first (E3).
			err = errors.Join(err, ans.err)
		}
		return o, err
	default:
		l.shut(ans.err)
		return nil, ans.err
	}
}

// again opens a fresh connection for a second look: a process that exited on the
// probe, or one that is pinned to the other era (E5).
func (a *attempt) again(ctx context.Context) (*link, error) {
	if a.fresh++; a.fresh > 2 {
		return nil, &transport.Error{Code: transport.VersionMismatch, Reason: "contradictory"}
	}
	return a.s.dial(ctx)
}

// modern follows modern evidence: a version both speak, or a handshake with the
// newest legacy one when the server lists only those (E2).
func (a *attempt) modern(ctx context.Context, l *link, ans answer) (*opened, error) {
	v, handshake, theirs, ok := era.Next(ans.Answer)
	if !ok {
		err := versionError(theirs)
		l.shut(err)
		return nil, err
	}
	if handshake {
		if a.s.stdio() {
			l.shut(errReopen)
			var err error
			if l, err = a.again(ctx); err != nil {
				return nil, err
			}
		}
		return a.handshake(ctx, l, nil)
	}
	d, isResult := mcp.ParseDiscoverResult(ans.Result)
	if !isResult {
		// The server is modern but refused the request as we made it. Ask once
		// more, in the version it offered.
		ans, _ = a.probe(ctx, l, v)
		if d, isResult = mcp.ParseDiscoverResult(ans.Result); !isResult {
			l.shut(ans.err)
			return nil, ans.err
		}
	}
	l.adopt(v)
	return a.opened(l, &opened{
		version: v, caps: d.Capabilities, info: d.ServerInfo, instructions: d.Instructions,
	}, a.s.observe(mcp.MethodDiscover, ans)), nil
}

// opened completes a connection: its slots, and the verdict, which is cached only
// now that the first exchange has succeeded (E2).
func (a *attempt) opened(l *link, o *opened, rec era.Record) *opened {
	s := a.s
	o.link, o.wake = l, make(chan struct{}, 1)
	o.info.Name, o.info.Title, o.info.Version = bound(o.info.Name, 256), bound(o.info.Title, 256), bound(o.info.Version, 256)
	o.instructions = bound(o.instructions, maxInstructions)
	o.cached = a.cached && a.fresh == 0 && (a.kept != nil || o.version.Modern())
	if a.kept != nil && o.cached {
		o.verdict = *a.kept
	} else {
		o.verdict = era.Verdict{Era: era.Of(o.version), Version: o.version, Record: rec, DecidedAt: time.Now(), TTL: s.verdictTTL()}
		s.cfg.Verdicts.Put(s.cfg.Key, o.verdict)
	}
	o.policy = s.cfg.Limits.concurrency(s.cfg.Dialer.Kind(), era.Of(o.version))
	l.limits(s.cfg.Limits.slots(o.policy), s.cfg.Limits.Queue)
	return o
}

// maxInstructions bounds what is kept of a server's instructions, in bytes.
const maxInstructions = 64 << 10

// bound cuts a foreign text to n bytes.
func bound(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// versionError says that there is no common version; Words name both lists (E1).
func versionError(theirs []mcp.Version) error {
	list := func(vs []mcp.Version) string {
		b, _ := json.Marshal(vs[:min(len(vs), 16)])
		return string(b)
	}
	return &transport.Error{
		Code:  transport.VersionMismatch,
		Words: []string{"the server speaks " + list(theirs), "Drawbridge speaks " + list(mcp.Versions())},
	}
}
