package spec

import (
	"errors"
	"fmt"

	"github.com/tailscale/hujson"
)

// The reasons for which an edit changes nothing, for errors.Is.
var (
	// ErrChanged means that the file is not the one that the edit was made for.
	ErrChanged = errors.New("the file changed in the meantime")
	// ErrBroken means that the file cannot be parsed and is left alone (case 93).
	ErrBroken = errors.New("the file cannot be edited while it is broken")
	// ErrExists means that there is already a server of that name.
	ErrExists = errors.New("there is already a server of that name")
	// ErrNoServer means that there is no server of that name.
	ErrNoServer = errors.New("there is no server of that name")
	// ErrReadOnly means that the file's mode says that it is not to be written.
	ErrReadOnly = errors.New("the file is read-only")
	// ErrShape means that something else stands where the edit belongs.
	ErrShape = errors.New("something else stands in the place of the edit")
)

// Change turns one content of a spec file into another, or refuses. It touches
// only what it is about (P2).
type Change func(file []byte) ([]byte, error)

// AddServer adds s as the last server. Its file may be empty.
func AddServer(s *Spec) Change {
	return func(file []byte) ([]byte, error) {
		d, err := editable(file)
		if err != nil {
			return nil, err
		}
		e := &splicer{document: d, style: styleOf(d.text)}
		value := e.server(s)
		if d.root == nil {
			e.appendRoot(s.Name, value)
			return e.result(s.Name)
		}
		root, ok := d.root.Value.(*hujson.Object)
		if !ok {
			return nil, ErrShape
		}
		at := lookup(root, rootKey)
		if at == nil {
			e.insert(d.root, rootKey, object{{s.Name, value}})
			return e.result(s.Name)
		}
		servers, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, ErrShape
		}
		if lookup(servers, s.Name) != nil {
			return nil, fmt.Errorf("add %s: %w", quote(s.Name), ErrExists)
		}
		e.insert(at, s.Name, value)
		return e.result(s.Name)
	}
}

// SetDisabled turns the server called name off or on. It writes the switch below
// "drawbridge", which wins over the entry's own "disabled": that one belongs to
// other programs too, and stays.
func SetDisabled(name string, disabled bool) Change {
	return func(file []byte) ([]byte, error) {
		d, err := editable(file)
		if err != nil {
			return nil, err
		}
		at, err := d.find(name)
		if err != nil {
			return nil, fmt.Errorf("switch %s: %w", quote(name), err)
		}
		f, err := Parse(file, User)
		if err != nil {
			return nil, err
		}
		if f.Find(name).Disabled == disabled {
			return file, nil
		}
		word := raw("false")
		if disabled {
			word = "true"
		}
		return d.setExtra(name, at, "disabled", word)
	}
}

// SetConcurrency says how many calls to the server called name may be on the wire
// at a time (T5), below "drawbridge".
func SetConcurrency(name string, c Concurrency) Change {
	return func(file []byte) ([]byte, error) {
		d, err := editable(file)
		if err != nil {
			return nil, err
		}
		at, err := d.find(name)
		if err != nil {
			return nil, fmt.Errorf("set the concurrency of %s: %w", quote(name), err)
		}
		return d.setExtra(name, at, "concurrency", raw(jsonString(string(c))))
	}
}

// setExtra sets one member below "drawbridge" of the server called name, which is
// the object at.
func (d *document) setExtra(name string, at *hujson.Value, key string, value raw) ([]byte, error) {
	e := &splicer{document: d, style: styleOf(d.text)}
	extra := lookup(at.Value.(*hujson.Object), extraKey)
	switch {
	case extra == nil:
		e.insert(at, extraKey, inline{{key, value}})
	case extra.Value.Kind() == 'n':
		e.replace(extra, inline{{key, value}})
	case extra.Value.Kind() != '{':
		return nil, fmt.Errorf("set %s of %s: %w", quote(key), quote(name), ErrShape)
	default:
		if old := lookup(extra.Value.(*hujson.Object), key); old != nil {
			e.replace(old, value)
		} else {
			e.insert(extra, key, value)
		}
	}
	return e.result(name)
}

func editable(file []byte) (*document, error) {
	d, err := parseDocument(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return d, nil
}

// find returns the value of the server called name, an object that stands there
// once.
func (d *document) find(name string) (*hujson.Value, error) {
	if d.root == nil {
		return nil, ErrNoServer
	}
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, ErrShape
	}
	at := lookup(root, rootKey)
	if at == nil {
		return nil, ErrNoServer
	}
	servers, ok := at.Value.(*hujson.Object)
	if !ok {
		return nil, ErrShape
	}
	var found *hujson.Value
	for i := range servers.Members {
		if nameOf(&servers.Members[i]) != name {
			continue
		}
		if found != nil || servers.Members[i].Value.Value.Kind() != '{' {
			return nil, ErrShape
		}
		found = &servers.Members[i].Value
	}
	if found == nil {
		return nil, ErrNoServer
	}
	return found, nil
}

// lookup returns the value of a member, nil when there is none.
func lookup(obj *hujson.Object, name string) *hujson.Value {
	for i := range obj.Members {
		if nameOf(&obj.Members[i]) == name {
			return &obj.Members[i].Value
		}
	}
	return nil
}
