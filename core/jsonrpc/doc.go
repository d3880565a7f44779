// Package jsonrpc is the JSON-RPC 2.0 envelope as MCP uses it: one message, its
// id of any legal kind, and strict, bounded decoding.
//
// # Raw JSON travels as bytes
//
// Only the envelope is decoded. Params, results and error data stay the bytes
// that came in, so that what is shown to a person, approved, logged and sent on
// is one parse and one byte slice (house rule "raw JSON travels as bytes").
//
// # Two strictnesses
//
// [Decode] is for peers we serve: member names are case-sensitive, a duplicate
// name anywhere is an error, an id is a string or an integer (S2). [DecodeLenient]
// is for servers we are a client of: it tolerates what deployed servers send
// (null ids in errors, duplicate names inside a result, lone surrogates, an error
// code written as a string) and leaves correlation to the caller, who may use
// [ID.Equivalent].
//
// The package knows no method names and no MCP.
package jsonrpc
