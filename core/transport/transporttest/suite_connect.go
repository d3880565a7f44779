package transporttest

import (
	"context"
	"errors"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// T3.
func gateIsAsked(t *testing.T, b Binding) {
	secret := errors.New("gate says: token 12345")
	d := b.Dialer(t, func() error { return secret })
	conn, err := d.Connect(t.Context(), new(Recorder))
	var e *transport.Error
	if !errors.As(err, &e) || e.Code != transport.Blocked || e.Reason != "source" {
		t.Errorf("connect gave %v, want blocked (source)", err)
	}
	if conn != nil {
		t.Errorf("a blocked connect gave a connection")
		conn.Close()
	}
	if err != nil && err.Error() != "blocked (source)" {
		t.Errorf("the error shows %q", err)
	}

	asked := 0
	d = b.Dialer(t, func() error { asked++; return nil })
	for want := 1; want <= 2; want++ {
		dial(t, b, d, new(Recorder)).Close()
		if asked != want {
			t.Errorf("after %d connects the gate was asked %d times", want, asked)
		}
	}
}

func connectsAreIndependent(t *testing.T, b Binding) {
	d := b.Dialer(t, allow)
	kind := d.Kind()
	var r1, r2 Recorder
	c1, c2 := dial(t, b, d, &r1), dial(t, b, d, &r2)
	call(t, c1, &r1, 1, MethodEcho, `{"of":1}`)
	call(t, c2, &r2, 1, MethodEcho, `{"of":2}`)
	c1.Close()
	call(t, c2, &r2, 2, MethodEcho, `{}`)
	if len(r1.Events()) != 1 || len(r2.Events()) != 2 {
		t.Errorf("the connections saw %v and %v", r1.Events(), r2.Events())
	}
	if d.Kind() != kind {
		t.Errorf("kind changed from %s to %s", kind, d.Kind())
	}
}

func connectHeedsItsContext(t *testing.T, b Binding) {
	d := b.Dialer(t, allow)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if conn, err := d.Connect(ctx, new(Recorder)); err == nil {
		conn.Close()
		t.Error("connect succeeded with a context that is done")
	}

	// The context bounds Connect alone.
	ctx, cancel = context.WithCancel(t.Context())
	var r Recorder
	conn, err := d.Connect(ctx, &r)
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Adopt(b.Version)
	call(t, conn, &r, 1, MethodEcho, `{}`)
}
