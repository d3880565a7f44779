package server

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Bounds of the HTTP door.
const (
	// DefaultMaxBody is the longest body taken unless configured, in bytes.
	DefaultMaxBody = 16 << 20

	headerTimeout = 10 * time.Second
	bodyTimeout   = 60 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// HTTPOptions configures the HTTP front door.
type HTTPOptions struct {
	// Endpoint gives the server that an authenticated client finds behind a path;
	// false is 404.
	Endpoint func(client, path string) (*Server, bool)
	// Authorization must be chosen; see [NoAuthorization].
	Authorization Authorization
	// MaxBody is the longest body taken, in bytes; default 16 MiB.
	MaxBody int64
	// MaxSessions bounds legacy sessions; default 1,024. SessionIdle is how long
	// an unused one lives; default 30 min.
	MaxSessions int
	SessionIdle time.Duration
	Logger      *slog.Logger
}

// HTTP is the Streamable HTTP front door: one endpoint for both eras (S10). Every
// request passes, in this order: Host and Origin, authorization, path, method,
// content type, size.
type HTTP struct {
	o        HTTPOptions
	sessions sessions
	stop     chan struct{}
	stopOnce sync.Once
}

// NewHTTP returns a front door. The error is [ErrNoAuthorization] when no
// authorization was chosen.
func NewHTTP(o HTTPOptions) (*HTTP, error) {
	if o.Authorization == nil {
		return nil, ErrNoAuthorization
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = 1024
	}
	if o.SessionIdle <= 0 {
		o.SessionIdle = 30 * time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h := &HTTP{o: o, stop: make(chan struct{})}
	h.sessions.init(o.MaxSessions, o.SessionIdle)
	return h, nil
}

// Serve accepts on loopback listeners until ctx ends, then stops gracefully: streams
// end, calls have until grace to be answered, sessions close. It closes the
// listeners. The error is [ErrNotLoopback] or that of accepting.
func (h *HTTP) Serve(ctx context.Context, grace time.Duration, lns ...net.Listener) error {
	for _, ln := range lns {
		if tcp, ok := ln.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
			for _, ln := range lns {
				_ = ln.Close()
			}
			return ErrNotLoopback
		}
	}
	unused := fresh{conns: map[net.Conn]struct{}{}}
	srv := &http.Server{
		Handler:           h,
		ConnState:         unused.track,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		// Its messages may quote what a peer sent.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	failed := make(chan error, len(lns))
	for _, ln := range lns {
		go func() { failed <- srv.Serve(ln) }()
	}
	var err error
	running := len(lns)
	select {
	case <-ctx.Done():
	case err = <-failed:
		running--
	}
	h.Stop()
	unused.close()
	end, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if srv.Shutdown(end) != nil {
		_ = srv.Close()
	}
	for ; running > 0; running-- {
		<-failed
	}
	h.sessions.closeAll(end)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Stop ends the streams that would never end by themselves. New ones end at once.
func (h *HTTP) Stop() { h.stopOnce.Do(func() { close(h.stop) }) }

// ServeHTTP answers one request. The connection it came on must be a loopback one;
// see [HTTP.Serve].
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	// A deadline of the connection's last response would hold for this one.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	if !fromHere(r) {
		refuse(w, http.StatusForbidden, jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "forbidden: this server answers programs on this machine only"))
		return
	}
	client, err := h.o.Authorization.Authenticate(r)
	if err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "unauthorized"))
		return
	}
	s, ok := h.o.Endpoint(client, r.URL.Path)
	if !ok {
		http.NotFound(w, r)
		return
	}
	version, _ := single(r.Header, mcp.HeaderVersion)
	switch {
	case r.Method == http.MethodPost:
		h.post(w, r, s, client)
	case r.Method == http.MethodGet && !mcp.Version(version).Modern() && r.Header.Get(mcp.HeaderSession) != "":
		h.legacyGet(w, r, client)
	case r.Method == http.MethodDelete && !mcp.Version(version).Modern() && r.Header.Get(mcp.HeaderSession) != "":
		h.legacyDelete(w, r, client)
	default:
		w.Header().Set("Allow", "POST, GET, DELETE")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// post reads one message and hands it to its era.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request, s *Server, client string) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "Content-Type must be application/json"))
		return
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		refuse(w, http.StatusUnsupportedMediaType, jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the body must not be encoded"))
		return
	}
	accept, ok := accepted(r.Header)
	if !ok {
		refuse(w, http.StatusNotAcceptable, jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "Accept must list application/json and text/event-stream"))
		return
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.o.MaxBody))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			refuse(w, http.StatusRequestEntityTooLarge, jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the body is longer than %d bytes", tooLarge.Limit))
			return
		}
		refuse(w, http.StatusBadRequest, jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeParse, "the body could not be read"))
		return
	}
	_ = rc.SetReadDeadline(time.Time{})
	m, err := jsonrpc.Decode(body)
	if err != nil {
		answer := refusal(err)
		if answer == nil {
			answer = jsonrpc.Refuse(jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "not a JSON-RPC message"))
		}
		writeJSON(w, http.StatusBadRequest, answer.Append(nil))
		return
	}
	params := fieldsOf(m.Params)
	meta := fieldsOf(params["_meta"])
	version, _ := single(r.Header, mcp.HeaderVersion)
	v := mcp.Version(version)
	if opensModern(meta) || (version != "" && (!v.Supported() || v.Modern())) {
		h.modern(w, r, s, client, accept, m, params, meta)
		return
	}
	h.legacy(w, r, s, client, accept, m)
}

// acceptance is what a client takes as an answer.
type acceptance struct{ json, sse bool }

// accepted reads Accept. A client that names neither type is refused; one that has
// no Accept takes anything.
func accepted(h http.Header) (acceptance, bool) {
	lines := h["Accept"]
	if len(lines) == 0 {
		return acceptance{true, true}, true
	}
	var a acceptance
	for part := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		kind, _, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		a.json = a.json || slices.Contains([]string{"*/*", "application/*", "application/json"}, kind)
		a.sse = a.sse || slices.Contains([]string{"*/*", "text/*", "text/event-stream"}, kind)
	}
	return a, a.json || a.sse
}
