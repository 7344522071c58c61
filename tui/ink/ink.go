// Package ink is what screens are made of: lines of text in tokens. A token says
// what a text is, a theme says how that looks, and only the very end of drawing
// knows of escape sequences. So everything above can be tested, cut, joined and
// read aloud as plain text.
//
// Whatever a line holds, Fit makes it exactly as wide as it is told and free of
// anything that would steer the terminal: a page can't break the screen. The
// package knows nothing of Kubernetes and does no I/O.
package ink

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/kapi-dev/kapi/internal/text"
)

// Token says what a text is.
type Token uint8

// The tokens. State is never shown by a token alone: a glyph and a word go with it.
const (
	// Text is plain.
	Text Token = iota
	// Muted is what can be overlooked.
	Muted
	// Heading is above other things.
	Heading
	// Title is the name of what the screen shows.
	Title
	// Accent is what the eye should find first.
	Accent
	// Good, Warning and Bad are states.
	Good
	Warning
	Bad
	// Key is a key that can be pressed, Border a line between parts.
	Key
	Border
	// Changed is what is not as it was (time travel), Match what was searched for.
	Changed
	Match
	// Name, Value and Punct are parts of YAML; Name is also a label before a value.
	Name
	Value
	Punct
	// Series1 to Series3 are fills of charts, in the order of a legend.
	Series1
	Series2
	Series3
	// Tokens is how many there are.
	Tokens
)

// Span is a text of one token.
type Span struct {
	Token Token
	// Selected marks a part of what the cursor is on.
	Selected bool
	Text     string
}

// Line is one line of a screen, of any width until it is fitted.
type Line []Span

// T returns a text of a token.
func T(token Token, text string) Span { return Span{Token: token, Text: text} }

// L returns a line of one text.
func L(token Token, text string) Line { return Line{T(token, text)} }

// Paper is what a page is drawn on.
type Paper struct {
	// Width and Height are in cells; a page returns exactly Height lines.
	Width, Height int
	// Glyphs are the signs that the terminal can show.
	Glyphs *Glyphs
	// Now is the time that ages count up to.
	Now time.Time
}

// Sized returns the paper with another size, neither below 0.
func (p Paper) Sized(width, height int) Paper {
	p.Width, p.Height = max(0, width), max(0, height)
	return p
}

// Clean returns a text that is safe on one line, in signs that the terminal has.
// Widths must be measured after it.
func (p Paper) Clean(s string) string { return p.Glyphs.Clean(s) }

// Width returns how many cells a clean text takes.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Width returns how many cells the line takes, if its texts are clean.
func (l Line) Width() int {
	width := 0
	for _, span := range l {
		width += Width(span.Text)
	}
	return width
}

// String is the line as plain text.
func (l Line) String() string {
	var b strings.Builder
	for _, span := range l {
		b.WriteString(span.Text)
	}
	return b.String()
}

// Select returns the line as the one that the cursor is on.
func (l Line) Select() Line {
	selected := make(Line, len(l))
	for i, span := range l {
		span.Selected = true
		selected[i] = span
	}
	return selected
}

// Fit returns the line in exactly width cells: cleaned, cut with an ellipsis, or
// filled with blanks that are selected if the line's last span is.
func (p Paper) Fit(l Line, width int) Line {
	if width <= 0 {
		return nil
	}
	fitted, room := make(Line, 0, len(l)+1), width
	for i, span := range l {
		span.Text = p.Clean(span.Text)
		w := Width(span.Text)
		if w > room || w == room && p.more(l[i+1:]) {
			span.Text = p.Glyphs.Cut(span.Text, room, true)
			w = Width(span.Text)
			fitted, room = append(fitted, span), room-w
			break
		}
		fitted, room = append(fitted, span), room-w
	}
	if room > 0 {
		selected := len(fitted) > 0 && fitted[len(fitted)-1].Selected
		fitted = append(fitted, Span{Selected: selected, Text: strings.Repeat(" ", room)})
	}
	return fitted
}

// more tells whether anything that can be seen follows.
func (p Paper) more(rest Line) bool {
	for _, span := range rest {
		if strings.TrimSpace(p.Clean(span.Text)) != "" {
			return true
		}
	}
	return false
}

// Fill returns exactly height lines: the first ones of lines, or blank ones after them.
func Fill(lines []Line, height int) []Line {
	if len(lines) >= height {
		return lines[:max(0, height)]
	}
	filled := make([]Line, height)
	copy(filled, lines)
	return filled
}

// Pane is a part of a screen that stands beside others.
type Pane struct {
	// Width is in cells.
	Width int
	Lines []Line
}

// Beside puts panes side by side with a separator between them; it is as high as
// the highest of them.
func (p Paper) Beside(separator Line, panes ...Pane) []Line {
	height := 0
	for _, pane := range panes {
		height = max(height, len(pane.Lines))
	}
	joined := make([]Line, height)
	for y := range joined {
		for i, pane := range panes {
			if i > 0 {
				joined[y] = append(joined[y], separator...)
			}
			var line Line
			if y < len(pane.Lines) {
				line = pane.Lines[y]
			}
			joined[y] = append(joined[y], p.Fit(line, pane.Width)...)
		}
	}
	return joined
}

// Wrap breaks a text into lines of one token, at blanks where it can.
func (p Paper) Wrap(token Token, s string, width int) []Line {
	var lines []Line
	for _, paragraph := range strings.Split(s, "\n") {
		for _, part := range text.Wrap(p.Clean(paragraph), max(1, width)) {
			lines = append(lines, L(token, part))
		}
	}
	return lines
}

// Style is a theme's part in drawing: what goes before and after a text.
type Style interface {
	// Sequences returns what is written before and after a text of a token.
	Sequences(token Token, selected bool) (before, after string)
}

// Draw returns lines as a terminal shows them, each exactly paper.Width cells wide,
// joined by newlines.
func (p Paper) Draw(lines []Line, style Style) string {
	var b strings.Builder
	b.Grow(len(lines) * (p.Width + 40))
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		p.drawLine(&b, p.Fit(line, p.Width), style)
	}
	return b.String()
}

func (p Paper) drawLine(b *strings.Builder, line Line, style Style) {
	for i := 0; i < len(line); {
		// Neighbours of one look share their sequences.
		j := i + 1
		for j < len(line) && line[j].Token == line[i].Token && line[j].Selected == line[i].Selected {
			j++
		}
		before, after := style.Sequences(line[i].Token, line[i].Selected)
		b.WriteString(before)
		for _, span := range line[i:j] {
			b.WriteString(span.Text)
		}
		b.WriteString(after)
		i = j
	}
}
