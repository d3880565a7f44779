package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// headerParam is one argument that clients mirror into a header
// (streamable-http "Custom Headers from Tool Parameters").
type headerParam struct {
	header string   // canonical, Mcp-Param- included
	path   []string // the chain of properties to the argument
}

// maxHeaderDepth bounds the search for annotations in a schema.
const maxHeaderDepth = 16

// headerParams finds the x-mcp-header annotations that are statically reachable in
// an input schema. A schema with an annotation that no client may use has none:
// clients exclude the tool or ignore them, so nothing can be expected of them.
func headerParams(schema json.RawMessage) []headerParam {
	var found []headerParam
	seen := map[string]bool{}
	valid := true
	var walk func(raw json.RawMessage, path []string)
	walk = func(raw json.RawMessage, path []string) {
		if len(path) > maxHeaderDepth {
			return
		}
		for name, sub := range fieldsOf(fieldsOf(raw)["properties"]) {
			here := append(path[:len(path):len(path)], name)
			fields := fieldsOf(sub)
			if note, ok := fields["x-mcp-header"]; ok {
				var suffix, typ string
				_ = json.Unmarshal(note, &suffix)
				_ = json.Unmarshal(fields["type"], &typ)
				lower := strings.ToLower(suffix)
				if !isToken(suffix) || seen[lower] || (typ != "string" && typ != "integer" && typ != "boolean") {
					valid = false
				}
				seen[lower] = true
				found = append(found, headerParam{http.CanonicalHeaderKey(mcp.HeaderParamPrefix + suffix), here})
			}
			walk(sub, here)
		}
	}
	walk(schema, nil)
	if !valid {
		return nil
	}
	return found
}

// isToken reports whether s is 1*tchar of RFC 9110.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

func mismatch(format string, args ...any) *jsonrpc.Error {
	return jsonrpc.Errorf(mcp.CodeHeaderMismatch, "Header mismatch: "+format, args...)
}

// checkVersionHeader compares the version of a modern request with its header.
func checkVersionHeader(h http.Header, v mcp.Version) *jsonrpc.Error {
	if got, ok := single(h, mcp.HeaderVersion); !ok || got != string(v) {
		return mismatch("%s does not match params._meta", mcp.HeaderVersion)
	}
	return nil
}

// checkHeaders compares the other mirrored headers of a modern request with its
// body (streamable-http "Server Validation"). Values are never echoed.
func checkHeaders(h http.Header, m *jsonrpc.Message, params map[string]json.RawMessage, r *Registry) *jsonrpc.Error {
	if got, ok := single(h, mcp.HeaderMethod); !ok || got != m.Method {
		return mismatch("%s does not match the method", mcp.HeaderMethod)
	}
	member := mcp.TargetParam(m.Method)
	if member == "" {
		return nil
	}
	var want string
	_ = json.Unmarshal(params[member], &want)
	raw, ok := single(h, mcp.HeaderName)
	got, valid := decodeHeader(raw)
	if !ok || !valid || got != want {
		return mismatch("%s does not match params.%s", mcp.HeaderName, member)
	}
	if m.Method != mcp.MethodToolsCall {
		return nil
	}
	tool, ok := r.tool(want)
	if !ok {
		return nil
	}
	for _, p := range tool.headers {
		value := params["arguments"]
		for _, step := range p.path {
			value = fieldsOf(value)[step]
		}
		if !mirrors(h, p.header, value) {
			return mismatch("%s does not match the argument", p.header)
		}
	}
	return nil
}

// mirrors reports whether a header says what the argument says: nothing for an
// absent or null one.
func mirrors(h http.Header, header string, value json.RawMessage) bool {
	raw, present := single(h, header)
	if value == nil || bytes.Equal(value, []byte("null")) {
		return len(h[header]) == 0
	}
	got, valid := decodeHeader(raw)
	if !present || !valid {
		return false
	}
	if value[0] == '"' {
		var want string
		return json.Unmarshal(value, &want) == nil && got == want
	}
	if got == string(value) {
		return true
	}
	// Numbers compare as numbers: 42.0 and 42 are equal.
	a, okA := number(got)
	b, okB := number(string(value))
	return okA && okB && a.Cmp(b) == 0
}

// number reads a decimal number of sane size; a few bytes of exponent must not
// stand for gigabytes of digits.
func number(s string) (*big.Rat, bool) {
	if len(s) > 64 || strings.ContainsAny(s, "eE/xX_") {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// decodeHeader undoes the Base64 sentinel (streamable-http "Value Encoding"); false
// when what it wraps is no Base64 of UTF-8 text.
func decodeHeader(v string) (string, bool) {
	inner, ok := strings.CutPrefix(v, "=?base64?")
	if !ok || !strings.HasSuffix(inner, "?=") {
		for _, c := range []byte(v) {
			if (c < 0x20 && c != '\t') || c > 0x7e {
				return "", false
			}
		}
		return v, true
	}
	b, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSuffix(inner, "?="))
	return string(b), err == nil
}

// single returns a header that was given exactly once, surrounding white space
// removed (RFC 9110 5.5).
func single(h http.Header, name string) (string, bool) {
	vs := h[http.CanonicalHeaderKey(name)]
	if len(vs) != 1 {
		return "", false
	}
	return strings.Trim(vs[0], " \t"), true
}
