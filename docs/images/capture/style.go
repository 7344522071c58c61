package main

import (
	"fmt"
	"strconv"
	"strings"
)

// style is how a cell looks. The zero style is plain text.
type style struct {
	fg, bg color

	bold, dim, italic, underline, reverse, strike bool
}

// color is a colour as a sequence names it; the zero color is the terminal's own.
type color struct {
	kind colorKind
	// value is an index of the palette, or 0xrrggbb.
	value int
}

type colorKind uint8

const (
	own colorKind = iota
	indexed
	direct
)

// after is the style after a sequence; those other than SGR change nothing.
func (s style) after(sequence string) style {
	text, ok := strings.CutPrefix(sequence, "\x1b[")
	if !ok || !strings.HasSuffix(text, "m") {
		return s
	}
	parameters := strings.Split(strings.TrimSuffix(text, "m"), ";")
	for i := 0; i < len(parameters); i++ {
		words := strings.Split(parameters[i], ":")
		code := number(words[0])
		switch code {
		case 0:
			s = style{}
		case 38, 48:
			// Either the parts are in one parameter, with colons, or in the next ones.
			var c color
			used := 0
			if len(words) > 1 {
				c, _ = extended(words[1:], true)
			} else {
				c, used = extended(parameters[i+1:], false)
			}
			i += used
			if code == 38 {
				s.fg = c
			} else {
				s.bg = c
			}
		case 4:
			s.underline = len(words) == 1 || number(words[1]) != 0
		default:
			s = s.with(code)
		}
	}
	return s
}

// with is the style after a code without parts.
func (s style) with(code int) style {
	switch {
	case code == 1:
		s.bold = true
	case code == 2:
		s.dim = true
	case code == 3:
		s.italic = true
	case code == 7:
		s.reverse = true
	case code == 9:
		s.strike = true
	case code == 21: // underlined twice
		s.underline = true
	case code == 22:
		s.bold, s.dim = false, false
	case code == 23:
		s.italic = false
	case code == 24:
		s.underline = false
	case code == 27:
		s.reverse = false
	case code == 29:
		s.strike = false
	case code >= 30 && code <= 37:
		s.fg = color{indexed, code - 30}
	case code == 39:
		s.fg = color{}
	case code >= 40 && code <= 47:
		s.bg = color{indexed, code - 40}
	case code == 49:
		s.bg = color{}
	case code >= 90 && code <= 97:
		s.fg = color{indexed, code - 90 + 8}
	case code >= 100 && code <= 107:
		s.bg = color{indexed, code - 100 + 8}
	}
	return s
}

// extended reads the colour after 38 or 48, and tells how many words it took. With
// colons there is a colour space, mostly empty, before red.
func extended(words []string, colons bool) (color, int) {
	if len(words) == 0 {
		return color{}, 0
	}
	switch number(words[0]) {
	case 5:
		if len(words) < 2 {
			return color{}, len(words)
		}
		return color{indexed, number(words[1]) & 0xff}, 2
	case 2:
		from := 1
		if colons && len(words) > 4 {
			from = 2
		}
		if len(words) < from+3 {
			return color{}, len(words)
		}
		value := 0
		for _, word := range words[from : from+3] {
			value = value<<8 | number(word)&0xff
		}
		return color{direct, value}, from + 3
	default:
		return color{}, 1
	}
}

// number reads a parameter; an empty one is 0, as is what is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// palette is what the colours of a terminal are.
type palette struct {
	// fg and bg are the terminal's own, frame is the line round it; ansi are the first
	// 16 of the palette.
	fg, bg, frame int
	ansi          [16]int
}

var palettes = map[string]palette{
	"dark": {fg: 0xd7dde4, bg: 0x14181d, frame: 0x303a46, ansi: [16]int{
		0x1c2128, 0xe5534b, 0x57ab5a, 0xc69026, 0x539bf5, 0xb083f0, 0x39a0a8, 0xadbac7,
		0x6b7480, 0xff7b72, 0x6cc781, 0xe3b341, 0x6cb6ff, 0xc792ea, 0x5fc9b8, 0xf0f3f6,
	}},
	"light": {fg: 0x24292f, bg: 0xfcfcfa, frame: 0xd0d7de, ansi: [16]int{
		0x24292f, 0xb3261e, 0x1a7f37, 0x8a5a00, 0x0959b3, 0x7a3ea8, 0x13707a, 0x6e7781,
		0x57606a, 0xa40e26, 0x116329, 0x6b4400, 0x0550ae, 0x6639ba, 0x0b5a63, 0x8c959f,
	}},
}

// of is a colour as CSS writes it; fallback is used for the terminal's own.
func (p palette) of(c color, fallback int) string {
	value := fallback
	switch {
	case c.kind == direct:
		value = c.value
	case c.kind == indexed && c.value < 16:
		value = p.ansi[c.value]
	case c.kind == indexed && c.value < 232: // a cube of 6x6x6
		value = 0
		for _, part := range []int{(c.value - 16) / 36, (c.value - 16) / 6 % 6, (c.value - 16) % 6} {
			if part > 0 {
				part = 55 + 40*part
			}
			value = value<<8 | part
		}
	case c.kind == indexed:
		value = (8 + 10*(c.value-232)) * 0x010101
	}
	return fmt.Sprintf("#%06x", value)
}
