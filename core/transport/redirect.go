package transport

import (
	"net/http"
	"net/url"
)

// maxHops bounds the redirects that one request follows.
const maxHops = 5

// sameOrigin returns where a 307 or 308 sends the request within its origin; nil
// for all other answers (T7, field case 34). Those two alone keep the method and
// the body.
func sameOrigin(resp *http.Response, origin string) *url.URL {
	if resp.StatusCode != http.StatusTemporaryRedirect && resp.StatusCode != http.StatusPermanentRedirect {
		return nil
	}
	u := location(resp)
	if u == nil || originOf(u) != origin {
		return nil
	}
	u.Host = resp.Request.URL.Host // one spelling
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	return u
}

// redirectRefused names the origin that the server sent us to.
func redirectRefused(resp *http.Response) *Error {
	e := &Error{Code: RedirectRefused, Status: resp.StatusCode}
	if u := location(resp); u != nil {
		e.Location = originOf(u)
	}
	return e
}

func location(resp *http.Response) *url.URL {
	l := resp.Header.Get("Location")
	if l == "" {
		return nil
	}
	u, err := resp.Request.URL.Parse(l)
	if err != nil {
		return nil
	}
	return u
}
