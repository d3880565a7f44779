package soak

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
)

func TestMain(m *testing.M) {
	// This binary is also the servers.
	fakeserver.Main()
	if len(os.Args) > 1 && os.Args[1] == serverMarker {
		os.Exit(serve(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}
