package theme

import (
	"image/color"
	"slices"
	"strconv"

	"github.com/charmbracelet/x/ansi"
)

// colorNames are the colours that every terminal with colours has, by number.
var colorNames = [...]string{
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"bright-black", "bright-red", "bright-green", "bright-yellow",
	"bright-blue", "bright-magenta", "bright-cyan", "bright-white",
}

// parseColor reads "#rrggbb", "0" to "255", or a name.
func parseColor(s string) (color.Color, bool) {
	if len(s) == 7 && s[0] == '#' {
		rgb, err := strconv.ParseUint(s[1:], 16, 24)
		return color.RGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 0xff}, err == nil
	}
	if i := slices.Index(colorNames[:], s); i >= 0 {
		return ansi.BasicColor(i), true
	}
	number, err := strconv.ParseUint(s, 10, 8)
	if number < 16 {
		return ansi.BasicColor(number), err == nil
	}
	return ansi.IndexedColor(number), err == nil
}

// convert returns the nearest colour that a terminal has; nil is the terminal's own.
func (p Profile) convert(c color.Color) color.Color {
	if c == nil || p == None {
		return nil
	}
	if _, basic := c.(ansi.BasicColor); basic {
		return c
	}
	_, indexed := c.(ansi.IndexedColor)
	switch {
	case p == ANSI16:
		return ansi.Convert16(c)
	case p == ANSI256 && !indexed:
		return ansi.Convert256(c)
	default:
		return c
	}
}
