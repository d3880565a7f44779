package ui

import (
	"bytes"
	"context"
	"image"
	"image/color"
	_ "image/gif"  // for image.Decode
	_ "image/jpeg" // for image.Decode
	_ "image/png"  // for image.Decode
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// What is decoded at all: a small file can claim a picture of any size.
const (
	maxPixels     = 25_000_000
	maxImageBytes = 16 << 20
	// shownSide is the longest side of what is kept for showing, in pixels.
	shownSide = 1600
	// thumbHeight is the height of a picture among other blocks.
	thumbHeight = 280
)

// Why a picture is not shown.
const (
	tooManyPixels = "The picture has too many pixels to be shown here."
	tooManyBytes  = "The picture is too large to be shown here."
	noPicture     = "This is not a picture that can be shown here."
)

// decoding lets one picture at a time be decoded, which bounds the memory it takes.
var decoding sync.Mutex

// image shows a picture, decoded off the UI goroutine.
func (v *resultView) image(c hub.Content, alone bool) fyne.CanvasObject {
	place := container.NewStack(caption("…", widget.LowImportance))
	v.u.background(func(context.Context) {
		decoding.Lock()
		defer decoding.Unlock()
		if v.ctx.Err() != nil {
			return
		}
		img, problem := decodeImage(c.Data)
		v.u.cfg.Do(func() {
			if v.ctx.Err() != nil {
				return
			}
			if problem != "" {
				place.Objects[0] = caption(problem, widget.WarningImportance)
			} else {
				place.Objects[0] = picture(img, alone)
			}
			place.Refresh()
			v.box.Refresh()
		})
	})
	return place
}

// picture shows an image at its size, or smaller where there is no room.
func picture(img image.Image, alone bool) fyne.CanvasObject {
	p := canvas.NewImageFromImage(img)
	p.FillMode = canvas.ImageFillContain
	p.ScaleMode = canvas.ImageScaleSmooth
	size := fyne.NewSize(float32(img.Bounds().Dx()), float32(img.Bounds().Dy()))
	most := float32(thumbHeight)
	if scale := min(1, most/size.Height, 520/size.Width); scale < 1 {
		size = fyne.NewSize(size.Width*scale, size.Height*scale)
	}
	p.SetMinSize(size)
	if alone {
		return container.New(&atMost{width: float32(img.Bounds().Dx()), height: float32(img.Bounds().Dy())}, p)
	}
	return container.NewHBox(newRoom(1), p)
}

// decodeImage decodes a picture within bounds and makes it small enough to show, or
// says why it does not.
func decodeImage(data []byte) (img image.Image, problem string) {
	if len(data) > maxImageBytes {
		return nil, tooManyBytes
	}
	cfg, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || cfg.Width <= 0 || cfg.Height <= 0 {
		return nil, noPicture
	}
	if int64(cfg.Width)*int64(cfg.Height) > maxPixels {
		return nil, tooManyPixels
	}
	img, _, err = image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, noPicture
	}
	return smaller(img), ""
}

// smaller returns an image of at most shownSide on its longest side, each pixel
// the mean of those it stands for.
func smaller(img image.Image) image.Image {
	b := img.Bounds()
	step := (max(b.Dx(), b.Dy()) + shownSide - 1) / shownSide
	if step <= 1 {
		return img
	}
	out := image.NewRGBA64(image.Rect(0, 0, max(b.Dx()/step, 1), max(b.Dy()/step, 1)))
	for y := range out.Bounds().Dy() {
		for x := range out.Bounds().Dx() {
			out.SetRGBA64(x, y, mean(img, image.Rect(x*step, y*step, (x+1)*step, (y+1)*step).Add(b.Min).Intersect(b)))
		}
	}
	return out
}

// mean is the mean colour of a part of an image.
func mean(img image.Image, part image.Rectangle) color.RGBA64 {
	var r, g, b, a, n uint64
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			cr, cg, cb, ca := img.At(x, y).RGBA()
			r, g, b, a, n = r+uint64(cr), g+uint64(cg), b+uint64(cb), a+uint64(ca), n+1
		}
	}
	n = max(n, 1)
	return color.RGBA64{R: uint16(r / n), G: uint16(g / n), B: uint16(b / n), A: uint16(a / n)}
}

// atMost centres an object at no more than its own size.
type atMost struct{ width, height float32 }

// MinSize implements fyne.Layout.
func (*atMost) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(40, 40) }

// Layout implements fyne.Layout.
func (a *atMost) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	own := fyne.NewSize(min(a.width, size.Width), min(a.height, size.Height))
	objects[0].Resize(own)
	objects[0].Move(fyne.NewPos((size.Width-own.Width)/2, 0))
}
