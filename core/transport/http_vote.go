package transport

import (
	"errors"
	"net/http"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// allow asks the breaker for one exchange; a nil lease counts nothing.
func (d *HTTPDialer) allow() (*breaker.Lease, *Error) {
	if d.cfg.Breakers == nil {
		return nil, nil
	}
	lease, err := d.cfg.Breakers.Allow(d.origin)
	if err == nil {
		return lease, nil
	}
	e := &Error{Code: BreakerOpen, Err: err}
	var open *breaker.OpenError
	if errors.As(err, &open) {
		e.RetryAfter = max(time.Until(open.RetryAt), 0)
	}
	return nil, e
}

// vote is what one exchange tells the origin's breaker (C8). The first word counts.
type vote struct{ lease *breaker.Lease }

// accepted is told of a 2xx before its body is read: a stream can last for hours.
// What opens a session is judged by the body.
func (v vote) accepted(method string) {
	if method != mcp.MethodDiscover && method != mcp.MethodInitialize {
		v.lease.Success()
	}
}

// count is told of the end.
func (v vote) count(method string, o outcome) {
	if o.err != nil {
		switch o.err.Code {
		case HTTPStatus, NotMCP: // judged below
		case Blocked, TooLarge, RedirectRefused, SessionRejected, Cancelled:
			v.lease.Nothing() // our refusal, or not about health
			return
		default:
			switch {
			case o.err.Reason == reasonAuthorization:
				v.lease.Nothing() // the token source failed, not the server
			case method == mcp.MethodDiscover && o.status != 0:
				v.lease.Nothing() // a stream without an answer is doubt (E3)
			default:
				v.lease.Failure()
			}
			return
		}
	}
	switch method {
	case mcp.MethodDiscover:
		v.probed(o)
	case mcp.MethodInitialize:
		// Doubt was to be settled by this; anything but a result is a failure (E3).
		if o.msg != nil && o.msg.Result != nil {
			v.lease.Success()
		} else {
			v.lease.Failure()
		}
	default:
		// Under 400 an error is a modern server's ordinary answer.
		answered := o.status == http.StatusBadRequest && o.err != nil && o.err.RPC != nil
		if era.Unhealthy(o.status) && !answered {
			v.lease.Failure()
		} else {
			v.lease.Success()
		}
	}
}

func (v vote) probed(o outcome) {
	a := era.Answer{Status: o.status}
	switch {
	case o.msg != nil:
		a.Result, a.Error = o.msg.Result, o.msg.Error
	case o.err != nil:
		a.Error = o.err.RPC
	}
	switch era.Judge(a, false) {
	case era.ProvesModern, era.Demotes:
		v.lease.Success()
	case era.Health:
		v.lease.Failure()
	default:
		v.lease.Nothing()
	}
}
