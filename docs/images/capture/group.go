package main

import "unicode/utf8"

// kind is how cells are drawn.
type kind int

const (
	// blank is nothing to draw.
	blank kind = iota
	// letters stand in one element.
	letters
	// alone is a character that many fonts have from another font, of another width: it
	// gets an element for itself.
	alone
	// shape is a line or a block, which must meet its neighbours: it is drawn without a
	// font.
	shape
)

// group tells how many cells from the first one on are drawn at once, and how. Two
// blanks end a group, one does not: words stay together, columns don't.
func group(cells []cell) (int, kind) {
	first := kindOf(cells[0])
	n := cells[0].width
	if first == alone || n == 0 {
		return max(1, n), first
	}
	for n < len(cells) {
		next := cells[n]
		switch {
		case first == shape && next.text == cells[0].text, first == blank && next.text == " ":
			n++
		case first == letters && kindOf(next) == letters && (next.width == cells[0].width || next.width == 0):
			n++
		case first == letters && next.text == " " && n+1 < len(cells) && kindOf(cells[n+1]) == letters && cells[n+1].width == cells[0].width && cells[0].width == 1:
			n += 2
		default:
			return n, first
		}
	}
	return n, first
}

func kindOf(c cell) kind {
	r, size := utf8.DecodeRuneInString(c.text)
	switch {
	case c.width == 0:
		return letters // the second half of what is before it
	case c.text == " ":
		return blank
	case size == len(c.text) && isShape(r):
		return shape
	case r < 0x250 || c.width == 2:
		return letters
	default:
		return alone
	}
}
