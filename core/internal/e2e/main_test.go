package e2e

import (
	"os"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
)

func TestMain(m *testing.M) {
	fakeserver.Main()
	os.Exit(m.Run())
}
