package transport

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
)

// reasonAuthorization says that no credentials could be had.
const reasonAuthorization = "authorization"

// roundTrip sends one HTTP request to a URL of the origin and returns the answer's head. It follows the
// redirects that may be followed, and asks the token source for credentials, once
// more if they were refused and it has better ones (T13). No request leaves the
// origin, and so no credential does (T7).
func (c *httpConn) roundTrip(ctx context.Context, to *url.URL, method string, h http.Header, body []byte) (*http.Response, error) {
	tokens := c.dialer.cfg.Tokens
	if tokens == nil {
		return c.follow(ctx, to, method, h, body)
	}
	for again := true; ; {
		token, err := tokens.Authorization(ctx)
		if err != nil {
			return nil, &Error{Code: Broken, Reason: reasonAuthorization, Err: err}
		}
		h = maps.Clone(h)
		delete(h, "Authorization")
		if token != "" {
			h["Authorization"] = []string{token}
		}
		resp, err := c.follow(ctx, to, method, h, body)
		if err != nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return resp, err
		}
		if again = tokens.Refused(ctx, resp.StatusCode, resp.Header.Values("WWW-Authenticate")) && again; !again {
			return resp, nil
		}
		finish(resp)
		again = false
	}
}

// follow sends the request to u and to where it is sent on from there.
func (c *httpConn) follow(ctx context.Context, u *url.URL, method string, h http.Header, body []byte) (*http.Response, error) {
	for hop := 0; ; hop++ {
		r := (&http.Request{
			Method: method, URL: u, Host: u.Host, Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			ContentLength: int64(len(body)),
		}).WithContext(ctx)
		if body != nil {
			// With GetBody net/http repeats what was not sent at all on a socket
			// that turned out to be dead, and replayable requests that were.
			r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
			r.Body, _ = r.GetBody()
		}
		resp, err := c.pool.RoundTrip(r)
		if err != nil {
			return nil, wireError(err)
		}
		next := sameOrigin(resp, c.dialer.origin)
		if next == nil || hop == maxHops {
			return resp, nil
		}
		finish(resp)
		u = next
	}
}
