// Package gateway puts the servers that a person configured behind one MCP server:
// AI clients connect to it, and it calls the servers through their sessions.
package gateway
