package server

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
)

// table keeps entries by name and in the order they were added. Each has a number
// that never comes again, so that a cursor holds through changes between two pages.
type table[T any] struct {
	byName map[string]*entry[T]
	order  []*entry[T]
	last   uint64
}

type entry[T any] struct {
	number uint64
	value  T
}

func (t *table[T]) get(name string) (T, bool) {
	e, ok := t.byName[name]
	if !ok {
		var zero T
		return zero, false
	}
	return e.value, true
}

func (t *table[T]) put(name string, v T) bool {
	if e, ok := t.byName[name]; ok {
		e.value = v
		return true
	}
	if t.byName == nil {
		t.byName = map[string]*entry[T]{}
	}
	t.last++
	e := &entry[T]{t.last, v}
	t.byName[name] = e
	t.order = append(t.order, e)
	return true
}

func (t *table[T]) remove(name string) bool {
	e, ok := t.byName[name]
	if !ok {
		return false
	}
	delete(t.byName, name)
	i, _ := t.after(e.number - 1)
	t.order = slices.Delete(t.order, i, i+1)
	return true
}

// after returns the index of the first entry behind the number.
func (t *table[T]) after(number uint64) (int, bool) {
	return slices.BinarySearchFunc(t.order, number+1, func(e *entry[T], n uint64) int {
		switch {
		case e.number < n:
			return -1
		case e.number > n:
			return 1
		}
		return 0
	})
}

// page writes one page of a list result: the definitions behind the cursor, and
// nextCursor while there are more (server/utilities/pagination). The error is
// -32602 for a cursor that is not ours.
func page[T interface{ definition() json.RawMessage }](t *table[T], name, cursor string, size int) (json.RawMessage, *jsonrpc.Error) {
	from := uint64(0)
	if cursor != "" {
		var ok bool
		if from, ok = readCursor(name, cursor); !ok {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Invalid cursor")
		}
	}
	start, _ := t.after(from)
	end := min(start+size, len(t.order))
	b := append([]byte(`{"`+name+`":[`), ""...)
	for i, e := range t.order[start:end] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e.value.definition()...)
	}
	b = append(b, ']')
	if end < len(t.order) {
		b = append(append(append(b, `,"nextCursor":"`...), writeCursor(name, t.order[end-1].number)...), '"')
	}
	return append(b, '}'), nil
}

// A cursor is the list's name and the number of the last entry given, in a form
// that invites nobody to read it.
func writeCursor(list string, number uint64) string {
	return base64.RawURLEncoding.EncodeToString(binary.AppendUvarint([]byte(list+":"), number))
}

func readCursor(list, cursor string) (uint64, bool) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) <= len(list)+1 || string(b[:len(list)+1]) != list+":" {
		return 0, false
	}
	n, _ := binary.Uvarint(b[len(list)+1:])
	return n, writeCursor(list, n) == cursor // nothing but what we write
}
