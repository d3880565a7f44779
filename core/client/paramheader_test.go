package client

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// Field case 55; streamable-http "Schema Extension".
func TestParamHeaderAnnotations(t *testing.T) {
	for schema, ok := range map[string]bool{
		`{"properties":{"r":{"type":"string","x-mcp-header":"Region"}}}`:                                                                       true,
		`{"properties":{"a":{"type":"object","properties":{"b":{"type":"object","properties":{"c":{"type":"integer","x-mcp-header":"C"}}}}}}}`: true,
		`{"properties":{"x-mcp-header":{"type":"string"}}}`:                                                                                    true, // a parameter of that name
		`{"properties":{"a":{"type":"string","default":{"x-mcp-header":"X Y"}}}}`:                                                              true,
		`{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`:                                                   false,
		`{"$defs":{"d":{"type":"string","x-mcp-header":"D"}},"properties":{"a":{"$ref":"#/$defs/d"}}}`:                                         false,
		`{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`:                                                                false,
		`{"properties":{"a":{"type":"string","x-mcp-header":"X Y"}}}`:                                                                          false,
		`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`:                                                                             false,
		`{"properties":{"a":{"type":"string","x-mcp-header":"a\r\nb"}}}`:                                                                       false,
		`{"properties":{"a":{"type":"string","x-mcp-header":7}}}`:                                                                              false,
		`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`:                                                                            false,
		`{"properties":{"a":{"x-mcp-header":"A"}}}`:                                                                                            false,
		`{"properties":{"a":{"type":"string","x-mcp-header":"r"},"b":{"type":"string","x-mcp-header":"R"}}}`:                                   false,
		`{"x-mcp-header":"Root","type":"string"}`:                                                                                              false,
	} {
		_, err := paramHeadersOf(json.RawMessage(schema))
		if (err == nil) != ok {
			t.Errorf("%s: got %v", schema, err)
		}
	}
}

// Field case 55: values as the encoding table has them, absent and null omitted.
func TestParamHeaderValues(t *testing.T) {
	for args, want := range map[string]string{
		`{"a":"us-west1"}`:       "us-west1",
		`{"a":""}`:               "",
		`{"a":42}`:               "42",
		`{"a":42.0}`:             "42",
		`{"a":9007199254740993}`: "9007199254740993",
		`{"a":true}`:             "true",
		`{"a":"\u4e16"}`:         "世",
		`{"a":null}`:             "-",
		`{}`:                     "-",
		`null`:                   "-",
	} {
		v, ok := headerValue(json.RawMessage(args), []string{"a"})
		if !ok {
			v = "-"
		}
		if v != want {
			t.Errorf("%s: got %q, want %q", args, v, want)
		}
	}
}

// C3, field case 55: over HTTP a call mirrors its parameters, an invalid annotation
// excludes that tool alone, and a header mismatch refreshes the list and tries once
// more. Over stdio annotations are ignored.
func TestMirroredHeaders(t *testing.T) {
	for _, kind := range []transport.Kind{transport.HTTP, transport.Stdio} {
		synctest.Test(t, func(t *testing.T) {
			lists, calls := 0, 0
			p := &peer{kind: kind}
			p.answer = func(c *peerConn, id int64, r transport.Request) {
				switch r.Method {
				case mcp.MethodToolsList:
					lists++
					name := map[bool]string{true: "Old", false: "Region"}[lists == 1]
					c.result(id, `{"tools":[{"name":"q","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"`+name+`"}}}},{"name":"bad","inputSchema":{"type":"object","properties":{"r":{"type":"number","x-mcp-header":"N"}}}}]}`)
				case mcp.MethodToolsCall:
					calls++
					if kind == transport.HTTP && calls == 1 {
						c.refuse(id, mcp.CodeHeaderMismatch, "x")
						return
					}
					if kind == transport.HTTP && (r.Name != "q" || len(r.ParamHeaders) != 1 || r.ParamHeaders[0] != transport.Header{Name: "Mcp-Param-Region", Value: "eu"}) {
						t.Errorf("sent %+v", r)
					}
					c.result(id, `{"content":[]}`)
				default:
					modern(done)(c, id, r)
				}
			}
			s := start(t, p)
			synctest.Wait()
			if _, err := s.CallTool(background, "q", json.RawMessage(`{"r":"eu"}`), nil); err != nil {
				t.Error(err)
			}
			if invalid := s.Tools()[1].Invalid != ""; invalid != (kind == transport.HTTP) {
				t.Errorf("%s: %+v", kind, s.Tools()[1])
			}
		})
	}
}
