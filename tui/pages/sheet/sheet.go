package sheet

import (
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// widest is the width beyond which sentences are hard to read.
const widest = 110

// State are the first lines of a detail: the state in a glyph and a word, since when,
// the name, and why in full.
func State(paper ink.Paper, name string, state joined.State, now time.Time) []doc.Line {
	words := state.Word
	if words == "" {
		words = "Unknown"
	}
	if since := kit.Ago(state.Since, now); since != "" {
		words += " for " + since
	}
	lines := []doc.Line{{Key: "state", Copy: name, Line: ink.Line{
		kit.Mark(paper.Glyphs, state.Severity, words), ink.T(ink.Text, "  "), ink.T(ink.Title, name),
	}}}
	return Para(lines, paper, 0, kit.Tone(state.Severity), state.Why)
}

// Para is a text, wrapped and indented by two cells; nothing for no text.
func Para(lines []doc.Line, paper ink.Paper, level int, token ink.Token, text string) []doc.Line {
	if strings.TrimSpace(text) == "" {
		return lines
	}
	for _, part := range paper.Wrap(token, text, max(1, min(paper.Width-4, widest))) {
		lines = append(lines, doc.Line{Level: level, Copy: text, Line: append(ink.L(ink.Text, "  "), part...)})
	}
	return lines
}

// Section is a heading with an empty line above it. What follows at level 1 folds
// below it. Lines at level 0 above it stay what they are: they fold nothing.
func Section(lines []doc.Line, title string) []doc.Line {
	if n := len(lines); n > 0 {
		lines = append(lines, doc.Line{Level: min(1, lines[n-1].Level), Key: "above " + title})
	}
	return append(lines, doc.Line{Line: ink.L(ink.Heading, title), Key: "section " + title})
}

// Bullet is a text behind a mark, wrapped under itself.
func Bullet(lines []doc.Line, paper ink.Paper, mark ink.Span, text string) []doc.Line {
	width := ink.Width(paper.Clean(mark.Text)) + 1
	first := ink.Line{ink.T(ink.Text, "  "), mark, ink.T(ink.Text, " ")}
	for _, part := range paper.Wrap(mark.Token, text, max(1, min(paper.Width-4-width, widest))) {
		lines = append(lines, doc.Line{Level: 1, Copy: text, Line: append(first, part...)})
		first = ink.L(ink.Text, "  "+strings.Repeat(" ", width))
	}
	return lines
}

// Hint is what to do; nothing where nothing is broken.
func Hint(lines []doc.Line, paper ink.Paper, hint string) []doc.Line {
	if hint == "" {
		return lines
	}
	return Para(Section(lines, "What to do"), paper, 1, ink.Accent, hint)
}

// Link is a line that leads to a place: a label and what is there.
func Link(lines []doc.Line, paper ink.Paper, label string, value ink.Span, open page.Location) []doc.Line {
	before := len(lines)
	lines = kit.Fact(lines, paper, label, ink.Line{value})
	for i := before; i < len(lines); i++ {
		lines[i].Open, lines[i].Key = open, "link "+open.String()
	}
	return lines
}

// Body puts drawn lines below a section.
func Body(lines []doc.Line, drawn []ink.Line) []doc.Line {
	for _, line := range drawn {
		lines = append(lines, doc.Line{Level: 1, Line: append(ink.L(ink.Text, "  "), line...)})
	}
	return lines
}
