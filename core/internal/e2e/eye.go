package e2e

import (
	"image"
	_ "image/png" // screenshots
	"os"
	"path/filepath"
	"time"
)

// Picture is a screenshot for the documentation: it is kept in the folder that
// DRAWBRIDGE_SCREENSHOTS names, if any, once the last frame has been drawn.
func (d *Display) Picture(name string) image.Image {
	d.tb.Helper()
	time.Sleep(time.Second)
	if dir := os.Getenv("DRAWBRIDGE_SCREENSHOTS"); dir != "" {
		return d.shoot(dir, name)
	}
	return d.Screenshot(name)
}

// Screenshot takes a picture of the whole screen and keeps it as NAME.png in
// build/screenshots, for whoever wants to look after a run.
func (d *Display) Screenshot(name string) image.Image {
	d.tb.Helper()
	return d.shoot(filepath.Join("..", "..", "..", "build", "screenshots"), name)
}

func (d *Display) shoot(dir, name string) image.Image {
	d.tb.Helper()
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
