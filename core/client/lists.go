package client

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// ListKind is one of the lists a server offers.
type ListKind string

// The lists.
const (
	Tools             ListKind = "tools"
	Resources         ListKind = "resources"
	ResourceTemplates ListKind = "resourceTemplates"
	Prompts           ListKind = "prompts"
)

var listKinds = []ListKind{Tools, Resources, ResourceTemplates, Prompts}

func (k ListKind) method() string {
	switch k {
	case Resources:
		return mcp.MethodResourcesList
	case ResourceTemplates:
		return mcp.MethodResourcesTemplatesList
	case Prompts:
		return mcp.MethodPromptsList
	}
	return mcp.MethodToolsList
}

func (k ListKind) capability() string {
	if k == ResourceTemplates {
		return "resources"
	}
	return string(k)
}

// The bounds of listing (C5, field cases 58 and 86).
const (
	maxPages    = 1000
	maxItems    = 20000
	debounce    = 300 * time.Millisecond
	maxDebounce = 60 * time.Second
)

// ListStatus describes one list.
type ListStatus struct {
	// Count is -1 until the list was fetched.
	Count int
	// Incomplete says that the list stopped early (C5).
	Incomplete bool
	// Note says why there is nothing although the server declared it.
	Note string
	// Err is why the last fetch failed; an older list, if any, is kept.
	Err error
	// Rev changes whenever the items do.
	Rev uint64
}

// list is one list and its refreshing: one runs, one is queued (C5).
type list struct {
	items      []json.RawMessage
	tools      []ToolEntry
	count      int
	incomplete bool
	note       string
	err        error
	rev        uint64
	running    bool
	queued     bool
	floor      time.Duration // the least time between two refreshes
}

// reset forgets that anything was fetched on an earlier connection, but keeps the
// items to be shown until new ones come.
func (l *list) reset() { l.err, l.note, l.floor = nil, "", 0 }

func (l *list) status() ListStatus {
	return ListStatus{Count: l.count, Incomplete: l.incomplete, Note: l.note, Err: l.err, Rev: l.rev}
}

// Items returns a list's items as they came. The slice is not to be changed.
func (s *Session) Items(k ListKind) []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.lists[k].items
}

// ListsRev changes whenever the items of any list do. It is cheap to ask for.
func (s *Session) ListsRev() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum uint64
	for _, l := range s.st.lists {
		sum += l.rev
	}
	return sum
}

// undeclared empties a list that the server does not offer; it is never asked for
// (field case 48).
func (s *Session) undeclared(k ListKind) {
	s.update(func(st *sessionState) {
		l := st.lists[k]
		if l.count != 0 {
			l.rev++
		}
		l.items, l.tools, l.count, l.incomplete = nil, nil, 0, false
	})
}

// refresh fetches a list soon: at once the first time, after the debounce later,
// and once more when a change was announced meanwhile.
func (s *Session) refresh(k ListKind) {
	s.mu.Lock()
	l := s.st.lists[k]
	if s.st.conn == nil || !s.st.conn.caps.Has(k.capability()) {
		s.mu.Unlock()
		return
	}
	if l.running {
		l.queued = true
		s.mu.Unlock()
		return
	}
	l.running = true
	s.mu.Unlock()
	s.wg.Go(func() { s.refreshing(k, l) })
}

func (s *Session) refreshing(k ListKind, l *list) {
	for {
		s.mu.Lock()
		wait, o := l.floor, s.st.conn
		s.mu.Unlock()
		if o != nil && o.link.rest(s.ctx, wait) {
			s.mu.Lock()
			l.queued = false
			s.mu.Unlock()
			_ = s.fetch(s.ctx, o, k) // kept in the list's status
		}
		s.mu.Lock()
		again := l.queued && s.st.conn != nil && s.ctx.Err() == nil
		l.running = again
		s.mu.Unlock()
		if !again {
			return
		}
	}
}

// fetch gets all pages of a list and publishes them.
func (s *Session) fetch(ctx context.Context, o *opened, k ListKind) error {
	items, complete, err := s.pages(ctx, o, k)
	note := ""
	if rpcCode(err) == jsonrpc.CodeMethodNotFound {
		// Declared, but not there: that is an empty list, not a failure.
		err, note = nil, "The server declares "+string(k)+" but does not know "+k.method()+"."
	}
	if o.link.err() != nil {
		return o.link.err()
	}
	if ctx.Err() != nil {
		return err // whoever asked has gone, which says nothing about the list
	}
	s.update(func(st *sessionState) {
		l := st.lists[k]
		l.err, l.note = err, note
		if err != nil {
			return
		}
		same := l.count >= 0 && slices.EqualFunc(l.items, items, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
		if same {
			// A server that announces changes without end gets asked less and
			// less often (field case 86).
			l.floor = min(max(2*l.floor, debounce), maxDebounce)
		} else {
			l.floor = debounce
			l.rev++
		}
		l.items, l.count, l.incomplete = items, len(items), !complete
		if k == Tools && !same {
			l.tools = s.readTools(items)
		}
	})
	return err
}

// pages follows cursors by presence: an empty string is a cursor (C5;
// server/utilities/pagination). It stops at a repeated cursor or a bound and then
// reports the list as incomplete.
func (s *Session) pages(ctx context.Context, o *opened, k ListKind) (items []json.RawMessage, complete bool, err error) {
	seen := map[string]bool{}
	var fields json.RawMessage
	for range maxPages {
		result, err := s.page(ctx, o, k.method(), fields)
		if err != nil {
			return nil, false, err
		}
		var page []json.RawMessage
		if raw := jsonrpc.Get(result, string(k)); json.Unmarshal(raw, &page) != nil || page == nil {
			return nil, false, &transport.Error{Code: transport.Invalid, Reason: k.method()}
		}
		cursor := jsonrpc.Get(result, "nextCursor")
		if cursor != nil && cursor[0] == '"' && seen[string(cursor)] {
			// The page was asked for with this very cursor before.
			if len(items) == 0 || len(page) == 0 || !bytes.Equal(items[len(items)-1], page[len(page)-1]) {
				items = append(items, page...)
			}
			return items, false, nil
		}
		items = append(items, page...)
		if cursor == nil || cursor[0] != '"' {
			return items, true, nil
		}
		if len(items) >= maxItems {
			return items[:maxItems], false, nil
		}
		seen[string(cursor)] = true
		fields = append(append([]byte(`{"cursor":`), cursor...), '}')
	}
	return items, false, nil
}

// page sends one list request, and again on a new session if the old one was
// rejected.
func (s *Session) page(ctx context.Context, o *opened, method string, fields json.RawMessage) (json.RawMessage, error) {
	c := Call{Method: method, Fields: fields, own: true}
	result, epoch, err := s.exchange(ctx, o, c)
	if transport.CodeOf(err) == transport.SessionRejected && s.renew(ctx, o, epoch) == nil {
		result, _, err = s.exchange(ctx, o, c)
	}
	if err != nil {
		s.consider(o, err)
		return nil, err
	}
	if need, err := readResult(o, method, result); err != nil || need != nil {
		return nil, &transport.Error{Code: transport.Invalid, Reason: method}
	}
	return result, nil
}
