package spec

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// File is what one file says. It is not changed after it was made.
type File struct {
	// Entries are the servers in the order of the file, one per name.
	Entries []*Entry
	// Notes are remarks on the file; those on a server are with its entry.
	Notes []Note
	// Hash tells one content from another.
	Hash Hash
	// Missing says that there is no such file, which is as good as no servers.
	Missing bool
	// Blank says that the file holds nothing but blanks and comments.
	Blank bool
}

// Hash is the digest of a file's bytes. The zero Hash is that of no file.
type Hash [sha256.Size]byte

func hashOf(file []byte) Hash { return sha256.Sum256(file) }

// Entry is one server of a file. Exactly one of Spec and Err is set.
type Entry struct {
	Name string
	// Pos is the place of the name.
	Pos  Pos
	Spec *Spec
	Err  *InvalidError
	// Disabled is the person's switch, known for most invalid servers too.
	Disabled bool
	Notes    []Note
}

// Find returns the entry called name, nil when there is none.
func (f *File) Find(name string) *Entry {
	for _, e := range f.Entries {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Load reads the file at path. A missing file holds no servers and is no error.
// The error is a [*SyntaxError] when it is the content that is at fault.
func Load(path string, source Source) (*File, error) {
	text, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &File{Missing: true}, nil
	case err != nil:
		return nil, err
	}
	return Parse(text, source)
}

// read returns the file's bytes, one more than MaxFile of them at most.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the spec file: %w", err)
	}
	defer f.Close()
	// A pipe or device in the file's place would block for ever.
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open the spec file: %w", errNotRegular)
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the spec file: %w", err)
	}
	return text, nil
}

var errNotRegular = errors.New("it is not a regular file")
