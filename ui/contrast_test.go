package ui

import (
	"math"

	"fyne.io/fyne/v2"
)

// luminance is the relative luminance of a colour (WCAG 2.2).
func luminance(th fyne.Theme, name fyne.ThemeColorName, v fyne.ThemeVariant) float64 {
	r, g, b, _ := th.Color(name, v).RGBA()
	part := func(c uint32) float64 {
		x := float64(c) / 0xffff
		if x <= 0.03928 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*part(r) + 0.7152*part(g) + 0.0722*part(b)
}
