package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"time"
)

// ErrNotRunning says that no instance answers.
var ErrNotRunning = errors.New("drawbridge is not running")

// ErrNoWindow says that the running instance has no window to raise.
var ErrNoWindow = errors.New("the running instance has no window")

// maxStatus bounds a status, in bytes.
const maxStatus = 64 << 20

// Status reads the running instance's status into v. The error is ErrNotRunning
// when there is no instance.
func Status(ctx context.Context, dir string, v any) error {
	resp, err := do(ctx, dir, http.MethodGet, "/status")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxStatus)).Decode(v); err != nil {
		return fmt.Errorf("read the status: %w", err)
	}
	return nil
}

// Show raises the running instance's window. The error is ErrNotRunning or
// ErrNoWindow.
func Show(ctx context.Context, dir string) error {
	return post(ctx, dir, "/show")
}

// SecretsChanged tells the running instance that a secret was set or removed. The
// error is ErrNotRunning when there is none.
func SecretsChanged(ctx context.Context, dir string) error {
	return post(ctx, dir, "/secrets-changed")
}

func post(ctx context.Context, dir, path string) error {
	resp, err := do(ctx, dir, http.MethodPost, path)
	if err != nil {
		return err
	}
	resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusNoContent:
		return nil
	case http.StatusConflict:
		return ErrNoWindow
	}
	return fmt.Errorf("the running instance answered %s", resp.Status)
}

func do(ctx context.Context, dir, method, path string) (*http.Response, error) {
	return send(ctx, dir, method, path, nil)
}

func send(ctx context.Context, dir, method, path string, body io.Reader) (*http.Response, error) {
	tr := &http.Transport{
		DisableKeepAlives: true,
		// An instance that hangs must not take the terminal along.
		ResponseHeaderTimeout: 10 * time.Second,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			d := net.Dialer{Timeout: 2 * time.Second}
			conn, err := d.DialContext(ctx, "unix", filepath.Join(dir, socketName))
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrNotRunning, err)
			}
			return conn, nil
		},
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://drawbridge"+path, body)
	if err != nil {
		return nil, err
	}
	return tr.RoundTrip(req)
}
