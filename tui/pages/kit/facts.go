package kit

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/ink"
)

// Mark is how bad something is, in a glyph and words.
func Mark(glyphs *ink.Glyphs, severity joined.Severity, words string) ink.Span {
	switch severity {
	case joined.Bad:
		return ink.T(ink.Bad, glyphs.Bad+" "+words)
	case joined.Warning:
		return ink.T(ink.Warning, glyphs.Warning+" "+words)
	default:
		return ink.T(ink.Good, glyphs.Good+" "+words)
	}
}

// Tone is the token of a severity.
func Tone(severity joined.Severity) ink.Token {
	return Mark(&ink.Glyphs{}, severity, "").Token
}

// Severity is that of a table's row.
func Severity(severity joined.Severity) vtable.Severity {
	switch severity {
	case joined.Bad:
		return vtable.Unhealthy
	case joined.Warning:
		return vtable.Unsure
	default:
		return vtable.Healthy
	}
}

// Ago is how long ago a time was, as kubectl writes it; empty for none.
func Ago(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(0, now.Sub(at)))
}

// Took writes a duration as everywhere in kapi.
func Took(d time.Duration) string { return kinds.Took(metav1.Duration{Duration: d}) }

// Section is a heading in a document, with an empty line above it unless it is the
// first. What follows at level 1 folds below it.
func Section(lines []doc.Line, title string) []doc.Line {
	if n := len(lines); n > 0 {
		// A blank line that is deeper than what stands above it would fold below that.
		lines = append(lines, doc.Line{Level: min(1, lines[n-1].Level), Key: "space above " + title})
	}
	return append(lines, doc.Line{Line: ink.L(ink.Heading, title), Key: "section " + title})
}

// labelWidth is that of the labels of facts.
const labelWidth = 18

// Fact is a label and its value on one line, at level 1; a value that is longer than
// the paper is wrapped under itself. No value is no line.
func Fact(lines []doc.Line, paper ink.Paper, label string, value ink.Line) []doc.Line {
	if value.String() == "" {
		return lines
	}
	room := paper.Width - labelWidth - 4
	text := value.String()
	if len(value) == 1 && ink.Width(paper.Clean(text)) > room && room >= 10 {
		for i, part := range paper.Wrap(value[0].Token, text, room) {
			name := label
			if i > 0 {
				name = ""
			}
			lines = append(lines, doc.Line{Level: 1, Key: label, Copy: text,
				Line: append(ink.Line{ink.T(ink.Name, "  "+ink.Pad(name, labelWidth)), ink.T(ink.Text, " ")}, part...)})
		}
		return lines
	}
	return append(lines, doc.Line{Level: 1, Key: label, Copy: text,
		Line: append(ink.Line{ink.T(ink.Name, "  "+ink.Pad(label, labelWidth)), ink.T(ink.Text, " ")}, value...)})
}
