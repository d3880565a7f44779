package arch

import "path"

// Module is the path of Drawbridge's module.
const Module = "github.com/drawbridge-mcp/drawbridge"

// floors are the packages of the house, by path below the module. A package
// imports only packages of lower floors. Packages below one of these (its
// internals, its test suite) belong to it.
var floors = map[string]float64{
	".":                8,
	"ui":               7,
	"core/hub":         6,
	"core/gateway":     5,
	"core/client":      4,
	"core/server":      4,
	"core/approval":    4,
	"core/transport":   3,
	"core/history":     3,
	"core/oauth":       3,
	"core/era":         2,
	"core/breaker":     2,
	"core/reservation": 2,
	"core/spec":        2,
	"core/mcp":         1,
	"core/jsonrpc":     1,
	"secrets":          1,
	"assets":           0,
}

// ban says that a package, with all below it, must not know something. A pattern
// that ends in "/..." covers a tree; Drawbridge's own packages are named by their
// path below the module.
type ban struct {
	who     string
	except  string // one package that is free of it
	tests   bool   // holds for tests as well
	what    []string
	because string
}

var bans = []ban{
	{who: "...", except: ".", tests: true, what: []string{"fyne.io/fyne/v2/app"}, because: "only main.go may need cgo and a display"},
	{who: "core", tests: true, what: []string{"fyne.io/..."}, because: "the core knows no window"},
	{who: "secrets", tests: true, what: []string{"fyne.io/..."}, because: "the keyring knows no window"},
	{who: "ui", what: []string{"core/transport/...", "core/jsonrpc/...", "core/client/...", "core/server/...", "core/gateway/...", "secrets/..."}, because: "the window knows only the hub's snapshots"},
	{who: "ui", what: []string{"net", "net/http/...", "net/rpc/...", "os", "os/exec", "os/signal", "io/ioutil"}, because: "the window does no I/O"},
	{who: "core/client", what: []string{"net", "net/http/...", "os", "os/exec"}, because: "the session machine knows no wires"},
	{who: "core/era", what: []string{"net/http/...", "os/exec"}, because: "evidence is judged without a client"},
	{who: "core/mcp", what: []string{"net", "net/http/...", "os", "os/exec"}, because: "the vocabulary does no I/O"},
	{who: "core/jsonrpc", what: []string{"net", "net/http/...", "os", "os/exec"}, because: "the envelope does no I/O"},
	{who: "secrets", what: []string{Module + "/..."}, because: "the keyring stands alone"},
	{who: "assets", what: []string{Module + "/...", "fyne.io/..."}, because: "assets are bytes"},
}

// maxLines is the length at which a file of the product must be split.
const maxLines = 600

// home returns the package of the table that p is or lies below. Main owns no
// folder but its own.
func home(p string) (string, bool) {
	for {
		if _, ok := floors[p]; ok {
			return p, true
		}
		parent := path.Dir(p)
		if parent == "." || parent == p {
			return "", false
		}
		p = parent
	}
}
