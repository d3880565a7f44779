package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// ErrRunning says that another instance holds the socket.
var ErrRunning = errors.New("another instance is running")

// Instance is this process's claim to be the one instance, and its socket.
type Instance struct {
	lock *flock.Flock
	ln   net.Listener
}

// Claim makes this process the one instance. The lock decides, not the socket: a
// socket file that a crashed instance left is replaced. The error is ErrRunning
// when there is another instance.
func Claim(dir string) (*Instance, error) {
	lock := flock.New(filepath.Join(dir, lockName))
	ok, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	case !ok:
		return nil, ErrRunning
	}
	path := filepath.Join(dir, socketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		lock.Unlock()
		return nil, fmt.Errorf("remove an old socket: %w", err)
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		lock.Unlock()
		return nil, fmt.Errorf("open the control socket: %w", err)
	}
	return &Instance{lock, ln}, nil
}

// Close gives up the claim. It may be called after Serve, and more than once.
func (i *Instance) Close() {
	i.ln.Close()
	i.lock.Unlock()
}

// Handlers are what the socket can ask for.
type Handlers struct {
	// Status returns what `drawbridge status` shows, to be sent as JSON.
	Status func() any
	// Show raises the window; nil when there is none.
	Show func()
	// SecretsChanged is told that a secret was set or removed.
	SecretsChanged func()
	// Stdio returns what serves an AI client over a connection until either side ends
	// it. The error says why there is nothing to serve.
	Stdio func(client, server string) (func(ctx context.Context, r io.Reader, w io.Writer) error, error)
	// Client runs `drawbridge client`.
	Client func(args []string, w io.Writer) error
}

// Serve answers the socket until ctx ends.
func (i *Instance) Serve(ctx context.Context, h Handlers) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(h.Status()) // the caller went away
	})
	mux.HandleFunc("POST /show", func(w http.ResponseWriter, _ *http.Request) {
		if h.Show == nil {
			http.Error(w, "no window", http.StatusConflict)
			return
		}
		h.Show()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /secrets-changed", func(w http.ResponseWriter, _ *http.Request) {
		h.SecretsChanged()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /client", func(w http.ResponseWriter, r *http.Request) {
		var args []string
		if json.NewDecoder(io.LimitReader(r.Body, maxArgs)).Decode(&args) != nil {
			http.Error(w, "bad arguments", http.StatusBadRequest)
			return
		}
		var out bytes.Buffer
		if err := h.Client(args, &out); err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		_, _ = w.Write(out.Bytes()) // the caller went away
	})
	ctx, cancel := context.WithCancel(ctx)
	var joined sync.WaitGroup
	defer joined.Wait()
	defer cancel() // ends the clients that have joined
	mux.HandleFunc("POST /stdio", func(w http.ResponseWriter, r *http.Request) {
		joined.Add(1)
		defer joined.Done()
		join(ctx, w, r, h)
	})
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	if err := srv.Serve(i.ln); !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
		return fmt.Errorf("serve the control socket: %w", err)
	}
	return nil
}
