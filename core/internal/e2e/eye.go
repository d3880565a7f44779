package e2e

import (
	"image"
	_ "image/png" // screenshots
	"os"
	"path/filepath"
)

// Screenshot takes a picture of the whole screen and keeps it as NAME.png: in the
// documentation's folder if pictures are being made for it, else for whoever
// wants to look after a run.
func (d *Display) Screenshot(name string) image.Image {
	d.tb.Helper()
	dir := os.Getenv("DRAWBRIDGE_SCREENSHOTS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "build", "screenshots")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		d.tb.Fatal(err)
	}
	path := filepath.Join(dir, name+".png")
	d.must("import", "-window", "root", "-strip", path)
	f, err := os.Open(path)
	if err != nil {
		d.tb.Fatal(err)
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		d.tb.Fatal(err)
	}
	return img
}

// colours counts the different colours of a picture, as a measure of how much is
// drawn there: an empty screen has one.
func colours(img image.Image) int {
	seen := map[[3]uint32]bool{}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
		}
	}
	return len(seen)
}
