package transport

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// framing is what the era puts around one request (C3). It is settled when the
// request is issued; what the connection learns later does not change it.
type framing struct {
	modern  bool
	version mcp.Version // "" for initialize, which negotiates it
	session string      // legacy only
	mailed  bool        // by HTTP+SSE (T12)
	// after, if not nil, is closed when the server knows that the handshake is
	// complete: POSTs that run side by side arrive in any order, and some servers
	// refuse what comes before notifications/initialized.
	after <-chan struct{}
}

// handshakeWait is how long a request waits for notifications/initialized to be
// taken before it.
const handshakeWait = 5 * time.Second

// wait holds a request back until the handshake is complete; false when ctx ended.
func (f framing) wait(ctx context.Context) bool {
	if f.after == nil {
		return true
	}
	t := time.NewTimer(handshakeWait)
	defer t.Stop()
	select {
	case <-f.after:
	case <-t.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// session is what a connection knows of its peer. The connection's mu guards it.
type session struct {
	version mcp.Version // "" until Adopt
	id      string      // legacy only
	ready   chan struct{}
	mailed  bool     // the wire is HTTP+SSE (T12)
	post    *url.URL // of HTTP+SSE: where messages go, nil until the server said it
}

// framingFor returns the framing of a request. Until a version is adopted the
// connection is probing: whatever is no initialize is modern.
func (s *session) framingFor(req *Request) framing {
	switch {
	case req.Method == mcp.MethodInitialize:
		return framing{mailed: s.mailed}
	case s.mailed:
		return framing{mailed: true, version: s.version, after: s.ready}
	case req.Method == mcp.MethodDiscover:
		return framing{modern: true, version: offered(req.Params)}
	case s.version.Legacy():
		return framing{version: s.version, session: s.id, after: s.ready}
	case s.version.Modern():
		return framing{modern: true, version: s.version}
	}
	return framing{modern: true, version: mcp.Latest}
}

// offered returns the version in a request's _meta, which the header has to equal.
func offered(params json.RawMessage) mcp.Version {
	var v mcp.Version
	meta := jsonrpc.Get(params, "_meta")
	if json.Unmarshal(jsonrpc.Get(meta, mcp.MetaVersion), &v) != nil || !v.Valid() {
		return mcp.Latest
	}
	return v
}

// header returns the headers of one request. A legacy server gets no modern header
// and a modern one no session id.
func (f framing) header(base http.Header, req *Request) http.Header {
	h := f.bare(base)
	if replayable(req.Method) {
		h[idempotencyKey] = nil
	}
	if !f.modern {
		return h
	}
	h[mcp.HeaderMethod] = []string{mcp.EncodeHeaderValue(req.Method)}
	if req.Name != "" {
		h[mcp.HeaderName] = []string{mcp.EncodeHeaderValue(req.Name)}
	}
	for _, p := range req.ParamHeaders {
		name := http.CanonicalHeaderKey(p.Name)
		if strings.HasPrefix(name, mcp.HeaderParamPrefix) && httpguts.ValidHeaderFieldName(name) {
			h[name] = []string{mcp.EncodeHeaderValue(p.Value)}
		}
	}
	return h
}

// bare returns the headers that name the version and the session, and no request.
func (f framing) bare(base http.Header) http.Header {
	h := maps.Clone(base)
	if f.version != "" {
		h[mcp.HeaderVersion] = []string{string(f.version)}
	}
	if f.session != "" {
		h[mcp.HeaderSession] = []string{f.session}
	}
	return h
}
