package transport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
)

const (
	// refusalBytes and refusalTime bound the body of a refusal: its status is the
	// answer, and must not wait long for the words that go with it.
	refusalBytes = 256 << 10
	refusalTime  = 5 * time.Second
)

// answer reads a 2xx to a request.
func (x *exchange) answer(resp *http.Response) outcome {
	limit := x.conn.dialer.cfg.Limits.MaxBytes
	body, refused := open(resp, x.alive)
	if refused != nil {
		return outcome{err: refused}
	}
	switch mediaNamed(resp.Header.Get("Content-Type")) {
	case mediaSSE:
		return x.follow(resp, body) // its first byte may be far away
	case mediaJSON:
		if resp.ContentLength > limit {
			return outcome{err: &Error{Code: TooLarge, Limit: limit}} // without waiting for its first byte
		}
	}
	r := bufio.NewReader(body)
	kind := mediaOf(resp.Header, r)
	if kind == mediaSSE {
		return x.follow(resp, r)
	}
	if kind == mediaEmpty {
		return outcome{err: &Error{Code: NotMCP, Reason: "empty", Status: resp.StatusCode}}
	}
	if kind != mediaJSON {
		text, _ := readAll(io.LimitReader(r, previewBytes), previewBytes)
		return outcome{err: notMCP(kind, resp, text)}
	}
	if resp.ContentLength > limit {
		return outcome{err: &Error{Code: TooLarge, Limit: limit}}
	}
	text, err := readAll(r, limit)
	if err != nil {
		return outcome{err: err}
	}
	return x.document(resp, text)
}

// document reads a body of JSON: one message, or a batch of 2025-03-26.
func (x *exchange) document(resp *http.Response, text []byte) outcome {
	text = bytes.TrimPrefix(text, bom)
	members, batch := splitBatch(text)
	if !batch {
		members = []json.RawMessage{text}
	}
	known := false
	for _, member := range members {
		m := message(member)
		if m == nil {
			continue
		}
		known = true
		if x.deliver(m) {
			return outcome{msg: m}
		}
	}
	if known {
		return outcome{err: &Error{Code: Broken, Reason: "no_answer"}}
	}
	kind := mediaOther
	if json.Valid(text) {
		kind = mediaJSON
	}
	return outcome{err: notMCP(kind, resp, text)}
}

// deliver takes one message of the exchange's own. It returns true for the answer;
// everything else goes to the sink at once, but a response to something else.
func (x *exchange) deliver(m *jsonrpc.Message) (final bool) {
	if m.Kind() == jsonrpc.Response {
		if m.ID.IsZero() || m.ID.Equivalent(jsonrpc.IntID(x.id)) {
			return true
		}
		x.conn.note("a response with a foreign id was skipped in the answer to " + x.req.Method)
		return false
	}
	if x.ctx.Err() == nil {
		x.conn.ledger.Report(func() { x.conn.sink.Message(x.id, m) })
	}
	return false
}

// message reads one JSON-RPC message; nil when it is none.
func message(text []byte) *jsonrpc.Message {
	m, err := jsonrpc.DecodeLenient(text)
	if err != nil || m.Error != nil && m.Error.Raw == nil {
		// An error without a code is OAuth's, or a web framework's.
		return nil
	}
	return m
}

// refusal reads an answer that is neither 2xx nor 3xx. A JSON-RPC error in it comes
// along, in whatever form and with whatever id: the exchange says what it belongs
// to (E2, field case 43).
func (x *exchange) refusal(resp *http.Response) *Error {
	e := &Error{Code: HTTPStatus, Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header)}
	t := time.AfterFunc(refusalTime, func() { _ = resp.Body.Close() })
	defer t.Stop()
	body, refused := open(resp, x.alive)
	if refused != nil {
		return e
	}
	text, _ := io.ReadAll(io.LimitReader(body, refusalBytes))
	kind := mediaNamed(resp.Header.Get("Content-Type"))
	if resp.Header.Get("Content-Type") == "" {
		kind = mediaSniffed(bytes.TrimSpace(text))
	}
	if e.RPC = rpcError(text, kind == mediaSSE); e.RPC == nil {
		e.Words = preview(resp, text)
	}
	return e
}

func rpcError(text []byte, events bool) *jsonrpc.Error {
	if !events {
		if m := message(bytes.TrimPrefix(text, bom)); m != nil {
			return m.Error
		}
		return nil
	}
	s := newEventReader(bytes.NewReader(text), refusalBytes)
	for {
		ev, err := s.next()
		if err != nil {
			return nil
		}
		if m := message(ev.data); m != nil && m.Error != nil {
			return m.Error
		}
	}
}

// notMCP says what came in place of MCP (field case 29).
func notMCP(kind media, resp *http.Response, text []byte) *Error {
	reason := "other_content"
	switch kind {
	case mediaPage:
		reason = "web_page"
	case mediaJSON:
		reason = "other_json"
	}
	return &Error{Code: NotMCP, Reason: reason, Status: resp.StatusCode, Words: preview(resp, text)}
}

const (
	previewBytes = 2 << 10
	previewLines = 6
	previewLine  = 200
)

// preview gives the first lines of a body, for a person.
func preview(resp *http.Response, text []byte) []string {
	var words []string
	if ct := resp.Header.Get("Content-Type"); ct != "" {
		words = append(words, fmt.Sprintf("HTTP %d, %s", resp.StatusCode, shortened(ct)))
	}
	text = bytes.ToValidUTF8(text[:min(len(text), previewBytes)], []byte("�"))
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && len(words) < previewLines {
			words = append(words, shortened(line))
		}
	}
	return words
}

func shortened(line string) string {
	if len(line) <= previewLine {
		return line
	}
	n := previewLine
	for !utf8.RuneStart(line[n]) {
		n--
	}
	return line[:n] + "…"
}
