package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// S2, field case 50: ids are echoed in value and type.
func TestIDsKeepValueAndType(t *testing.T) {
	for _, text := range []string{`"1"`, `1`, `"a-b"`, `""`, `9007199254740993`, `-1`, `"\u00e9"`, `123456789012345678901234567890`} {
		m, err := Decode([]byte(`{"jsonrpc":"2.0","id":` + text + `,"method":"x"}`))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		out, _ := json.Marshal(Reply(m.ID, json.RawMessage(`{}`)))
		if want := `{"jsonrpc":"2.0","id":` + text + `,"result":{}}`; string(out) != want {
			t.Errorf("got %s, want %s", out, want)
		}
	}
	if IntID(1) == StringID("1") {
		t.Error(`1 and "1" are the same id`)
	}
}

// S2, field case 50: null, fractions, booleans and objects are no ids.
func TestIllegalIDsAreInvalidRequests(t *testing.T) {
	for _, text := range []string{`null`, `1.5`, `true`, `{}`, `[1]`, `1e400`, `1e-3`} {
		_, err := Decode([]byte(`{"jsonrpc":"2.0","id":` + text + `,"method":"x"}`))
		var e *EnvelopeError
		if !errors.As(err, &e) || e.Code != CodeInvalidRequest || !e.HasID {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// Field case 49: lenient only in correlating ids we made.
func TestEquivalentIDs(t *testing.T) {
	one := IntID(1)
	for text, want := range map[string]bool{`1`: true, `"1"`: true, `1.0`: true, `1e0`: true, `"01"`: false, `"1.0"`: false, `2`: false, `" 1"`: false} {
		id, err := ParseID([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := one.Equivalent(id); got != want {
			t.Errorf("1 ~ %s = %v", text, got)
		}
	}
}

// Acceptance 192: other JSON kinds are named, never a crash.
func TestOtherKindsAreNamed(t *testing.T) {
	for text, kind := range map[string]string{`[]`: "batch", `"x"`: "string", `12`: "number", `true`: "boolean", `null`: "null"} {
		_, err := DecodeLenient([]byte(text))
		var e *KindError
		if !errors.As(err, &e) || e.Kind != kind {
			t.Errorf("%s: got %v", text, err)
		}
	}
	for _, text := range []string{``, `[2026-01-01] hello`, `nope`, `{bad json`, `{} {}`, `{"a":1`} {
		_, err := DecodeLenient([]byte(text))
		var s *SyntaxError
		if !errors.As(err, &s) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// Acceptance 193: a present null result is a response, an absent one is not.
func TestNullResultIsAResponse(t *testing.T) {
	m, err := DecodeLenient([]byte(`{"jsonrpc":"2.0","id":1,"result":null}`))
	if err != nil || m.Kind() != Response || string(m.Result) != "null" {
		t.Fatalf("got %+v, %v", m, err)
	}
	if _, err := DecodeLenient([]byte(`{"jsonrpc":"2.0","id":1}`)); err == nil {
		t.Fatal("a message with nothing in it was accepted")
	}
}

// Acceptance 194: no id key in a notification, null id in an unattributable error.
func TestEncoding(t *testing.T) {
	for _, c := range []struct {
		m    *Message
		want string
	}{
		{Notify("n", nil), `{"jsonrpc":"2.0","method":"n"}`},
		{Call(IntID(3), "m", json.RawMessage(`{"a": 1}`)), `{"jsonrpc":"2.0","id":3,"method":"m","params":{"a": 1}}`},
		{Refuse(ID{}, Errorf(CodeParse, "no")), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`},
		{Refuse(IntID(1), &Error{Code: 1, Message: "x", Data: json.RawMessage(`[1]`)}), `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x","data":[1]}}`},
	} {
		if got := string(c.m.Append(nil)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// S2: strict decoding.
func TestStrictDecoding(t *testing.T) {
	for text, code := range map[string]int64{
		`{"jsonrpc":"2.0","id":5,"method":"","params":{}}`:   CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":5,"method":7}`:                CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":5,"method":"x","params":[1]}`: CodeInvalidParams,
		`{"jsonrpc":"2.0","id":5,"Method":"x"}`:              CodeInvalidRequest,
		`{"jsonrpc":"1.0","id":5,"method":"x"}`:              CodeInvalidRequest,
	} {
		_, err := Decode([]byte(text))
		var e *EnvelopeError
		if !errors.As(err, &e) || e.Code != code || e.ID != IntID(5) {
			t.Errorf("%s: got %#v", text, err)
		}
	}
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":5,"id":6,"method":"x"}`,
		`{"jsonrpc":"2.0","id":5,"method":"x","params":{"a":{"b":1,"b":2}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"x","params":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}`,
	} {
		_, err := Decode([]byte(text))
		var s *SyntaxError
		if !errors.As(err, &s) {
			t.Errorf("%.60s: got %v", text, err)
		}
	}
	var many strings.Builder
	for i := range maxMembers {
		fmt.Fprintf(&many, `"x%d":1,`, i)
	}
	if _, err := DecodeLenient([]byte(`{` + many.String() + `"id":5,"method":"x"}`)); err == nil {
		t.Error("an envelope of any size was read")
	}
	m, err := Decode([]byte(`{"jsonrpc":"2.0","id":5,"method":"x","params":null}`))
	if err != nil || m.Params != nil {
		t.Errorf("null params: got %+v, %v", m, err)
	}
}

// Field cases 42, 43: error bodies with a null id, and a code written as a string.
func TestLenientErrors(t *testing.T) {
	m, err := DecodeLenient([]byte(`{"jsonrpc":"2.0","error":{"code":"-32601","message":"x","more":1},"id":null}`))
	if err != nil || m.Error == nil || m.Error.Code != CodeMethodNotFound {
		t.Fatalf("got %+v, %v", m, err)
	}
	if got := string(m.Append(nil)); !strings.Contains(got, `"more":1`) {
		t.Errorf("the error object was not passed on unchanged: %s", got)
	}
}

func TestWithKeepsOtherBytes(t *testing.T) {
	got, err := With(json.RawMessage(`{"z": 1.0, "a" : {"k": 9007199254740993}}`), "_meta", json.RawMessage(`{"x":1}`))
	if err != nil || string(got) != `{"z":1.0,"a":{"k": 9007199254740993},"_meta":{"x":1}}` {
		t.Errorf("got %s, %v", got, err)
	}
	got, _ = With(json.RawMessage(`{"a":1,"b":2}`), "a", json.RawMessage(`3`))
	if string(got) != `{"a":3,"b":2}` {
		t.Errorf("got %s", got)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{}}`, `{"jsonrpc":"2.0","id":"1","result":null}`,
		`{"error":{"code":"-1"},"id":null}`, `[]`, `{"a":"\ud800"}`, `{"id":1e9}`, ` {"method":"n"} `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := Decode(data); err == nil {
			again, err := Decode(m.Append(nil))
			if err != nil || again.ID != m.ID || again.Method != m.Method || again.Kind() != m.Kind() {
				t.Fatalf("%q re-encoded as %q: %v", data, m.Append(nil), err)
			}
		}
		if m, err := DecodeLenient(data); err == nil && m.Kind() == Invalid {
			t.Fatalf("%q decoded to nothing", data)
		}
	})
}
