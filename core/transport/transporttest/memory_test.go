package transporttest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host puts the suite's server behind a memory connection.
func host(p *Peer) {
	var s Server
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		m, ok := p.Recv()
		if !ok {
			return
		}
		switch m.Method {
		case MethodFail:
			id, _ := m.ID.Int64()
			p.Fail(id, &transport.Error{Code: transport.TooLarge, Limit: 1})
		case MethodDie:
			p.Exit(&transport.Error{Code: transport.Exited, ExitCode: 3})
		default:
			s.Handle(ctx, m.Message, func(m *jsonrpc.Message) { p.Send(m) })
		}
	}
}

func TestMemorySeam(t *testing.T) {
	Run(t, Binding{
		Dialer: func(_ *testing.T, gate transport.Gate) transport.Dialer {
			m := NewMemory(host)
			m.Gate = gate
			return m
		},
		Version:   mcp.V20251125,
		DeathEnds: transport.Exited,
	})
}

// Blocked sinks and waiting peers do not keep the fake clock from moving.
func TestMemoryInsideSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		m := NewMemory(func(p *Peer) {
			for {
				r, ok := p.Recv()
				if !ok {
					return
				}
				if r.Kind() != jsonrpc.Request {
					continue
				}
				time.Sleep(time.Minute)
				p.Alive(1)
				p.Send(jsonrpc.Reply(r.ID, json.RawMessage(`{}`)))
			}
		})
		r := Recorder{Hook: func(e Event) { time.Sleep(time.Second) }}
		conn, err := m.Connect(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Send(1, transport.Request{Method: "x"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		exactlyOne(t, &r, 1)
		conn.Close()
		if took := time.Since(begin); took != 2*time.Minute {
			t.Errorf("took %v", took)
		}
	})
}

// A request that the server has not read yet is taken back, not cancelled.
func TestMemoryCancelBeforeDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := make(chan struct{})
		got := make(chan string, 10)
		m := NewMemory(func(p *Peer) {
			<-read
			for {
				r, ok := p.Recv()
				if !ok {
					return
				}
				got <- r.Method
			}
		})
		var r Recorder
		conn, err := m.Connect(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for id := int64(1); id <= 3; id++ {
			send(t, conn, id, "m", "")
			synctest.Wait()
		}
		if !conn.Cancel(2) || !conn.Cancel(1) {
			t.Error("cancel did not win")
		}
		close(read)
		synctest.Wait()
		close(got)
		var methods []string
		for m := range got {
			methods = append(methods, m)
		}
		// The first was already on its way.
		if len(methods) != 3 || methods[0] != "m" || methods[1] != "m" || methods[2] != mcp.NotifyCancelled {
			t.Errorf("the server got %v", methods)
		}
	})
}

func TestMemoryRefusal(t *testing.T) {
	m := NewMemory(host)
	m.Refuse = func() error { return &transport.Error{Code: transport.Spawn, Reason: "not_found"} }
	m.Wire, m.Key = transport.HTTP, "https://a.example:443"
	if _, err := m.Connect(t.Context(), new(Recorder)); !errors.Is(err, &transport.Error{Code: transport.Spawn}) {
		t.Errorf("connect gave %v", err)
	}
	if m.Connects() != 0 || m.Kind() != transport.HTTP || transport.Origin(m) != m.Key {
		t.Errorf("connects %d, kind %s, origin %s", m.Connects(), m.Kind(), transport.Origin(m))
	}
}
