package sheet

import (
	"strings"

	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// Signs are those of the paper that a page is drawn on. The cells of a table are
// asked for without a paper, and a state in them needs its glyph. The zero Signs has
// words only.
type Signs struct {
	glyphs *ink.Glyphs
}

// On takes the signs of a paper.
func (s *Signs) On(paper ink.Paper) { s.glyphs = paper.Glyphs }

// Glyphs are the signs; never nil.
func (s *Signs) Glyphs() *ink.Glyphs {
	if s == nil || s.glyphs == nil {
		return &ink.Glyphs{}
	}
	return s.glyphs
}

// Mark is how bad something is, in a glyph and words.
func (s *Signs) Mark(severity joined.Severity, words string) ink.Span {
	span := kit.Mark(s.Glyphs(), severity, words)
	span.Text = strings.TrimSpace(span.Text)
	return span
}

// Off is something that is turned off or does not apply.
func (s *Signs) Off(words string) ink.Span {
	return ink.T(ink.Muted, strings.TrimSpace(s.Glyphs().Off+" "+words))
}

// Unknown is something that nobody knows.
func (s *Signs) Unknown(words string) ink.Span {
	return ink.T(ink.Muted, strings.TrimSpace(s.Glyphs().Unknown+" "+words))
}
