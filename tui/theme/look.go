package theme

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"

	"github.com/kapi-dev/kapi/tui/ink"
)

// look is what a token looks like. The zero look is the terminal's own.
type look struct {
	// fg and bg are colours; nil is the terminal's own.
	fg, bg                                color.Color
	bold, dim, italic, underline, reverse bool
}

// colored tells whether something of it is lost without colours.
func (l look) colored() bool { return l.fg != nil || l.bg != nil }

// selected is the look on the row that the cursor is on. What has a background of
// its own keeps its colours: they were chosen for each other. Reversed twice is not
// reversed. Both stand out from the row.
func (l look) selected(s look) look {
	if l.bg == nil {
		l.fg, l.bg = either(s.fg, l.fg), s.bg
	}
	l.bold = l.bold || s.bold
	l.dim = l.dim || s.dim
	l.italic = l.italic || s.italic
	l.underline = l.underline || s.underline
	l.reverse = l.reverse != s.reverse
	return l
}

// either is the first colour that there is.
func either(a, b color.Color) color.Color {
	if a != nil {
		return a
	}
	return b
}

// sequences are what goes before and after a text; both empty for the zero look.
func (l look) sequences(p Profile) [2]string {
	var style ansi.Style
	if l.bold {
		style = style.Bold()
	}
	if l.dim {
		style = style.Faint()
	}
	if l.italic {
		style = style.Italic(true)
	}
	if l.underline {
		style = style.Underline(true)
	}
	if l.reverse {
		style = style.Reverse(true)
	}
	if fg := p.convert(l.fg); fg != nil {
		style = style.ForegroundColor(fg)
	}
	if bg := p.convert(l.bg); bg != nil {
		style = style.BackgroundColor(bg)
	}
	if len(style) == 0 {
		return [2]string{}
	}
	return [2]string{style.String(), ansi.ResetStyle}
}

// palette is a theme as its files say it.
type palette struct {
	name       string
	background Background
	looks      [ink.Tokens]look
	selected   look
}

// without is the palette for a terminal that has no colours: what needs them looks
// as in another one that does not.
func (p palette) without(colorless palette) palette {
	for token := range p.looks {
		if p.looks[token].colored() {
			p.looks[token] = colorless.looks[token]
		}
	}
	if p.selected.colored() {
		p.selected = colorless.selected
	}
	return p
}
