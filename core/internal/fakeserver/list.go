package fakeserver

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// definition is a tool as tools/list shows it.
type definition struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// tools lists the definitions in force.
func (p *peer) tools() []json.RawMessage {
	var list []json.RawMessage
	switch {
	case p.script.Tools != nil:
		list = append(list, p.script.Tools...)
	case p.script.ToolCount > 0:
		for i := range p.script.ToolCount {
			list = append(list, encode(definition{
				Name: fmt.Sprintf("tool-%d", i), Description: "Echoes its text.", InputSchema: tools["echo"].schema(),
			}))
		}
	default:
		for _, name := range Tools() {
			list = append(list, encode(definition{
				Name: name, Description: tools[name].about, InputSchema: tools[name].schema(),
			}))
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.added {
		list = append(list, encode(definition{
			Name: fmt.Sprintf("added-%d", i+1), Description: "Was added while running.", InputSchema: tools["echo"].schema(),
		}))
	}
	return list
}

type toolsPage struct {
	ResultType string            `json:"resultType,omitempty"`
	Tools      []json.RawMessage `json:"tools"`
	NextCursor *string           `json:"nextCursor,omitempty"`
	TTL        *int              `json:"ttlMs,omitempty"`
	CacheScope string            `json:"cacheScope,omitempty"`
}

// listTools serves one page (case 58). A cursor is "page-N", in the odd modes
// whatever the mode says.
func (p *peer) listTools(cursor *string, modern bool) (any, *Error) {
	all, size := p.tools(), p.script.PageSize
	if size <= 0 {
		size = max(len(all), 1)
	}
	page := 0
	if cursor != nil {
		var err error
		if page, err = p.pageOf(*cursor); err != nil {
			return nil, &Error{Code: -32602, Message: "Invalid params: unknown cursor"}
		}
	}
	from := min(page*size, len(all))
	result := toolsPage{Tools: all[from:min(from+size, len(all))]}
	if result.Tools == nil {
		result.Tools = []json.RawMessage{}
	}
	if next := p.cursorAfter(page); from+size < len(all) || p.endless() {
		result.NextCursor = &next
	}
	if modern {
		result.ResultType, result.TTL, result.CacheScope = "complete", new(0), "private"
	}
	return result, nil
}

func (p *peer) endless() bool {
	switch p.script.Cursors {
	case CursorsEmptyEver, CursorsSame, CursorsEndless:
		return true
	}
	return false
}

func (p *peer) cursorAfter(page int) string {
	switch {
	case p.script.Cursors == CursorsEmptyEver, p.script.Cursors == CursorsEmptyWord && page == 0:
		return ""
	case p.script.Cursors == CursorsSame:
		return "again"
	default:
		return "page-" + strconv.Itoa(page+1)
	}
}

func (p *peer) pageOf(cursor string) (int, error) {
	switch {
	case cursor == "" && p.script.Cursors == CursorsEmptyWord:
		return 1, nil
	case cursor == "" && p.script.Cursors == CursorsEmptyEver, cursor == "again" && p.script.Cursors == CursorsSame:
		return 0, nil
	}
	number, ok := strings.CutPrefix(cursor, "page-")
	if !ok {
		return 0, fmt.Errorf("cursor %q", cursor)
	}
	return strconv.Atoi(number)
}
