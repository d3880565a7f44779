package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// look is Drawbridge's theme: the toolkit's own, with one accent colour, calmer
// surfaces and contrasts of at least 4.5 to 1 for text, light and dark after the
// system.
type look struct{ fyne.Theme }

func newTheme() fyne.Theme { return look{theme.DefaultTheme()} }

func rgb(hex uint32) color.Color {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

func alpha(hex uint32, a uint8) color.Color {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: a}
}

var lightColours = map[fyne.ThemeColorName]color.Color{
	theme.ColorNamePrimary:           rgb(0x1b6b78),
	theme.ColorNameHyperlink:         rgb(0x1b6b78),
	theme.ColorNameFocus:             alpha(0x1b6b78, 0x50),
	theme.ColorNameSelection:         alpha(0x1b6b78, 0x2c),
	theme.ColorNameBackground:        rgb(0xf7f8f8),
	theme.ColorNameHeaderBackground:  rgb(0xeef1f1),
	theme.ColorNameMenuBackground:    rgb(0xffffff),
	theme.ColorNameOverlayBackground: rgb(0xffffff),
	theme.ColorNameInputBackground:   rgb(0xffffff),
	theme.ColorNameInputBorder:       rgb(0xc3cbcc),
	theme.ColorNameButton:            rgb(0xe4e9ea),
	theme.ColorNameForeground:        rgb(0x1e2526),
	theme.ColorNamePlaceHolder:       rgb(0x5d6a6c),
	theme.ColorNameDisabled:          rgb(0x64706f),
	theme.ColorNameSeparator:         rgb(0xd7dddd),
	theme.ColorNameSuccess:           rgb(0x23783f),
	theme.ColorNameWarning:           rgb(0x8f5a00),
	theme.ColorNameError:             rgb(0xb3261e),
}

var darkColours = map[fyne.ThemeColorName]color.Color{
	theme.ColorNamePrimary:             rgb(0x6cc3d0),
	theme.ColorNameForegroundOnPrimary: rgb(0x0b2226),
	theme.ColorNameHyperlink:           rgb(0x6cc3d0),
	theme.ColorNameFocus:               alpha(0x6cc3d0, 0x50),
	theme.ColorNameSelection:           alpha(0x6cc3d0, 0x30),
	theme.ColorNameBackground:          rgb(0x1a1f20),
	theme.ColorNameHeaderBackground:    rgb(0x22292a),
	theme.ColorNameMenuBackground:      rgb(0x262e2f),
	theme.ColorNameOverlayBackground:   rgb(0x22292a),
	theme.ColorNameInputBackground:     rgb(0x262e2f),
	theme.ColorNameInputBorder:         rgb(0x445052),
	theme.ColorNameButton:              rgb(0x303a3b),
	theme.ColorNameForeground:          rgb(0xe6ebeb),
	theme.ColorNamePlaceHolder:         rgb(0x9aa8aa),
	theme.ColorNameDisabled:            rgb(0x8b989a),
	theme.ColorNameSeparator:           rgb(0x364143),
	theme.ColorNameSuccess:             rgb(0x6fcf8e),
	theme.ColorNameWarning:             rgb(0xf0b65a),
	theme.ColorNameError:               rgb(0xff8a80),
}

// Color implements fyne.Theme.
func (l look) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	own := lightColours
	if variant == theme.VariantDark {
		own = darkColours
	}
	if c, ok := own[name]; ok {
		return c
	}
	return l.Theme.Color(name, variant)
}

// Size implements fyne.Theme.
func (l look) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case theme.SizeNameInputRadius, theme.SizeNameSelectionRadius:
		return 6
	case theme.SizeNameSubHeadingText:
		return 17
	case theme.SizeNameCaptionText:
		return 12
	}
	return l.Theme.Size(name)
}
