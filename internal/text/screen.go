// Package text lays out what a command prints: tables that are aligned by display
// width, bars, trees, and colours where there is a terminal. It knows nothing of
// what is printed and reads no environment; Detect is told it. It is not for the
// terminal UI, which draws with its own components. It may import the standard
// library, golang.org/x/term and go-runewidth.
package text

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// Screen is what a text is laid out for.
type Screen struct {
	// Width is the number of columns that a line may take; 0 is no limit, which is
	// right for a file or a pipe.
	Width int
	// Color says whether escape sequences for colours may be written.
	Color bool
	// ASCII replaces lines, bars and marks by characters of ASCII.
	ASCII bool
}

// Tone is what a colour stands for.
type Tone int

// The tones. Colour is never the only sign of anything: the words say it too.
const (
	Plain Tone = iota
	Dim
	Good
	Warning
	Bad
	Heading
)

var sequences = [...]string{Plain: "", Dim: "\x1b[2m", Good: "\x1b[32m", Warning: "\x1b[33m", Bad: "\x1b[31m", Heading: "\x1b[1m"}

// Paint returns text in a tone; as it is where there are no colours. Newlines
// should not be painted.
func (s Screen) Paint(tone Tone, text string) string {
	if !s.Color || tone == Plain || text == "" {
		return text
	}
	return sequences[tone] + text + "\x1b[0m"
}

// Width returns how many columns of a terminal text takes, without escape
// sequences in it: two for each East Asian wide character, none for a combining one.
func Width(text string) int { return widths().StringWidth(text) }

// widths measures. Signs of ambiguous width, the lines and blocks among them, take
// one column: go-runewidth's own default would ask the environment.
func widths() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} }

// Fit returns text in at most width columns, cut with an ellipsis if it must be.
func Fit(text string, width int) string { return fit(text, width, "…") }

// Fit is the function of this name, with three dots where only ASCII is wanted.
func (s Screen) Fit(text string, width int) string {
	if s.ASCII {
		return fit(text, width, "..."[:max(0, min(3, width-1))])
	}
	return fit(text, width, "…")
}

// FitMiddle returns text in at most width columns, with the ellipsis after two thirds.
func (s Screen) FitMiddle(text string, width int) string {
	tail := "…"
	if s.ASCII {
		tail = "~"
	}
	whole, room := Width(text), width-Width(tail)
	if whole <= width || room < 3 {
		return s.Fit(text, width)
	}
	head := fit(text, room-room/3, "")
	return head + tail + widths().TruncateLeft(text, whole-room/3, "")
}

func fit(text string, width int, tail string) string {
	if width <= 0 {
		return ""
	}
	return widths().Truncate(text, width, tail)
}

// Pad returns text followed by blanks up to width columns.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-Width(text)))
}
