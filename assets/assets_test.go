package assets

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"
)

func TestIconIsOneWholeSVG(t *testing.T) {
	d := xml.NewDecoder(bytes.NewReader(Icon()))
	var root string
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && root == "" {
			root = e.Name.Local
		}
	}
	if root != "svg" {
		t.Errorf("root element %q", root)
	}
}

// FyneApp.toml and the packagers need the icon as a PNG of this size.
func TestIconPNG(t *testing.T) {
	f, err := os.Open("icon.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := png.DecodeConfig(f)
	if err != nil || c.Width != 512 || c.Height != 512 {
		t.Errorf("%dx%d, %v", c.Width, c.Height, err)
	}
}

// `make install` puts the program's path where the template has a word for it.
func TestDesktopEntry(t *testing.T) {
	b, err := os.ReadFile("io.github.drawbridge_mcp.drawbridge.desktop")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"[Desktop Entry]", "Type=Application", "Exec=@BINDIR@/drawbridge", "Icon=io.github.drawbridge_mcp.drawbridge", "Name=Drawbridge"} {
		if !strings.Contains(string(b), "\n"+line+"\n") && !strings.HasPrefix(string(b), line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
}
