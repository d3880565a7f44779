package transport

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
)

const (
	// leftoverBytes and leftoverTime bound what is read of a body that nobody
	// needs, so that its socket can be used again.
	leftoverBytes = 16 << 10
	leftoverTime  = 200 * time.Millisecond
)

// finish ends a body. A short rest is read: closing it earlier would cost the
// socket.
func finish(resp *http.Response) {
	t := time.AfterFunc(leftoverTime, func() { _ = resp.Body.Close() })
	_, _ = io.CopyN(io.Discard, resp.Body, leftoverBytes)
	t.Stop()
	_ = resp.Body.Close()
}

// media is what a body claims or seems to be.
type media int

const (
	mediaOther media = iota
	mediaJSON
	mediaSSE
	mediaPage
	mediaEmpty
)

// mediaOf reads the content type; without one the first bytes decide (field case
// 28). An empty body is recognized whatever its type, so that it waits for a byte: a
// stream that names itself is not for it.
func mediaOf(h http.Header, body *bufio.Reader) media {
	for n := 1; n <= body.Size(); n++ {
		b, err := body.Peek(n)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return mediaEmpty
			}
			return mediaJSON // reading it will give the error
		}
		if strings.IndexByte(" \t\r\n", b[n-1]) < 0 {
			break
		}
	}
	if name := h.Get("Content-Type"); name != "" {
		return mediaNamed(name)
	}
	rest, _ := body.Peek(body.Buffered())
	return mediaSniffed(bytes.TrimSpace(bytes.TrimPrefix(rest, bom)))
}

func mediaNamed(contentType string) media {
	name, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		name, _, _ = strings.Cut(contentType, ";")
		name = strings.ToLower(strings.TrimSpace(name))
	}
	switch {
	case name == typeSSE:
		return mediaSSE
	case name == typeJSON, name == "text/json", strings.HasSuffix(name, "+json"):
		return mediaJSON
	case name == "text/html", name == "application/xhtml+xml":
		return mediaPage
	}
	return mediaOther
}

func mediaSniffed(b []byte) media {
	if len(b) == 0 {
		return mediaEmpty
	}
	switch b[0] {
	case '{', '[':
		return mediaJSON
	case '<':
		return mediaPage
	}
	for _, field := range []string{":", "data:", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(b, []byte(field)) {
			return mediaSSE
		}
	}
	return mediaOther
}

// open returns the body as it was before compression. We ask for none, but some
// proxies compress whatever they are asked (field case 41).
func open(resp *http.Response, read func()) (io.Reader, *Error) {
	body := io.Reader(&tapped{resp.Body, read})
	switch strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))) {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		return &gunzip{from: bufio.NewReader(body)}, nil
	}
	return nil, &Error{Code: NotMCP, Reason: "other_content", Status: resp.StatusCode}
}

// tapped calls read for everything that arrives.
type tapped struct {
	io.Reader
	read func()
}

func (t *tapped) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if n > 0 && t.read != nil {
		t.read()
	}
	return n, err
}

// gunzip reads one member, and nothing behind it: a Content-Length that counts the
// uncompressed bytes then does no harm. The head is read with the first byte.
type gunzip struct {
	from *bufio.Reader
	z    *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.z == nil {
		if _, err := g.from.Peek(1); err != nil {
			return 0, err
		}
		z, err := gzip.NewReader(g.from)
		if err != nil {
			return 0, truncated(err)
		}
		z.Multistream(false)
		g.z = z
	}
	return g.z.Read(p)
}

func truncated(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readAll reads a body of at most limit bytes.
func readAll(r io.Reader, limit int64) ([]byte, *Error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(b)) > limit {
		return nil, &Error{Code: TooLarge, Limit: limit}
	}
	if err != nil {
		return b, wireError(err)
	}
	return b, nil
}
