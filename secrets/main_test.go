package secrets

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests, or, inside a private D-Bus session that a test has
// started, one scenario.
func TestMain(m *testing.M) {
	if name := os.Getenv(scenarioVariable); name != "" {
		os.Exit(runScenario(name))
	}
	goleak.VerifyTestMain(m)
}
