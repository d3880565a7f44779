package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
)

// A list as people have it: both eras, one dead, one without its program, one
// turned off. It is what the README shows, in the dark and in the light theme.
func TestTheList(t *testing.T) {
	for picture, theme := range map[string]string{"list": "dark", "list-light": "light"} {
		t.Run(theme, func(t *testing.T) {
			d := StartDisplay(t, windowSize)
			a := Prepare(t, "")
			servers := map[string]any{}
			add := func(name, program string, s fakeserver.Script) {
				s.Name = name
				self, args := fakeserver.Command(t, s)
				if err := os.Symlink(self, filepath.Join(a.Bin(), program)); err != nil {
					t.Fatal(err)
				}
				servers[name] = map[string]any{"command": program, "args": args}
			}
			add("calendar", "calendar-mcp", fakeserver.Script{Era: fakeserver.Dual, ToolCount: 9})
			add("database", "database-mcp", fakeserver.Script{ToolCount: 14})
			add("files", "files-mcp", fakeserver.Script{Negotiate: "2025-06-18", ToolCount: 11})
			add("notes", "notes-mcp", fakeserver.Script{Era: fakeserver.Modern, ToolCount: 6})
			add("search", "search-mcp", fakeserver.Script{Stderr: "SEARCH_KEY is not set\n", Exit: &fakeserver.Exit{Code: 3}})
			add("team chat", "chat-mcp", fakeserver.Script{Era: fakeserver.Modern, ToolCount: 21})
			servers["mail"] = map[string]any{"command": "mail-mcp"}
			servers["old wiki"] = map[string]any{"command": "wiki-mcp", "disabled": true}
			text, err := json.Marshal(map[string]any{"mcpServers": servers})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(a.Spec, text, 0o600); err != nil {
				t.Fatal(err)
			}
			a.Setenv("FYNE_THEME", theme)
			a.Start(d)
			awaitWindow(a, d)
			a.Await("five ready servers", func() bool {
				s := a.Status()
				return s != nil && count(s, hub.Ready) == 5 && count(s, hub.Off) == 1 && find(s, "search").Sentence != ""
			})
			if n := colours(d.Picture(picture)); n < 50 {
				t.Errorf("the list shows %d colours", n)
			}
			a.Quit()
		})
	}
}
