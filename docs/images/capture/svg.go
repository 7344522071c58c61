package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// A cell in pixels, and where letters stand in it. 15 pixels of nearly every
// monospaced font are 9 wide, so that letters need no pushing.
const (
	cellWidth  = 9
	cellHeight = 20
	baseline   = 15
	underlined = 17
	struck     = 10
	// margin is around the screen, head is what a title adds above it.
	margin = 16
	head   = 28
)

// styleSheet is of all text. A terminal turns no text round, so the picture does not
// either.
const styleSheet = `text{font:15px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;white-space:pre;unicode-bidi:bidi-override;fill:%s}
`

// picture is an SVG in the making.
type picture struct {
	colors palette
	// texts are the elements with letters, in the order of the screen.
	texts bytes.Buffer
	// shapes are the outlines of all areas that look the same, by what they look like;
	// backgrounds are behind all.
	shapes, backgrounds map[string]*strings.Builder
	// classes are the looks that occur, in order of their first use.
	classes []string
}

// draw makes the picture of a screen.
func draw(s screen, colors palette, title string) []byte {
	p := &picture{colors: colors, shapes: map[string]*strings.Builder{}, backgrounds: map[string]*strings.Builder{}}
	for row, line := range s.lines {
		p.line(row, line)
	}
	width, height, top := s.columns*cellWidth+2*margin, len(s.lines)*cellHeight+2*margin, margin
	if title != "" {
		height, top = height+head, top+head
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", width, height, width, height)
	if title != "" {
		fmt.Fprintf(&out, "<title>%s</title>\n", escape(title))
	}
	fmt.Fprintf(&out, "<style>\n"+styleSheet, colors.of(color{}, colors.fg))
	for i, class := range p.classes {
		fmt.Fprintf(&out, ".%s{%s}\n", className(i), class)
	}
	out.WriteString("</style>\n")
	fmt.Fprintf(&out, `<rect x=".5" y=".5" width="%d" height="%d" rx="10" fill="%s" stroke="%s"/>`+"\n",
		width-1, height-1, colors.of(color{}, colors.bg), colors.of(color{}, colors.frame))
	if title != "" {
		fmt.Fprintf(&out, `<text x="%d" y="26" text-anchor="middle" opacity=".7">%s</text>`+"\n", width/2, escape(title))
	}
	fmt.Fprintf(&out, `<g transform="translate(%d,%d)">`+"\n", margin, top)
	p.areas(&out, p.backgrounds)
	p.areas(&out, p.shapes)
	out.Write(p.texts.Bytes())
	out.WriteString("</g>\n</svg>\n")
	return out.Bytes()
}

// line draws a line of the screen. Its backgrounds are as long as can be: where two
// areas meet, a picture that is drawn smaller shows the seam.
func (p *picture) line(row int, line []cell) {
	for at, end := range stretches(line, p.background) {
		if bg := p.background(line[at].style); bg != "" {
			area(p.backgrounds, "fill:"+bg, at*cellWidth, row*cellHeight, (end-at)*cellWidth, cellHeight)
		}
	}
	for at, end := range stretches(line, func(s style) style { return s }) {
		p.stretch(row, at, line[at:end])
	}
}

// stretches are the neighbours that look the same: from where, and to where.
func stretches[T comparable](line []cell, look func(style) T) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for at := 0; at < len(line); {
			end := at + 1
			for end < len(line) && look(line[end].style) == look(line[at].style) {
				end++
			}
			if !yield(at, end) {
				return
			}
			at = end
		}
	}
}

// background is what is behind a cell; empty where the terminal's own is.
func (p *picture) background(look style) string {
	switch {
	case look.reverse:
		return p.colors.of(look.fg, p.colors.fg)
	case look.bg.kind != own:
		return p.colors.of(look.bg, p.colors.bg)
	default:
		return ""
	}
}

// stretch draws neighbours of the same style.
func (p *picture) stretch(row, column int, cells []cell) {
	look := cells[0].style
	x, y, width := column*cellWidth, row*cellHeight, len(cells)*cellWidth
	ink := "fill:" + p.colors.of(look.fg, p.colors.fg)
	if look.reverse {
		ink = "fill:" + p.colors.of(look.bg, p.colors.bg)
	}
	if look.dim {
		ink += ";opacity:.6"
	}
	if look.underline {
		area(p.shapes, ink, x, y+underlined, width, 1)
	}
	if look.strike {
		area(p.shapes, ink, x, y+struck, width, 1)
	}
	for i := 0; i < len(cells); {
		n, kind := group(cells[i:])
		switch kind {
		case blank:
		case shape:
			p.shape(ink, cells[i].text, n, x+i*cellWidth, y)
		default:
			p.text(p.letters(look, ink), cells[i:i+n], x+i*cellWidth, y)
		}
		i += n
	}
}

// letters is the class of text; plain text has none.
func (p *picture) letters(look style, ink string) string {
	if ink == "fill:"+p.colors.of(color{}, p.colors.fg) {
		ink = ""
	}
	var parts []string
	if ink != "" {
		parts = append(parts, ink)
	}
	if look.bold {
		parts = append(parts, "font-weight:bold")
	}
	if look.italic {
		parts = append(parts, "font-style:italic")
	}
	if len(parts) == 0 {
		return ""
	}
	return p.class(strings.Join(parts, ";"))
}

// class is the name of a look.
func (p *picture) class(look string) string {
	i := slices.Index(p.classes, look)
	if i < 0 {
		i = len(p.classes)
		p.classes = append(p.classes, look)
	}
	return className(i)
}

// className is a, b, … z, a1, b1 …
func className(i int) string {
	name := string(rune('a' + i%26))
	if i >= 26 {
		name += fmt.Sprint(i / 26)
	}
	return name
}

// text writes a run. Its place is given, and its length too, so that a font of
// another width is spaced out or pushed together to the same columns.
func (p *picture) text(class string, cells []cell, x, y int) {
	var text strings.Builder
	for _, c := range cells {
		text.WriteString(c.text)
	}
	fmt.Fprintf(&p.texts, `<text x="%d" y="%d"`, x, y+baseline)
	if len(cells) > 1 {
		fmt.Fprintf(&p.texts, ` textLength="%d"`, len(cells)*cellWidth)
	}
	if class != "" {
		fmt.Fprintf(&p.texts, ` class="%s"`, class)
	}
	fmt.Fprintf(&p.texts, ">%s</text>\n", escape(text.String()))
}

// areas writes what is filled, all of one look at once.
func (p *picture) areas(out *bytes.Buffer, areas map[string]*strings.Builder) {
	looks := make([]string, 0, len(areas))
	for look := range areas {
		looks = append(looks, look)
	}
	slices.Sort(looks)
	for _, look := range looks {
		attributes := strings.NewReplacer(";", `" `, ":", `="`).Replace(look)
		fmt.Fprintf(out, `<path %s" d="%s"/>`+"\n", attributes, areas[look])
	}
}

// area adds a rectangle to those of a look.
func area(areas map[string]*strings.Builder, look string, x, y, width, height int) {
	if areas[look] == nil {
		areas[look] = &strings.Builder{}
	}
	fmt.Fprintf(areas[look], "M%d %dh%dv%dh-%dz", x, y, width, height, width)
}

// escape writes a text as XML has it. What XML can't hold becomes U+FFFD.
func escape(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a Builder takes everything
	return out.String()
}
