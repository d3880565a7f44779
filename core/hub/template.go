package hub

import (
	"slices"
	"strings"

	stduritemplate "github.com/std-uritemplate/std-uritemplate/go/v2"
)

// Expand fills in a URI template (RFC 6570). Values that are "" are left out. The
// error says that the template cannot be read.
func Expand(template string, values map[string]string) (string, error) {
	given := stduritemplate.Substitutions{}
	for name, v := range values {
		if v != "" {
			given[name] = v
		}
	}
	return stduritemplate.Expand(template, given)
}

// templateVars returns the variables of a URI template in its order, each once.
func templateVars(template string) ([]Var, error) {
	if _, err := Expand(template, nil); err != nil {
		return nil, err
	}
	var vars []Var
	for _, part := range strings.Split(template, "{")[1:] {
		expression, _, _ := strings.Cut(part, "}")
		// Without a variable of a query the URI still names the same thing.
		optional := strings.HasPrefix(expression, "?") || strings.HasPrefix(expression, "&")
		for name := range strings.SplitSeq(strings.TrimLeft(expression, "+#./;?&"), ",") {
			name, _, _ = strings.Cut(strings.TrimSuffix(name, "*"), ":")
			if i := slices.IndexFunc(vars, func(v Var) bool { return v.Name == name }); i >= 0 {
				vars[i].Optional = vars[i].Optional && optional
				continue
			}
			vars = append(vars, Var{Name: name, Optional: optional})
		}
	}
	return vars, nil
}
