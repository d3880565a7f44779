package transport_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
)

func TestMain(m *testing.M) {
	// This binary is also the servers that the stdio tests start.
	fakeserver.Main()
	if len(os.Args) > 1 && os.Args[1] == childMarker {
		os.Exit(child(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}
