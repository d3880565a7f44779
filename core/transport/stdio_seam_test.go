package transport_test

import (
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

func TestStdioSeam(t *testing.T) {
	transporttest.Run(t, transporttest.Binding{
		Dialer: func(t *testing.T, gate transport.Gate) transport.Dialer {
			command, args := childCommand(t, "suite")
			return transport.NewStdio(transport.StdioConfig{
				Command: command, Args: args, Env: []string{quickExit}, Gate: gate,
				Limits: transport.Limits{MaxBytes: suiteMaxBytes},
				Log:    func(source, line string) { t.Logf("%s: %s", source, line) },
			})
		},
		Version:   mcp.V20251125,
		DeathEnds: transport.Exited,
	})
}
