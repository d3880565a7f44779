// Package gateway puts the servers that a person configured behind one MCP server:
// AI clients connect to it, and it calls the servers through their sessions.
//
// # Views
//
// What one client sees at one endpoint is a view: a server machine of its own, whose
// registry follows the lists of the upstreams that the client may use. At /mcp all of
// them are offered, under the names of [ExposedName]; at /mcp/{server} one of them,
// untouched. A view is made when its client first asks, and answers from what the
// sessions hold; no request waits for a slow server (G2).
//
// # Relaying
//
// A call is sent with the client's own bytes and answered with the upstream's (G3).
// What the upstream asks for meanwhile is answered by the person, or by the client
// where the person chose so, whatever the eras of the two sides (G4); see bridge.
package gateway
