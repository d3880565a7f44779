package server

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// legacy answers a message of a session (2025-11-25 basic/transports). The client's
// going is no cancellation there: the call goes on and its stream can be resumed.
func (h *HTTP) legacy(w http.ResponseWriter, r *http.Request, s *Server, client string, accept acceptance, m *jsonrpc.Message) {
	if m.Kind() == jsonrpc.Request && m.Method == mcp.MethodInitialize {
		h.open(w, r, s, client, accept, m)
		return
	}
	sess, ok := h.session(w, r, client, m.ID)
	if !ok {
		return
	}
	defer sess.leave()
	if m.Kind() != jsonrpc.Request {
		sess.conn.Handle(m)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	h.exchange(w, r, sess, accept, m)
}

// open starts a session and answers its initialize.
func (h *HTTP) open(w http.ResponseWriter, r *http.Request, s *Server, client string, accept acceptance, m *jsonrpc.Message) {
	sess, ok := h.sessions.open(s, client)
	if !ok {
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusServiceUnavailable, m.ID, jsonrpc.Errorf(jsonrpc.CodeInternal, "too many sessions"))
		return
	}
	defer sess.leave()
	w.Header().Set(mcp.HeaderSession, sess.id)
	h.exchange(w, r, sess, accept, m)
	if sess.conn.Version() == "" {
		h.sessions.close(sess) // initialize was refused
	}
}

// exchange answers one request of a session.
func (h *HTTP) exchange(w http.ResponseWriter, r *http.Request, sess *session, accept acceptance, m *jsonrpc.Message) {
	st, number, ok := sess.begin(m.ID, !accept.sse)
	if !ok {
		refuse(w, http.StatusBadRequest, m.ID, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the id is in use by another request"))
		return
	}
	sess.conn.Handle(m)
	d := delivery{
		stream: st, id: streamPrefix(number), plain: !accept.sse, sse: !accept.json,
		prime: sess.conn.Version() >= mcp.V20251125,
	}
	d.run(r.Context(), w)
}

// legacyGet opens the session's own stream, or resumes one (2025-11-25
// "Resumability and Redelivery").
func (h *HTTP) legacyGet(w http.ResponseWriter, r *http.Request, client string) {
	if accept, ok := accepted(r.Header); !ok || !accept.sse {
		http.Error(w, "Accept must list text/event-stream", http.StatusNotAcceptable)
		return
	}
	sess, ok := h.session(w, r, client, jsonrpc.ID{})
	if !ok {
		return
	}
	defer sess.leave()
	d := delivery{stream: sess.own, id: streamPrefix(0), sse: true, stop: h.stop, from: unread}
	if last, ok := single(r.Header, mcp.HeaderLastEventID); ok {
		number, seq, ok := parseEventID(last)
		st := sess.resumable(number)
		if !ok || st == nil {
			http.Error(w, "the stream cannot be resumed", http.StatusNotFound)
			return
		}
		d = delivery{stream: st, id: streamPrefix(number), sse: true, stop: h.stop, from: seq}
	}
	d.run(r.Context(), w)
}

func (h *HTTP) legacyDelete(w http.ResponseWriter, r *http.Request, client string) {
	sess, ok := h.session(w, r, client, jsonrpc.ID{})
	if !ok {
		return
	}
	sess.leave()
	h.sessions.close(sess)
	w.WriteHeader(http.StatusNoContent)
}

// session finds the request's session: 400 without one, 404 for one that is not, or
// not this client's (2025-11-25 "Session Management").
func (h *HTTP) session(w http.ResponseWriter, r *http.Request, client string, id jsonrpc.ID) (*session, bool) {
	if v, ok := single(r.Header, mcp.HeaderVersion); ok && !mcp.Version(v).Supported() {
		refuse(w, http.StatusBadRequest, id, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "unsupported %s", mcp.HeaderVersion))
		return nil, false
	}
	name, ok := single(r.Header, mcp.HeaderSession)
	if !ok {
		refuse(w, http.StatusBadRequest, id, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the request has neither the _meta of %s nor a %s", mcp.Latest, mcp.HeaderSession))
		return nil, false
	}
	sess, ok := h.sessions.enter(name, client)
	if !ok {
		refuse(w, http.StatusNotFound, id, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "Session not found"))
		return nil, false
	}
	return sess, true
}

// An event id is the stream's number and the event's, so it is unique in a session.
func streamPrefix(number int) string { return strconv.Itoa(number) + "-" }

func parseEventID(s string) (number, seq int, ok bool) {
	a, b, found := strings.Cut(s, "-")
	number, err1 := strconv.Atoi(a)
	seq, err2 := strconv.Atoi(b)
	return number, seq, found && err1 == nil && err2 == nil && number >= 0 && seq >= 0
}
