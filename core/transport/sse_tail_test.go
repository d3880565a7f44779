package transport_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// Acceptance 69 and 71, T11: what stands behind the last whole event is an event if
// it has data, and nothing if it has none.
func TestTailOfAStream(t *testing.T) {
	for tail, want := range map[string][]string{
		"":                    {"a"},
		": bye":               {"a"},
		": bye\n":             {"a"},
		": bye\r\n\r\n":       {"a"},
		"event: ping\nid: 7":  {"a"},
		"retry: 10\n":         {"a"},
		"data: b":             {"a", "b"},
		": bye\ndata: b\n: c": {"a", "b"},
		"data":                {"a"},
		"data: b\ndata: c\r":  {"a", "b\nc"},
	} {
		for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
			events, _, _ := transport.ReadEventsForTest(strings.NewReader("data: a"+end+tail), plenty)
			var got []string
			for _, e := range events {
				got = append(got, e.Data)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q after %q: got %q, want %q", tail, end, got, want)
			}
		}
	}
}
