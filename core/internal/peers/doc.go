// Package peers stands for the foreign implementations of MCP that Drawbridge is
// tested against: servers and a client made with other people's SDKs. They are
// a Go module of their own, so that these SDKs never enter Drawbridge's own
// module graph; the folder npm beside them holds the peers that come from npm.
//
// # The servers
//
// gosdk-server (modelcontextprotocol/go-sdk) and mcpgo-server (mark3labs/mcp-go)
// offer the same tools: echo, fail (answers isError), slow (with progress) and
// ask (one elicitation). Without flags they speak over stdio. With
//
//	-http 127.0.0.1:0 [-stateful]
//
// they serve Streamable HTTP, print "listening on URL" as the first line of
// stdout, and end when stdin ends. The Go SDK is modern when stateless, legacy
// when stateful; mcp-go speaks both eras either way.
//
// # The clients
//
// gosdk-client calls a server, given as a URL or as a command, and prints one
// JSON object: see its own comment. gosdk-bench measures the SDK's client for
// `make bench`.
//
// `make peers` builds them into build/peers; the package core/internal/peerbin is
// how Drawbridge's tests find them.
package peers
