package gateway

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/natefinch/atomic"
)

// Client is an AI client that may connect (G5).
type Client struct {
	Name string `json:"name"`
	// Digest is the SHA-256 of its token, in hex. The token itself is kept nowhere.
	Digest  string    `json:"tokenSha256"`
	Created time.Time `json:"created"`
	Access
	// LastSeen is when it last connected since the program started; zero for never.
	LastSeen time.Time `json:"-"`
}

// Access is what a client may see. The zero Access is everything, with questions
// answered here.
type Access struct {
	// Servers are the names of those it sees; nil for all.
	Servers []string `json:"servers,omitempty"`
	// Tools are, by server, the tools it sees; a server that is absent shows all.
	Tools map[string][]string `json:"tools,omitempty"`
	// AskInClient has servers' questions answered in the client where it can.
	AskInClient bool `json:"askInClient,omitempty"`
}

// Server reports whether the client may use a server.
func (a Access) Server(name string) bool { return a.Servers == nil || slices.Contains(a.Servers, name) }

// Tool reports whether the client may use a tool.
func (a Access) Tool(server, name string) bool {
	list, limited := a.Tools[server]
	return a.Server(server) && (!limited || slices.Contains(list, name))
}

// Why a client cannot be added, or a request is nobody's.
var (
	ErrClientExists = errors.New("there is already a client of that name")
	ErrClientName   = errors.New("a client's name has 1 to 64 characters of letters, digits, spaces, dots, hyphens and underscores")
	ErrNoClient     = errors.New("there is no client of that name")
	ErrBrokenStore  = errors.New("the file of clients could not be read and was set aside")
	errUnknown      = errors.New("the token is no client's")
)

// maxClients bounds the clients, maxStore their file in bytes.
const (
	maxClients = 256
	maxStore   = 4 << 20
)

// Clients are the configured clients, kept in a file of mode 0600. It is the front
// door's authorization. Safe for concurrent use.
type Clients struct {
	path    string // "" keeps nothing on disk
	changed func()
	reset   func(name string)

	mu   sync.Mutex
	list []*Client
}

// OpenClients reads the clients at path, which may be missing. What is returned can be
// used whatever the error: after [ErrBrokenStore] it is empty, and the file lies beside
// its place; after any other it is kept in memory.
func OpenClients(path string) (*Clients, error) {
	c := &Clients{path: path, changed: func() {}, reset: func(string) {}}
	if path == "" {
		return c, nil
	}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		c.path = ""
		return c, fmt.Errorf("reading the file of clients: %w", err)
	}
	var file struct {
		Clients []*Client `json:"clients"`
	}
	ok := len(data) <= maxStore && json.Unmarshal(data, &file) == nil
	for _, x := range file.Clients {
		ok = ok && x != nil && validName(x.Name) && len(x.Digest) == hex.EncodedLen(sha256.Size)
	}
	if ok {
		c.list = file.Clients
		return c, nil
	}
	if err := os.Rename(path, path+".broken"); err != nil {
		c.path = ""
		return c, fmt.Errorf("setting the broken file of clients aside: %w", err)
	}
	return c, ErrBrokenStore
}

// OnChange is told of every change, without a lock held. It is set before use.
func (c *Clients) OnChange(f func()) { c.changed = f }

// OnReset is told, without a lock held, of a name that has begun or ceased to be a
// client's: what was granted to it until then is not the next one's. It is set before
// use.
func (c *Clients) OnReset(f func(name string)) { c.reset = f }

func validName(name string) bool {
	if name == "" || len(name) > 64 || strings.TrimSpace(name) != name {
		return false
	}
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune(" .-_", r):
		default:
			return false
		}
	}
	return true
}

// Add makes a client and returns its token, which is shown this once. The error is
// [ErrClientName], [ErrClientExists] or that of writing the file; then there is no
// new client.
func (c *Clients) Add(name string, a Access) (token string, err error) {
	if !validName(name) {
		return "", ErrClientName
	}
	token = "dbr_" + rand.Text()
	err = c.edit(func(list []*Client) ([]*Client, error) {
		switch {
		case slices.ContainsFunc(list, func(x *Client) bool { return strings.EqualFold(x.Name, name) }):
			return nil, ErrClientExists
		case len(list) >= maxClients:
			return nil, fmt.Errorf("more than %d clients", maxClients)
		}
		return append(list, &Client{Name: name, Digest: digestOf(token), Created: time.Now().UTC().Truncate(time.Second), Access: a}), nil
	})
	if err != nil {
		return "", err
	}
	c.reset(name)
	return token, nil
}

// Revoke removes a client; its token is nobody's from then on. The error is
// [ErrNoClient] or that of writing the file.
func (c *Clients) Revoke(name string) error {
	err := c.edit(func(list []*Client) ([]*Client, error) {
		i := slices.IndexFunc(list, func(x *Client) bool { return x.Name == name })
		if i < 0 {
			return nil, ErrNoClient
		}
		return slices.Delete(list, i, i+1), nil
	})
	if err == nil {
		c.reset(name)
	}
	return err
}

// SetAccess changes what a client may see. The error is as of [Clients.Revoke].
func (c *Clients) SetAccess(name string, a Access) error {
	return c.edit(func(list []*Client) ([]*Client, error) {
		i := slices.IndexFunc(list, func(x *Client) bool { return x.Name == name })
		if i < 0 {
			return nil, ErrNoClient
		}
		x := *list[i]
		x.Access = a
		list[i] = &x
		return list, nil
	})
}

// edit changes a copy of the list, and takes it when it is on disk.
func (c *Clients) edit(change func([]*Client) ([]*Client, error)) error {
	c.mu.Lock()
	list, err := change(slices.Clone(c.list))
	if err == nil {
		err = c.write(list)
	}
	if err == nil {
		c.list = list
	}
	c.mu.Unlock()
	if err == nil {
		c.changed()
	}
	return err
}

func (c *Clients) write(list []*Client) error {
	if c.path == "" {
		return nil
	}
	data, err := json.MarshalIndent(map[string][]*Client{"clients": list}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return fmt.Errorf("writing the file of clients: %w", err)
	}
	// The new file has mode 0600, as of a temporary file.
	if err := atomic.WriteFile(c.path, bytes.NewReader(append(data, '\n'))); err != nil {
		return fmt.Errorf("writing the file of clients: %w", err)
	}
	return nil
}

// List are the clients in the order they were made.
func (c *Clients) List() []Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Client, len(c.list))
	for i, x := range c.list {
		out[i] = *x
	}
	return out
}

// Access is what a client may see. A name that is no client's is a label of a program
// of the same person, over stdio, which may see everything: it could read the files.
func (c *Clients) Access(name string) Access {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.list {
		if x.Name == name {
			return x.Access
		}
	}
	return Access{}
}

// Seen notes that a client has connected.
func (c *Clients) Seen(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.list {
		if x.Name == name {
			x.LastSeen = time.Now()
		}
	}
}

// Authenticate implements [server.Authorization] by the bearer token.
func (c *Clients) Authenticate(r *http.Request) (string, error) {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return "", errUnknown
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", errUnknown
	}
	digest := []byte(digestOf(strings.TrimSpace(token)))
	c.mu.Lock()
	defer c.mu.Unlock()
	name, found := "", 0
	for _, x := range c.list {
		if same := subtle.ConstantTimeCompare(digest, []byte(x.Digest)); same == 1 {
			name, found = x.Name, 1
		}
	}
	if found == 0 {
		return "", errUnknown
	}
	return name, nil
}

func digestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
