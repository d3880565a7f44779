package spec

import (
	"fmt"

	"github.com/tailscale/hujson"
)

const (
	// maxServers bounds the servers of one file.
	maxServers = 5000
	// maxName bounds a server's name, in bytes.
	maxName = 128

	rootKey  = "mcpServers"
	extraKey = "drawbridge"
)

// Parse reads the content of a file: JSON with comments and trailing commas (P2).
// A bad server becomes an entry with an error. The error of Parse itself is a
// [*SyntaxError] and means that nothing of the file is in force.
func Parse(file []byte, source Source) (*File, error) {
	d, err := parseDocument(file)
	if err != nil {
		return nil, err
	}
	f := &File{Hash: hashOf(file), Blank: d.root == nil}
	if d.root == nil {
		return f, nil
	}
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, &SyntaxError{
			d.pos(d.root), "the file must hold an object, not " + kindOf(d.root),
			`start from {"mcpServers": {}}`,
		}
	}
	servers, err := d.servers(root, f)
	if err != nil || servers == nil {
		return f, err
	}
	d.entries(f, servers, source)
	return f, nil
}

// servers finds the object of all servers, nil when there is none.
func (d *document) servers(root *hujson.Object, f *File) (*hujson.Object, error) {
	var found *hujson.Value
	for i := range root.Members {
		m := &root.Members[i]
		switch name := nameOf(m); {
		case name == rootKey && found != nil:
			return nil, &SyntaxError{
				d.pos(&m.Name), fmt.Sprintf("%s stands twice in the file, first at %s", quote(rootKey), d.pos(found)),
				"merge the two into one",
			}
		case name == rootKey:
			found = &m.Value
		case name != "$schema":
			addNote(&f.Notes, d.pos(&m.Name), "%s is not read by Drawbridge%s", quote(name), rootHints.suggest(name))
		}
	}
	if found == nil {
		return nil, nil
	}
	servers, ok := found.Value.(*hujson.Object)
	if !ok {
		return nil, &SyntaxError{
			d.pos(found), quote(rootKey) + " must be an object, not " + kindOf(found),
			"write " + `{"name": {"command": "…"}}` + " there",
		}
	}
	if len(servers.Members) > maxServers {
		return nil, &SyntaxError{
			d.pos(found), fmt.Sprintf("there are more than %d servers", maxServers), "remove some",
		}
	}
	return servers, nil
}

// entries decodes each server on its own.
func (d *document) entries(f *File, servers *hujson.Object, source Source) {
	seen := make(map[string]*Entry, len(servers.Members))
	for i := range servers.Members {
		m := &servers.Members[i]
		name, pos := nameOf(m), d.pos(&m.Name)
		if first := seen[name]; first != nil {
			// Programs differ in which of the two they take, so neither is taken.
			first.Spec = nil
			first.Err = &InvalidError{
				Pos: pos, Sentence: fmt.Sprintf("the name %s is used twice, at %s and %s", quote(name), first.Pos, pos),
				Action: "rename or remove one of the two", Spec: Redacted{Name: clip(name, maxName), Source: source},
			}
			continue
		}
		e := d.entry(m, source)
		seen[name] = e
		f.Entries = append(f.Entries, e)
	}
}

func (d *document) pos(v *hujson.Value) Pos { return d.cursor.at(d.text, v.StartOffset) }

func nameOf(m *hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// kindOf names a value's kind as it reads in a sentence.
func kindOf(v *hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "true or false"
}

// text returns v as a string, false when it is something else.
func text(v *hujson.Value) (string, bool) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != '"' {
		return "", false
	}
	return lit.String(), true
}
