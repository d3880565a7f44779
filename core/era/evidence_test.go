package era

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

func rpc(code int64) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: "words of the server"}
}

var (
	dual        = json.RawMessage(`{"resultType":"complete","supportedVersions":["2025-11-25","2026-07-28"],"capabilities":{}}`)
	legacyOnly  = json.RawMessage(`{"supportedVersions":["2024-11-05","2025-11-25","2025-06-18"],"capabilities":{}}`)
	initialized = json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)
)

// E1, E8.
func TestEraOfARevision(t *testing.T) {
	for v, want := range map[mcp.Version]Era{
		"2026-07-28": Modern, "2031-01-01": Modern,
		"2025-11-25": Legacy, "2025-06-18": Legacy, "2024-11-05": Legacy, "2023-01-01": Legacy,
		"": Unknown, "draft": Unknown, "2026-7-28": Unknown,
	} {
		if got := Of(v); got != want {
			t.Errorf("Of(%q) = %v, want %v", v, got, want)
		}
	}
	for e, want := range map[Era]string{Unknown: "unknown", Modern: "modern", Legacy: "legacy"} {
		if e.String() != want {
			t.Errorf("%d is %q, want %q", e, e, want)
		}
	}
}

// Acceptance 1 to 3, E2: the status alone. 400 is doubt here, not health (E3).
func TestStatusAloneIsEvidence(t *testing.T) {
	want := map[int]Evidence{0: None, 100: None, 600: None, 999: None, -1: None}
	for s := 200; s < 300; s++ {
		want[s] = Doubt
	}
	for s := 300; s < 400; s++ {
		want[s] = None
	}
	for s := 400; s < 500; s++ {
		want[s] = Doubt
	}
	for s := 500; s < 600; s++ {
		want[s] = Health
	}
	for _, s := range []int{404, 405, 501} {
		want[s] = Demotes
	}
	for _, s := range []int{401, 403, 408, 429} {
		want[s] = Health
	}
	for s, e := range want {
		if got := Judge(Answer{Status: s}, false); got != e {
			t.Errorf("HTTP %d: %v, want %v", s, got, e)
		}
	}
}

// E2: -32020, -32021, -32022 and -32601 decide under any status, and on stdio.
// Acceptance 4.
func TestDecisiveCodesOutweighAnyStatus(t *testing.T) {
	for _, status := range []int{0, 200, 302, 400, 401, 403, 404, 405, 408, 429, 500, 501, 503} {
		for code, want := range map[int64]Evidence{-32020: ProvesModern, -32021: ProvesModern, -32022: ProvesModern, -32601: Demotes} {
			for _, stdio := range []bool{false, true} {
				if got := Judge(Answer{Status: status, Error: rpc(code)}, stdio); got != want {
					t.Errorf("%d under HTTP %d, stdio %v: %v, want %v", code, status, stdio, got, want)
				}
			}
		}
	}
}

// E2, E3, field cases 42 and 43: any other code leads to initialize, never to a
// verdict by itself, unless the status is a plain refusal.
func TestOtherCodesAreDoubtOnHTTP(t *testing.T) {
	for _, code := range []int64{-32602, -32603, -32600, -32000, -32001, -32700, -31090, 0, 7} {
		for _, status := range []int{0, 200, 202, 400, 404, 405, 406, 422, 500, 501} {
			if got := Judge(Answer{Status: status, Error: rpc(code)}, false); got != Doubt {
				t.Errorf("%d under HTTP %d: %v, want doubt", code, status, got)
			}
		}
		for _, status := range []int{401, 403, 408, 429, 502, 503, 504} {
			if got := Judge(Answer{Status: status, Error: rpc(code)}, false); got != Health {
				t.Errorf("%d under HTTP %d: %v, want health", code, status, got)
			}
		}
		if got := Judge(Answer{Status: 307, Error: rpc(code)}, false); got != None {
			t.Errorf("%d under a redirect: %v, want none", code, got)
		}
	}
}

// E2: a DiscoverResult is modern evidence; whatever else comes as a result is not.
func TestOnlyADiscoverResultProvesModern(t *testing.T) {
	for _, raw := range []json.RawMessage{dual, legacyOnly, json.RawMessage(`{"supportedVersions":["2031-01-01"]}`)} {
		if got := Judge(Answer{Status: 200, Result: raw}, false); got != ProvesModern {
			t.Errorf("HTTP %s: %v", raw, got)
		}
		if got := Judge(Answer{Result: raw}, true); got != ProvesModern {
			t.Errorf("stdio %s: %v", raw, got)
		}
	}
	for _, text := range []string{`{}`, `null`, `"x"`, `[]`, `{"supportedVersions":[]}`, `{"supportedVersions":"2026-07-28"}`, `{"tools":[]}`, string(initialized)} {
		raw := json.RawMessage(text)
		if got := Judge(Answer{Status: 200, Result: raw}, false); got != Doubt {
			t.Errorf("HTTP %s: %v, want doubt", text, got)
		}
		if got := Judge(Answer{Result: raw}, true); got != Demotes {
			t.Errorf("stdio %s: %v, want demotes", text, got)
		}
	}
	for status, want := range map[int]Evidence{401: Health, 404: Demotes, 400: Doubt, 302: None} {
		if got := Judge(Answer{Status: status, Result: dual}, false); got != want {
			t.Errorf("a DiscoverResult under HTTP %d: %v, want %v", status, got, want)
		}
	}
	if got := Judge(Answer{Status: 200, Result: dual, Error: rpc(-32000)}, false); got != Doubt {
		t.Errorf("result and error at once: %v, want doubt", got)
	}
}

// E5, field cases 42, 44 and 45: stdio "Backward Compatibility".
func TestOnAPipeWhateverIsNotModernIsLegacy(t *testing.T) {
	for name, c := range map[string]struct {
		a    Answer
		want Evidence
	}{
		"silence":                   {Answer{Silent: true}, Demotes},
		"exit":                      {Answer{Exited: true}, Demotes},
		"-32602":                    {Answer{Error: rpc(-32602)}, Demotes},
		"-32600":                    {Answer{Error: rpc(-32600)}, Demotes},
		"-32603":                    {Answer{Error: rpc(-32603)}, Demotes},
		"-32000":                    {Answer{Error: rpc(-32000)}, Demotes},
		"answered and then exited":  {Answer{Exited: true, Result: dual}, ProvesModern},
		"answered after the time":   {Answer{Silent: true, Result: dual}, ProvesModern},
		"modern error, then exited": {Answer{Exited: true, Error: rpc(-32022)}, ProvesModern},
		"could not be started":      {Answer{Failed: true}, None},
		"nothing seen yet":          {Answer{}, None},
	} {
		if got := Judge(c.a, true); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// E2: connect, TLS and size errors are no evidence, whatever else was seen.
func TestNoAnswerIsNoEvidence(t *testing.T) {
	for _, stdio := range []bool{false, true} {
		for _, a := range []Answer{{Failed: true}, {Failed: true, Status: 404}, {Failed: true, Error: rpc(-32601)}, {Failed: true, Result: dual}} {
			if got := Judge(a, stdio); got != None {
				t.Errorf("%+v: %v, want none", a, got)
			}
		}
	}
	if got := Judge(Answer{Silent: true}, false); got != None {
		t.Errorf("silence on HTTP: %v, want none", got)
	}
}

// Acceptance 5, C8.
func TestUnhealthyStatus(t *testing.T) {
	for s, want := range map[int]bool{
		400: true, 401: true, 403: true, 408: true, 429: true, 500: true, 501: true, 503: true,
		200: false, 204: false, 302: false, 404: false, 405: false, 422: false, 0: false,
	} {
		if Unhealthy(s) != want {
			t.Errorf("Unhealthy(%d) = %v", s, !want)
		}
	}
}

func TestEvidenceHasAName(t *testing.T) {
	for e, want := range map[Evidence]string{None: "none", ProvesModern: "modern", Demotes: "demotes", Health: "health", Doubt: "doubt"} {
		if e.String() != want {
			t.Errorf("%d is %q, want %q", e, e, want)
		}
	}
}

// E1, E2, E8: what follows from modern evidence.
func TestNextVersion(t *testing.T) {
	unsupported := func(data string) Answer {
		return Answer{Status: 400, Error: &jsonrpc.Error{Code: -32022, Data: json.RawMessage(data)}}
	}
	for name, c := range map[string]struct {
		a         Answer
		v         mcp.Version
		handshake bool
		theirs    []mcp.Version
		ok        bool
	}{
		"modern among others": {Answer{Result: dual}, mcp.V20260728, false, []mcp.Version{"2025-11-25", "2026-07-28"}, true},
		"legacy only":         {Answer{Status: 200, Result: legacyOnly}, mcp.V20251125, true, []mcp.Version{"2024-11-05", "2025-11-25", "2025-06-18"}, true},
		"none in common":      {Answer{Result: json.RawMessage(`{"supportedVersions":["2031-01-01","2020-01-01"]}`)}, "", false, []mcp.Version{"2031-01-01", "2020-01-01"}, false},
		"no revision at all":  {Answer{Result: json.RawMessage(`{"supportedVersions":["\u001b[31mdraft"]}`)}, "", false, nil, false},
		"header mismatch":     {Answer{Status: 400, Error: rpc(-32020)}, mcp.Latest, false, nil, true},
		"missing capability":  {Answer{Status: 400, Error: rpc(-32021)}, mcp.Latest, false, nil, true},

		"unsupported, dual":           {unsupported(`{"supported":["2026-07-28","2025-11-25"],"requested":"1900-01-01"}`), mcp.V20260728, false, []mcp.Version{"2026-07-28", "2025-11-25"}, true},
		"unsupported, legacy":         {unsupported(`{"supported":["2025-06-18","2025-03-26"]}`), mcp.V20250618, true, []mcp.Version{"2025-06-18", "2025-03-26"}, true},
		"unsupported, odd elements":   {unsupported(`{"supported":[null,7,{},"2025-06-18"]}`), mcp.V20250618, true, []mcp.Version{"2025-06-18"}, true},
		"unsupported, newer only":     {unsupported(`{"supported":["2031-01-01"]}`), "", false, []mcp.Version{"2031-01-01"}, false},
		"unsupported, without a list": {unsupported(`{}`), "", false, nil, false},
		"unsupported, without data":   {Answer{Error: rpc(-32022)}, "", false, nil, false},

		"no modern evidence":       {Answer{Status: 400, Error: rpc(-32000)}, "", false, nil, false},
		"no answer":                {Answer{Failed: true, Error: rpc(-32020)}, "", false, nil, false},
		"a list under a refusal":   {Answer{Status: 401, Result: dual}, "", false, nil, false},
		"a silent or empty answer": {Answer{Silent: true}, "", false, nil, false},
	} {
		v, handshake, theirs, ok := Next(c.a)
		if v != c.v || handshake != c.handshake || !slices.Equal(theirs, c.theirs) || ok != c.ok {
			t.Errorf("%s: %q, handshake %v, %q, ok %v", name, v, handshake, theirs, ok)
		}
	}
}

// T6, E1: what a server lists is bounded before it can stand in an error.
func TestTheirVersionsAreBounded(t *testing.T) {
	var d mcp.DiscoverResult
	for i := range 5000 {
		d.SupportedVersions = append(d.SupportedVersions, mcp.Version(fmt.Sprintf("%04d-01-01", i)))
	}
	d.SupportedVersions = append(d.SupportedVersions, mcp.V20241105)
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	v, handshake, theirs, ok := Next(Answer{Result: raw})
	if v != mcp.V20241105 || !handshake || !ok || len(theirs) != maxTheirs {
		t.Errorf("%q, handshake %v, %d listed, ok %v", v, handshake, len(theirs), ok)
	}
}

// E9, T6: the record says what was seen in a closed vocabulary.
func TestRecordKeepsTheEvidence(t *testing.T) {
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		method string
		a      Answer
		stdio  bool
		want   string
	}{
		{mcp.MethodDiscover, Answer{Status: 200, Result: dual}, false, "server/discover → 200: " + ModernVersions},
		{mcp.MethodDiscover, Answer{Status: 200, Result: legacyOnly}, false, "server/discover → 200: " + LegacyVersions},
		{mcp.MethodDiscover, Answer{Status: 400, Error: rpc(-32000)}, false, "server/discover → 400, error -32000: " + OtherError},
		{mcp.MethodDiscover, Answer{Status: 400, Error: rpc(-32022)}, false, "server/discover → 400, error -32022: " + ModernError},
		{mcp.MethodDiscover, Answer{Status: 400}, false, "server/discover → 400: " + OtherStatus},
		{mcp.MethodDiscover, Answer{Status: 404}, false, "server/discover → 404: " + NoSuchEndpoint},
		{mcp.MethodDiscover, Answer{Status: 401}, false, "server/discover → 401: " + SignInRequired},
		{mcp.MethodDiscover, Answer{Status: 429}, false, "server/discover → 429: " + TooBusy},
		{mcp.MethodDiscover, Answer{Status: 503}, false, "server/discover → 503: " + ServerError},
		{mcp.MethodDiscover, Answer{Status: 302}, false, "server/discover → 302: " + Redirect},
		{mcp.MethodDiscover, Answer{Status: 204}, false, "server/discover → 204: " + OtherResult},
		{mcp.MethodDiscover, Answer{Failed: true}, false, "server/discover: " + NoAnswer},
		{mcp.MethodDiscover, Answer{Error: rpc(-32601)}, true, "server/discover → error -32601: " + MethodNotFound},
		{mcp.MethodDiscover, Answer{Silent: true}, true, "server/discover: " + NoAnswerInTime},
		{mcp.MethodDiscover, Answer{Exited: true}, true, "server/discover: " + ProcessExited},
		{mcp.MethodInitialize, Answer{Status: 200, Result: initialized}, false, "initialize → 200: " + Initialized},
		{mcp.MethodInitialize, Answer{Status: 200, Result: json.RawMessage(`{}`)}, false, "initialize → 200: " + NotInitialized},
		{mcp.MethodInitialize, Answer{Error: rpc(-32602)}, true, "initialize → error -32602: " + NotInitialized},
	} {
		r := Observe(c.method, c.a, c.stdio, at)
		if r.String() != c.want || !r.At.Equal(at) || r.Method != c.method || r.Status != c.a.Status || r.HasCode != (c.a.Error != nil) {
			t.Errorf("got %q (%+v), want %q", r, r, c.want)
		}
	}
	if got := (Record{Summary: KeptFromEarlier}).String(); got != KeptFromEarlier {
		t.Errorf("got %q", got)
	}
	if got := (Record{Method: "x"}).String(); got != "x" {
		t.Errorf("got %q", got)
	}
}

// Judge and Next over whatever a server may send.
func FuzzJudge(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"result":` + string(dual) + `}`,
		`{"jsonrpc":"2.0","id":1,"result":` + string(legacyOnly) + `}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Mcp-Session-Id header is required"}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":"-32601","message":"no"}}`,
		`{"jsonrpc":"2.0","error":{"code":-32022,"message":"","data":{"supported":["2025-11-25",3],"requested":"x"}}}`,
		`{"jsonrpc":"2.0","error":{"code":-32022,"data":[]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["` + "\u202e" + `"]}}`,
		`{"error":7,"result":null}`,
	} {
		f.Add([]byte(body), http.StatusOK, false)
		f.Add([]byte(body), http.StatusBadRequest, false)
		f.Add([]byte(body), 0, true)
	}
	f.Fuzz(func(t *testing.T, body []byte, status int, stdio bool) {
		m, err := jsonrpc.DecodeLenient(body)
		if err != nil {
			return
		}
		a := Answer{Status: status, Result: m.Result, Error: m.Error}
		e := Judge(a, stdio)
		if again := Judge(a, stdio); again != e {
			t.Fatalf("%v, then %v", e, again)
		}
		v, handshake, theirs, ok := Next(a)
		switch {
		case e != ProvesModern && (ok || theirs != nil):
			t.Errorf("%v, and yet Next gives %q", e, v)
		case ok && !v.Supported():
			t.Errorf("Next chose %q", v)
		case handshake != (Of(v) == Legacy):
			t.Errorf("handshake %v with %q", handshake, v)
		case len(theirs) > maxTheirs:
			t.Errorf("%d versions", len(theirs))
		}
		for _, v := range theirs {
			if !v.Valid() {
				t.Errorf("%q is no revision", v)
			}
		}
		if (e == Health || e == Doubt) && stdio {
			t.Errorf("%v on stdio", e)
		}
	})
}
