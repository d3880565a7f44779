package conformance

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
)

// Bearer returns a proxy to the server at target that adds an authorization, which
// the suite has no option for. The rest passes as it came, a foreign Host or Origin
// above all, which the server must see to refuse it. Only where one names the proxy
// itself does it name the target instead, since a server on a loopback port knows
// no other port. Serve it on a loopback address: whoever reaches it is let in.
func Bearer(target *url.URL, token string) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host})
			r.Out.Host = r.In.Host
			if namesListener(r.In, r.In.Host) {
				r.Out.Host = target.Host
			}
			if scheme, host, ok := strings.Cut(r.In.Header.Get("Origin"), "://"); ok && namesListener(r.In, host) {
				r.Out.Header.Set("Origin", scheme+"://"+target.Host)
			}
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
		FlushInterval: -1, // events pass at once
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Otherwise the first byte of an answer closes the request's body, perhaps
		// before the proxy has seen its end, and the answer is cut off.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

// namesListener reports whether a host:port is a loopback name of the listener that
// a request came to.
func namesListener(r *http.Request, hostport string) bool {
	here, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return false
	}
	host, port, err := net.SplitHostPort(hostport)
	if err != nil || port != strconv.Itoa(here.Port) {
		return false
	}
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
