package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// maxArgs bounds the arguments of a command, maxReply what it prints, in bytes.
const (
	maxArgs  = 64 << 10
	maxReply = 1 << 20
)

// join hands the connection over to an AI client's messages.
func join(ctx context.Context, w http.ResponseWriter, r *http.Request, h Handlers) {
	q := r.URL.Query()
	serve, err := h.Stdio(q.Get("client"), q.Get("server"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "no stream", http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Time{})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: mcp\r\n\r\n"); err != nil {
		return
	}
	_ = serve(ctx, buffered, conn) // whichever side ended it, it is over
}

// Stdio joins a client on a pair of streams to the running instance until either side
// ends. The error is ErrNotRunning when there is no instance.
func Stdio(ctx context.Context, dir, client, server string, r io.Reader, w io.Writer) error {
	d := net.Dialer{Timeout: 2 * time.Second}
	conn, err := d.DialContext(ctx, "unix", filepath.Join(dir, socketName))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	target := "/stdio?" + url.Values{"client": {client}, "server": {server}}.Encode()
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: drawbridge\r\nConnection: Upgrade\r\nUpgrade: mcp\r\nContent-Length: 0\r\n\r\n", target); err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return fmt.Errorf("join the running instance: %w", err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		why, _ := io.ReadAll(io.LimitReader(resp.Body, maxArgs))
		resp.Body.Close()
		return fmt.Errorf("the running instance refuses: %s", strings.TrimSpace(string(why)))
	}
	// The client's end of input ends our sending; what is on its way back still comes.
	go func() {
		_, _ = io.Copy(conn, r)
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}()
	_, err = io.Copy(w, in)
	return err
}

// Client runs `drawbridge client` in the running instance. The error is ErrNotRunning
// when there is none, else what is wrong.
func Client(ctx context.Context, dir string, args []string, w io.Writer) error {
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	resp, err := send(ctx, dir, http.MethodPost, "/client", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(strings.TrimSpace(string(reply)))
	}
	_, err = w.Write(reply)
	return err
}
