package hub

import (
	"context"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Acceptance 16 and 18, E4, E7: two servers of one address share the hub's verdict,
// and a spec's "eraTtl" of zero asks anew each time.
func TestVerdictOfAnAddressIsShared(t *testing.T) {
	for ttl, probes := range map[string]int{"": 1, "0s": 2} {
		srv := fakeserver.StartHTTP(t, fakeserver.HTTP{})
		spec := func() entry {
			e := entry{"url": srv.URL}
			if ttl != "" {
				e["drawbridge"] = map[string]string{"eraTtl": ttl}
			}
			return e
		}
		r := newRig(t, map[string]entry{"a": spec()})
		r.server("a", Ready)
		r.write(map[string]entry{"a": spec(), "b": spec()})
		if v := r.server("b", Ready); !v.Era.Legacy {
			t.Errorf("eraTtl %q: era %+v", ttl, v.Era)
		}
		if n := srv.Count(mcp.MethodDiscover); n != probes {
			t.Errorf("eraTtl %q: %d probes, want %d", ttl, n, probes)
		}
		if _, err := r.Call(context.Background(), "b", "echo", []byte(`{"text":"x"}`), nil); err != nil {
			t.Error(err)
		}
	}
}
