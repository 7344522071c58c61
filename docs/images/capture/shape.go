package main

import (
	"strings"
	"unicode/utf8"
)

// Blocks from nothing to all: heights, widths, and shades.
const (
	verticals = " ▁▂▃▄▅▆▇█"
	parts     = " ▏▎▍▌▋▊▉█"
	shades    = "░▒▓"
)

// sides are the ends of lines: up, right, down, left.
type sides struct{ up, right, down, left bool }

var lines = map[rune]sides{
	'─': {right: true, left: true}, '│': {up: true, down: true},
	'┌': {right: true, down: true}, '┐': {down: true, left: true}, '└': {up: true, right: true}, '┘': {up: true, left: true},
	'╭': {right: true, down: true}, '╮': {down: true, left: true}, '╰': {up: true, right: true}, '╯': {up: true, left: true},
	'├': {up: true, right: true, down: true}, '┤': {up: true, down: true, left: true},
	'┬': {right: true, down: true, left: true}, '┴': {up: true, right: true, left: true}, '┼': {true, true, true, true},
}

func isShape(r rune) bool {
	_, isLine := lines[r]
	return isLine || r != ' ' && strings.ContainsRune(verticals+parts+shades, r)
}

// shape draws n times the same shape in a row.
func (p *picture) shape(ink, text string, n, x, y int) {
	r, _ := utf8.DecodeRuneInString(text)
	if line, ok := lines[r]; ok {
		p.strokes(ink, line, n, x, y)
		return
	}
	if eighths := index(verticals, r); eighths > 0 {
		height := cellHeight * eighths / 8
		area(p.shapes, ink, x, y+cellHeight-height, n*cellWidth, height)
		return
	}
	if shade := index(shades, r); shade >= 0 {
		area(p.shapes, ink+";fill-opacity:"+[]string{".2", ".4", ".7"}[shade], x, y, n*cellWidth, cellHeight)
		return
	}
	width := max(1, cellWidth*index(parts, r)/8)
	for i := range n {
		area(p.shapes, ink, x+i*cellWidth, y, width, cellHeight)
	}
}

// strokes draws lines; one that goes through is one area over all n cells.
func (p *picture) strokes(ink string, line sides, n, x, y int) {
	const midX, midY = cellWidth / 2, cellHeight / 2
	switch {
	case line.right && line.left:
		area(p.shapes, ink, x, y+midY, n*cellWidth, 1)
	case line.right:
		area(p.shapes, ink, x+midX, y+midY, cellWidth-midX, 1)
	case line.left:
		area(p.shapes, ink, x, y+midY, midX+1, 1)
	}
	for i := range n {
		at := x + i*cellWidth + midX
		switch {
		case line.up && line.down:
			area(p.shapes, ink, at, y, 1, cellHeight)
		case line.up:
			area(p.shapes, ink, at, y, 1, midY+1)
		case line.down:
			area(p.shapes, ink, at, y+midY, 1, cellHeight-midY)
		}
	}
}

// index is the place of a character among others, counted in characters.
func index(text string, r rune) int {
	i := strings.IndexRune(text, r)
	if i < 0 {
		return -1
	}
	return utf8.RuneCountInString(text[:i])
}
