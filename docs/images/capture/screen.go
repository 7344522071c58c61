package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// cell is one place on the screen.
type cell struct {
	// text is a character and what combines with it; " " is blank.
	text string
	// width is 1, 2 for a wide character, and 0 for the place behind one.
	width int
	style style
}

// screen is what stood on the terminal, line by line; columns is the longest one.
type screen struct {
	lines   [][]cell
	columns int
}

// widths are those of tmux: what Unicode calls ambiguous is narrow, whatever the
// locale of whoever draws.
var widths = &runewidth.Condition{StrictEmojiNeutral: true}

// parse reads a capture. A style lasts until the next one, across lines.
func parse(text string) screen {
	var (
		s    screen
		line []cell
		look style
	)
	end := func() {
		s.lines = append(s.lines, line)
		s.columns = max(s.columns, len(line))
		line = nil
	}
	for text != "" {
		if text[0] == '\x1b' {
			var sequence string
			sequence, text = cutSequence(text)
			look = look.after(sequence)
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case r == '\n':
			end()
		case unicode.IsControl(r):
		default:
			line = put(line, r, look)
		}
	}
	if len(line) > 0 {
		end()
	}
	return s
}

// put adds a character: to the cell before it, if it has no width of its own.
func put(line []cell, r rune, look style) []cell {
	width := widths.RuneWidth(r)
	if width == 0 {
		for i := len(line) - 1; i >= 0; i-- {
			if line[i].width > 0 {
				line[i].text += string(r)
				break
			}
		}
		return line
	}
	line = append(line, cell{text: string(r), width: width, style: look})
	if width == 2 {
		line = append(line, cell{style: look})
	}
	return line
}

// cutSequence takes an escape sequence off a text that begins with one. Those with
// a text of their own, as of links and titles, end with BEL or ST.
func cutSequence(text string) (sequence, rest string) {
	if len(text) < 2 {
		return text, ""
	}
	switch text[1] {
	case '[':
		for i := 2; i < len(text); i++ {
			if c := text[i]; c >= 0x40 && c <= 0x7e {
				return text[:i+1], text[i+1:]
			}
		}
		return text, ""
	case ']', 'P', 'X', '^', '_':
		for i := 2; i < len(text); i++ {
			switch {
			case text[i] == '\a':
				return text[:i+1], text[i+1:]
			case strings.HasPrefix(text[i:], "\x1b\\"):
				return text[:i+2], text[i+2:]
			}
		}
		return text, ""
	case '(', ')': // a character set
		return text[:min(3, len(text))], text[min(3, len(text)):]
	default:
		return text[:2], text[2:]
	}
}
