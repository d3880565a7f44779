package demo

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math"
)

// picture is a PNG: a small drawbridge over water at dusk, or with side 1 a single
// red pixel.
func picture(side int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	if side == 1 {
		img.Set(0, 0, color.NRGBA{0xd0, 0x30, 0x30, 0xff})
	} else {
		for y := range side {
			for x := range side {
				img.Set(x, y, dusk(float64(x)/float64(side), float64(y)/float64(side)))
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

func dusk(x, y float64) color.NRGBA {
	stone := color.NRGBA{0x3b, 0x35, 0x4d, 0xff}
	tower := math.Abs(x-0.2) < 0.07 || math.Abs(x-0.8) < 0.07
	switch {
	case tower && y > 0.25 && y < 0.85:
		return stone
	case y > 0.62 && y < 0.66 && x > 0.2 && x < 0.8: // the deck
		return stone
	case y > 0.72: // water, with ripples
		shade := uint8(0x60 + 0x18*math.Sin(60*y+8*math.Sin(12*x)))
		return color.NRGBA{0x28, shade, 0x88, 0xff}
	}
	return color.NRGBA{uint8(0x50 + 0xa0*y), uint8(0x40 + 0x50*y), 0x80, 0xff}
}

// tone is a WAV of a sine: mono, 8 kHz, 8 bit.
func tone(hertz float64, seconds float64) []byte {
	const rate = 8000
	samples := make([]byte, int(rate*seconds))
	for i := range samples {
		samples[i] = uint8(128 + 90*math.Sin(2*math.Pi*hertz*float64(i)/rate))
	}
	var b bytes.Buffer
	b.WriteString("RIFF")
	write := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) } // a buffer takes everything
	write(uint32(36 + len(samples)))
	b.WriteString("WAVEfmt ")
	write(uint32(16))
	write(uint16(1)) // PCM
	write(uint16(1)) // mono
	write(uint32(rate))
	write(uint32(rate))
	write(uint16(1))
	write(uint16(8))
	b.WriteString("data")
	write(uint32(len(samples)))
	b.Write(samples)
	return b.Bytes()
}
