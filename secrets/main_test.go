package secrets

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// scenarios runs a scenario in this process instead of the tests, where the
// environment names one. Files of systems that have scenarios set it.
var scenarios func() (code int, ran bool)

func TestMain(m *testing.M) {
	if scenarios != nil {
		if code, ran := scenarios(); ran {
			os.Exit(code)
		}
	}
	goleak.VerifyTestMain(m)
}
