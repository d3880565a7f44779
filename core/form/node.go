package form

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

const (
	maxSchema  = 256 << 10 // bytes of a schema that is read at all
	maxWork    = 4 << 20   // bytes that reading one schema may look at in all
	maxFields  = 256
	maxOptions = 2000
	maxDepth   = 16 // references and wrappers behind each other
)

// node is a JSON object, its members in the order of the bytes. A name that comes
// twice has its last value.
type node struct {
	keys []string
	vals map[string]json.RawMessage
}

func (n *node) set(key string, v json.RawMessage) {
	if _, have := n.vals[key]; !have {
		n.keys = append(n.keys, key)
	}
	n.vals[key] = v
}

func (n *node) has(key string) bool { _, ok := n.vals[key]; return ok }

// str returns a member that is a string, or "".
func (n *node) str(key string) string {
	s, _ := text(n.vals[key])
	return s
}

// num returns a member that is a number as it was written, or "".
func (n *node) num(key string) string {
	if raw := n.vals[key]; numeric(raw) {
		return string(raw)
	}
	return ""
}

// count returns a member that is a natural number, or "".
func (n *node) count(key string) string {
	r, ok := rational(n.num(key))
	if !ok || !r.IsInt() || r.Sign() < 0 {
		return ""
	}
	return r.Num().String()
}

func (n *node) yes(key string) bool { return string(n.vals[key]) == "true" }

// list returns a member that is an array.
func (n *node) list(key string) []json.RawMessage {
	return array(n.vals[key])
}

// object decodes an object; nil when raw is something else.
func object(raw json.RawMessage) *node {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	n := &node{vals: map[string]json.RawMessage{}}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil
		}
		name, ok := key.(string)
		var v json.RawMessage
		if !ok || dec.Decode(&v) != nil {
			return nil
		}
		n.set(name, v)
	}
	if _, err := dec.Token(); err != nil {
		return nil
	}
	return n
}

func array(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// text decodes a JSON string.
func text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

func numeric(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// reader reads one schema and bounds the work it makes.
type reader struct {
	root json.RawMessage
	left int // bytes
}

func (r *reader) object(raw json.RawMessage) *node {
	if r.left -= len(raw); r.left < 0 {
		return nil
	}
	return object(raw)
}

// node decodes a schema and takes off what stands around it: a local reference, a
// single allOf, or an anyOf or oneOf that only adds null. What stands beside such
// a wrapper wins over what is inside. It returns nil for what is no object, for
// references that are not local and for those that go on for ever.
func (r *reader) node(raw json.RawMessage, depth int) *node {
	n := r.object(raw)
	if n == nil || depth > maxDepth {
		return nil
	}
	inner, key := r.inside(n)
	if key == "" {
		return n
	}
	base := r.node(inner, depth+1)
	if base == nil {
		return nil
	}
	for _, k := range n.keys {
		if k != key {
			base.set(k, n.vals[k])
		}
	}
	return base
}

// inside returns the schema that n wraps and the keyword that does it; "" if none.
func (r *reader) inside(n *node) (json.RawMessage, string) {
	if n.has("$ref") {
		return r.local(n.str("$ref")), "$ref"
	}
	if all := n.list("allOf"); len(all) == 1 && !n.has("properties") {
		return all[0], "allOf"
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		alternatives := n.list(key)
		if len(alternatives) != 2 {
			continue
		}
		for i, a := range alternatives {
			if x := r.object(a); x != nil && x.str("type") == "null" && !x.has("title") {
				return alternatives[1-i], key
			}
		}
	}
	return nil, ""
}

// local finds what a reference inside the schema points to; nil when it is another
// kind of reference or points to nothing. Nothing is ever fetched.
func (r *reader) local(ref string) json.RawMessage {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if pointer == "" {
		return r.root
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil || pointer[0] != '/' {
		return nil
	}
	at := r.root
	for step := range strings.SplitSeq(pointer[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if r.left -= len(at); r.left < 0 {
			return nil
		}
		if list := array(at); list != nil {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(list) {
				return nil
			}
			at = list[i]
			continue
		}
		n := object(at)
		if n == nil || !n.has(step) {
			return nil
		}
		at = n.vals[step]
	}
	return at
}
