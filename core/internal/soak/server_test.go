package soak

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/demo"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/server"
)

// serverMarker, as the first argument, makes a process of this binary a demo server
// that writes down what reaches it. Then follow the folder for that and, for HTTP,
// an address and the era.
const serverMarker = "drawbridge-soak-server"

// The eras a demo server over HTTP may be told to show.
const (
	modernEra = "modern"
	legacyEra = "legacy"
)

// work is how long calls take at the servers that can be told to, so that death finds
// some on their way.
const work = 100 * time.Millisecond

// refused marks a request in a journal as one that reached no tool.
const refused = "refused: "

// serve is the server's process. Each has a journal of its own.
func serve(args []string) int {
	journal, err := os.CreateTemp(args[0], "demo-")
	if err == nil {
		d := demo.New()
		if len(args) == 1 {
			err = server.ServeStdio(context.Background(), d.Server(), io.TeeReader(os.Stdin, journal), os.Stdout)
		} else {
			err = serveHTTP(d, journal, args[1], args[2] == legacyEra)
		}
		d.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak server:", err)
		return 1
	}
	return 0
}

// serveHTTP serves until the process is killed, and says "ready" once it listens.
func serveHTTP(d *demo.Demo, journal io.Writer, addr string, legacy bool) error {
	door, err := server.NewHTTP(server.HTTPOptions{
		Endpoint:      func(string, string) (*server.Server, bool) { return d.Server(), true },
		Authorization: server.NoAuthorization,
	})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return http.Serve(ln, &noted{door, journal, legacy})
}

// noted writes bodies down before its door sees them, and the refusal before the
// client does: a call counts as one that may have reached its tool, until the
// opposite is known.
type noted struct {
	door    http.Handler
	journal io.Writer
	legacy  bool
}

func (n *noted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if n.legacy && bytes.Contains(body, []byte(mcp.MethodDiscover)) {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	_, _ = n.journal.Write(append(bytes.Clone(body), '\n'))
	if bytes.Contains(body, []byte(mcp.MethodToolsCall)) {
		time.Sleep(work)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	n.door.ServeHTTP(&refusing{w, func() {
		_, _ = n.journal.Write(append([]byte(refused), append(body, '\n')...))
	}}, r)
}

// refusing calls note before a status of refusal is sent.
type refusing struct {
	http.ResponseWriter
	note func()
}

func (r *refusing) WriteHeader(status int) {
	if status >= 400 {
		r.note()
	}
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap serves http.ResponseController.
func (r *refusing) Unwrap() http.ResponseWriter { return r.ResponseWriter }
