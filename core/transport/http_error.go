package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
)

// wireError turns whatever went wrong below HTTP into the closed set (T6). The
// cause stays reachable by errors.Is and is never shown.
func wireError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if reason := tlsReason(err); reason != "" {
		return &Error{Code: Broken, Reason: reason, Err: err}
	}
	e = &Error{Code: Broken, Err: err}
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Timeout, Reason: "headers", Err: err}
	case errors.Is(err, errnoTimeout):
		e.Reason = "lost" // TCP keep-alive gave the peer up
	case errors.As(err, &timeout) && timeout.Timeout():
		return &Error{Code: Timeout, Reason: "connect", Err: err} // the TLS handshake's
	case errors.Is(err, errnoReset), errors.Is(err, errnoPipe):
		e.Reason = "reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), closedIdle(err):
		e.Reason = "eof"
	case errors.Is(err, net.ErrClosed):
		e.Reason = "closed"
	default:
		e.Reason = "protocol"
	}
	return e
}

// closedIdle recognizes the error of net/http for a kept socket that the server
// closed just when it was used; it has no name.
func closedIdle(err error) bool {
	return strings.HasSuffix(err.Error(), "server closed idle connection")
}

// dialError is wireError for the dialling of one address.
func dialError(err error) *Error {
	e := &Error{Code: Broken, Err: err}
	var timeout net.Error
	switch {
	case errors.Is(err, errnoRefused):
		e.Reason = "refused"
	case errors.Is(err, errnoNoNetwork), errors.Is(err, errnoNoHost):
		e.Reason = "unreachable"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return &Error{Code: Timeout, Reason: "connect", Err: err}
	default:
		e.Reason = "connect"
	}
	return e
}

// tlsReason names what is wrong with the peer's TLS, "" if nothing is. The reasons
// are apart because a person does different things about them: an untrusted
// certificate, one for another name, one out of date, a port that speaks no TLS.
func tlsReason(err error) string {
	var (
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		unknown x509.UnknownAuthorityError
		roots   x509.SystemRootsError
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
	)
	switch {
	case errors.As(err, &host):
		return "tls_hostname"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "tls_expired"
	case errors.As(err, &unknown), errors.As(err, &invalid), errors.As(err, &roots), errors.As(err, &verify):
		return "tls_certificate"
	case errors.As(err, &record):
		return "tls_plaintext"
	case errors.As(err, &alert):
		return "tls"
	}
	return ""
}
