// Package mcp is the vocabulary of the Model Context Protocol: versions, method
// names, error codes, header and _meta names, and the few shapes that Drawbridge
// reads. Everything it does not act on stays raw JSON, so that unknown fields
// pass through (rule G3). It does no I/O.
package mcp
