package transport

import (
	"bytes"
	"encoding/json"
)

// splitBatch returns the members of a JSON array, as they came; false when text is
// not one. Revision 2025-03-26 alone has batches, and wants a client to be able to
// receive them (2025-03-26 basic/index "Batching").
func splitBatch(text []byte) ([]json.RawMessage, bool) {
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '[' {
		return nil, false
	}
	var members []json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return nil, false
	}
	return members, true
}
