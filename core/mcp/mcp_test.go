package mcp

import (
	"errors"
	"testing"
)

// E1, E8: revisions compare as dates.
func TestVersions(t *testing.T) {
	for v, modern := range map[Version]bool{"2026-07-28": true, "2027-01-01": true, "2025-11-25": false, "2024-11-05": false, "draft": false, "": false} {
		if v.Modern() != modern {
			t.Errorf("%q.Modern() = %v", v, !modern)
		}
	}
	if v, ok := Choose([]Version{"2030-01-01", "2025-06-18", "2025-11-25"}); !ok || v != V20251125 {
		t.Errorf("chose %q, %v", v, ok)
	}
	if _, ok := Choose([]Version{"1999-01-01"}); ok {
		t.Error("chose a version we do not speak")
	}
}

// Field case 48: odd capability types are tolerated.
func TestCapabilitiesTolerateOddTypes(t *testing.T) {
	r, ok := ParseInitializeResult([]byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":true,"prompts":null,"resources":{"subscribe":true}},"serverInfo":7}`))
	if !ok || !r.Capabilities.Has("tools") || r.Capabilities.Has("prompts") || !r.Capabilities.HasSub("resources", "subscribe") || r.Capabilities.HasSub("tools", "listChanged") {
		t.Errorf("got %+v, %v", r, ok)
	}
}

// E3: only a valid InitializeResult proves legacy, only a DiscoverResult modern.
func TestOtherResultsProveNothing(t *testing.T) {
	for _, raw := range []string{`"x"`, `{}`, `{"protocolVersion":1}`, `null`, `{"ok":true}`} {
		if _, ok := ParseInitializeResult([]byte(raw)); ok {
			t.Errorf("%s passed for an InitializeResult", raw)
		}
		if _, ok := ParseDiscoverResult([]byte(raw)); ok {
			t.Errorf("%s passed for a DiscoverResult", raw)
		}
	}
}

// Field case 52: odd definitions are kept and marked; without a name a tool is unusable.
func TestOddTools(t *testing.T) {
	for raw, odd := range map[string]bool{
		`{"name":"a","inputSchema":{"type":"object"}}`: false,
		`{"name":"a"}`:                                                                             true,
		`{"name":"a","inputSchema":null}`:                                                          true,
		`{"name":"a","inputSchema":{}}`:                                                            true,
		`{"name":"a","inputSchema":true}`:                                                          true,
		`{"name":"a","inputSchema":{"anyOf":[{"type":"object"}]}}`:                                 true,
		`{"name":"a","inputSchema":{"type":"string"}}`:                                             true,
		`{"name":"a","inputSchema":{"type":"object","properties":[]}}`:                             true,
		`{"name":"a","inputSchema":{"type":"object","properties":{"required":["coin"]}}}`:          true,
		`{"name":"a","inputSchema":{"type":"object"},"description":null,"annotations":"nonsense"}`: false,
	} {
		tool, err := ParseTool([]byte(raw))
		if err != nil || (tool.Oddity != "") != odd || string(tool.Raw) != raw {
			t.Errorf("%s: got %+v, %v", raw, tool, err)
		}
	}
	for _, raw := range []string{`{"inputSchema":{}}`, `{"name":7}`, `{"name":""}`} {
		if _, err := ParseTool([]byte(raw)); !errors.Is(err, ErrNoName) {
			t.Errorf("%s: got %v", raw, err)
		}
	}
}
