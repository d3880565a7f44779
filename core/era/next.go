package era

import (
	"encoding/json"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// maxTheirs bounds the peer's versions that Next passes on.
const maxTheirs = 32

// Next says what follows from modern evidence: the version to use, and whether it
// needs the handshake. A DiscoverResult or a -32022 chooses the newest version both
// speak; when the server lists only legacy ones (the Go SDK's stateful handler
// does), that is a handshake. After -32020 and -32021 the request is corrected and
// the version we offered, [mcp.Latest], stays (E2).
//
// theirs are the versions that the server listed, bounded, and only those with the
// form of a revision, so that they may stand in an error (E1). ok is false when
// there is no common version, or when the answer is no modern evidence.
func Next(a Answer) (v mcp.Version, handshake bool, theirs []mcp.Version, ok bool) {
	if d, found := discovered(a); found {
		return choose(d.SupportedVersions)
	}
	if a.Failed || a.Error == nil {
		return "", false, nil, false
	}
	switch a.Error.Code {
	case mcp.CodeHeaderMismatch, mcp.CodeMissingCapability:
		return mcp.Latest, false, nil, true
	case mcp.CodeUnsupportedVersion:
		var data struct {
			Supported []mcp.Version `json:"supported"`
		}
		// An odd element costs itself alone: it is left empty and is no version.
		_ = json.Unmarshal(a.Error.Data, &data)
		return choose(data.Supported)
	}
	return "", false, nil, false
}

func choose(listed []mcp.Version) (v mcp.Version, handshake bool, theirs []mcp.Version, ok bool) {
	for _, t := range listed {
		if t.Valid() && len(theirs) < maxTheirs {
			theirs = append(theirs, t)
		}
	}
	v, ok = mcp.Choose(listed)
	return v, ok && v.Legacy(), theirs, ok
}
