// Package assets holds the files that ship inside the program, as bytes: it knows
// no toolkit, so that everything can import it.
package assets

import _ "embed"

//go:embed icon.svg
var icon []byte

// Icon returns the app's icon, an SVG. Callers must not change it.
func Icon() []byte { return icon }
