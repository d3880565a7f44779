package approval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/natefinch/atomic"
)

const (
	storeFormat = 1
	maxStore    = 64 << 20
)

// ErrBrokenStore says that the file of grants could not be understood. It was set
// aside under the same name with ".broken" behind it, and nothing is granted.
var ErrBrokenStore = errors.New("the file of grants is broken and was set aside; nothing is granted")

// stored is the file of grants. It is the program's own: people write policy.json.
type stored struct {
	Format int     `json:"format"`
	Agreed string  `json:"confirmedPolicy,omitempty"`
	Grants []Grant `json:"grants"`
	Known  []entry `json:"known"`
}

type entry struct {
	Server     string    `json:"server"`
	Tool       string    `json:"tool"`
	Pin        Pin       `json:"pin"`
	Definition string    `json:"definition"`
	At         time.Time `json:"at"`
}

// Open returns the book that is kept in the file at path, which may be missing. The
// file is replaced as a whole or not at all, has mode 0600, and its folder is made
// if need be. The book can be used whatever the error: after [ErrBrokenStore] it is
// a new one in the same place, after any other it is kept in memory, so as not to
// overwrite what could not be read.
func Open(path string) (*Book, error) {
	b := NewBook()
	data, err := readStore(path)
	if err != nil {
		return b, err
	}
	b.path = path
	if data == nil {
		return b, nil
	}
	if b.load(data) {
		return b, nil
	}
	if err := os.Rename(path, path+".broken"); err != nil {
		b.path = ""
		return b, fmt.Errorf("setting the broken file of grants aside: %w", err)
	}
	return b, ErrBrokenStore
}

func readStore(path string) (data []byte, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, maxStore+1))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the file of grants: %w", err)
	}
	return data, nil
}

// load reads the file into an empty book; false when it makes no sense. One bad
// grant spoils the file: a grant that was left out might be a denial.
func (b *Book) load(data []byte) bool {
	var s stored
	if len(data) > maxStore || json.Unmarshal(data, &s) != nil || s.Format != storeFormat {
		return false
	}
	p, err := ParsePolicy([]byte(s.Agreed))
	if err != nil {
		return false
	}
	for _, g := range s.Grants {
		tool := g.Tool != "" && (g.Effect == Deny || g.Pin != "")
		if g.ID == "" || g.Server == "" || (g.Effect != Allow && g.Effect != Deny) || (!tool && g.Effect == Deny) {
			return false
		}
	}
	b.confirmed, b.agreed = p, s.Agreed
	b.grants = s.Grants
	for _, e := range s.Known {
		b.known[toolKey{e.Server, e.Tool}] = known{e.Pin, e.Definition, e.At}
	}
	return true
}

// OnError is told when the file cannot be written; what was decided still holds
// until the program ends. It is set before the book is used.
func (b *Book) OnError(told func(error)) { b.failed = told }

// save writes the book down. Whoever comes later writes all that came before.
func (b *Book) save() {
	if b.path == "" {
		return
	}
	b.saving.Lock()
	defer b.saving.Unlock()
	data, err := b.encode()
	if err == nil && bytes.Equal(data, b.saved) {
		return
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(b.path), 0o700)
	}
	if err == nil {
		err = atomic.WriteFile(b.path, bytes.NewReader(data))
	}
	if err == nil {
		b.saved = data
	} else if b.failed != nil {
		b.failed(fmt.Errorf("writing the file of grants: %w", err))
	}
}

func (b *Book) encode() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := stored{Format: storeFormat, Agreed: b.agreed, Grants: []Grant{}, Known: []entry{}}
	for _, g := range b.grants {
		if !g.Session {
			s.Grants = append(s.Grants, g)
		}
	}
	for key, k := range b.known {
		s.Known = append(s.Known, entry{key.server, key.tool, k.pin, k.text, k.at})
	}
	slices.SortFunc(s.Known, func(a, b entry) int {
		return strings.Compare(a.Server+"\x00"+a.Tool, b.Server+"\x00"+b.Tool)
	})
	data, err := json.MarshalIndent(s, "", "  ")
	return append(data, '\n'), err
}
