// Package transporttest proves the sentences of core/transport's seam over every
// binding, and has a binding in memory for tests of what lies above the seam.
//
// # The suite
//
// A binding's test hosts [Server] behind its own wire and calls [Run]:
//
//	func TestSeam(t *testing.T) {
//		transporttest.Run(t, transporttest.Binding{
//			Dialer:  func(t *testing.T, gate transport.Gate) transport.Dialer { … },
//			Version: mcp.V20251125,
//			Streams: true,
//		})
//	}
//
// The host decodes what arrives, intercepts [MethodFail] and [MethodDie] (what
// those mean is the wire's business), and gives the rest to [Server.Handle].
//
// # The memory binding
//
// [NewMemory] gives a dialer whose server is a Go function. It uses nothing but
// channels and timers and therefore works inside testing/synctest.
package transporttest
