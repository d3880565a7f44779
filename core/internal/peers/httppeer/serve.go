// Package httppeer runs the HTTP side of a peer server for as long as its parent
// wants it.
package httppeer

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

// Serve serves h at /mcp on addr, says where on stdout, and returns when stdin
// ends, so that a test that dies leaves no server behind.
func Serve(addr string, h http.Handler) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("listening on http://%s/mcp\n", l.Addr())
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	srv := &http.Server{Handler: mux}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		srv.Close()
	}()
	if err := srv.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}
