package fakeserver

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Answer is a whole HTTP answer, given in place of the server's own.
type Answer struct {
	Status      int
	ContentType string
	Header      map[string]string
	Body        string // $id is the request's id, null if it has none
	Times       int    // only the first so many requests; 0 is all

	After    time.Duration // waits before the headers
	ByteWait time.Duration // waits before every byte of the body
	Gzip     bool          // compresses the body, asked for or not
	Hang     bool          // never answers
	HangBody bool          // never ends the body
	Cut      bool          // cuts the connection after the body, promised longer
}

// ServerNotInitialized is what the TypeScript SDK 1.x says to a probe: 400,
// -32000, id null (design/9, 2.2).
func ServerNotInitialized() Answer {
	return Answer{
		Status: http.StatusBadRequest, ContentType: "application/json",
		Body: `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`,
	}
}

// Status is an answer with a status and no body: 400, 401, 403, 404, 405, 429, 503…
func Status(code int) Answer { return Answer{Status: code} }

// Unauthorized is a 401 with the challenge of RFC 9728.
func Unauthorized(metadataURL string) Answer {
	return Answer{Status: http.StatusUnauthorized, Header: map[string]string{
		"WWW-Authenticate": `Bearer resource_metadata="` + metadataURL + `"`,
	}}
}

// Page is an HTML page, as proxies, login walls and wrong ports give with any status.
func Page(status int) Answer {
	return Answer{
		Status: status, ContentType: "text/html; charset=utf-8",
		Body: "<!DOCTYPE html><html><head><title>Welcome</title></head><body>It works! token=page-secret</body></html>",
	}
}

// Redirect sends the client elsewhere with 301, 302, 303, 307 or 308.
func Redirect(status int, to string) Answer {
	return Answer{Status: status, Header: map[string]string{"Location": to}}
}

// RPCError is a JSON-RPC error with a status of its own; id null if withID is false.
func RPCError(status, code int, message string, withID bool) Answer {
	id := "null"
	if withID {
		id = "$id"
	}
	return Answer{
		Status: status, ContentType: "application/json",
		Body: `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + strconv.Itoa(code) + `,"message":` + strconv.Quote(message) + `}}`,
	}
}

func (a Answer) write(ctx context.Context, w http.ResponseWriter, id []byte) {
	if !pause(ctx, a.After) {
		return
	}
	if a.Hang {
		<-ctx.Done()
		return
	}
	if id == nil {
		id = []byte("null")
	}
	body := []byte(strings.ReplaceAll(a.Body, "$id", string(id)))
	if a.Gzip {
		body = compress(body)
		w.Header().Set("Content-Encoding", "gzip")
	}
	if a.ContentType != "" {
		w.Header().Set("Content-Type", a.ContentType)
	}
	for k, v := range a.Header {
		w.Header().Set(k, v)
	}
	if a.Cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1000))
	}
	status := a.Status
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	flush := http.NewResponseController(w).Flush
	if a.ByteWait > 0 {
		for _, b := range body {
			if !pause(ctx, a.ByteWait) {
				return
			}
			w.Write([]byte{b})
			flush()
		}
	} else {
		w.Write(body)
		flush()
	}
	if a.HangBody {
		<-ctx.Done()
	}
	if a.Cut {
		panic(http.ErrAbortHandler)
	}
}

func compress(body []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	io.Copy(z, bytes.NewReader(body))
	z.Close()
	return buf.Bytes()
}

// jsonAnswer answers with one JSON body and drops everything else.
type jsonAnswer struct {
	w           http.ResponseWriter
	contentType string
	statuses    bool // errors get the statuses of 2026-07-28
}

func (j *jsonAnswer) send(m any) {
	if !isAnswer(m) {
		return
	}
	status := http.StatusOK
	if rpcErr := m.(message).Error; rpcErr != nil && j.statuses {
		switch rpcErr.Code {
		case -32601:
			status = http.StatusNotFound
		case -32020, -32021, -32022, -32602, -32700:
			status = http.StatusBadRequest
		}
	}
	j.write(status, encode(m))
}

func (j *jsonAnswer) answerRaw(b []byte) { j.write(http.StatusOK, b) }

func (j *jsonAnswer) write(status int, body []byte) {
	ct := j.contentType
	if !strings.Contains(ct, "/") {
		ct = "application/json"
	}
	j.w.Header().Set("Content-Type", ct)
	j.w.WriteHeader(status)
	j.w.Write(body)
}
