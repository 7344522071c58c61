package kit

import (
	"strings"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
)

// mostAbove is how many blank lines stand above what is said in place of a page.
const mostAbove = 12

// Blocked says what stands in the place of a view without objects: that it loads,
// that it may not be seen and what is needed, that this server has no such thing.
// It is false where the objects, or that there are none, can be shown.
func Blocked(view data.View, paper ink.Paper) ([]ink.Line, bool) {
	if len(view.Objects) > 0 || view.State == data.Live && len(view.Gaps) == 0 {
		return nil, false
	}
	if view.State == data.Stale && !view.At.IsZero() && len(view.Gaps) == 0 {
		return nil, false // it was live, and there was nothing
	}
	lines := Reason(view, paper)
	if len(lines) == 0 {
		return nil, false
	}
	// A third from the top is where one looks first.
	above := max(0, min((paper.Height-len(lines))/3, mostAbove))
	return ink.Fill(append(make([]ink.Line, above), lines...), paper.Height), true
}

// word is how a state is called, and how it looks.
type word struct {
	token ink.Token
	glyph func(*ink.Glyphs) string
	text  string
}

var words = map[data.State]word{
	data.Loading:   {ink.Muted, func(g *ink.Glyphs) string { return g.Running }, "loading"},
	data.Live:      {ink.Good, func(g *ink.Glyphs) string { return g.Good }, "live"},
	data.Stale:     {ink.Warning, func(g *ink.Glyphs) string { return g.Warning }, "stale"},
	data.Forbidden: {ink.Warning, func(g *ink.Glyphs) string { return g.Warning }, "forbidden"},
	data.Failed:    {ink.Bad, func(g *ink.Glyphs) string { return g.Bad }, "error"},
	data.Absent:    {ink.Muted, func(g *ink.Glyphs) string { return g.Off }, "not on this server"},
}

// StateMark is a state in a glyph and a word.
func StateMark(glyphs *ink.Glyphs, state data.State) ink.Span {
	w := words[state]
	return ink.T(w.token, w.glyph(glyphs)+" "+w.text)
}

// Reason is why a view is not live, in the width of the paper: the state, the error,
// and the way out.
func Reason(view data.View, paper ink.Paper) []ink.Line {
	var lines []ink.Line
	indent := func(token ink.Token, text string) {
		for _, line := range paper.Wrap(token, text, min(paper.Width-4, 100)) {
			lines = append(lines, append(ink.Line{ink.T(ink.Text, "  ")}, line...))
		}
	}
	if view.State != data.Live {
		lines = append(lines, ink.Line{ink.T(ink.Text, "  "), StateMark(paper.Glyphs, view.State)})
	}
	if view.Err != nil {
		indent(ink.Text, view.Err.Error())
		if hint := fault.Hint(view.Err); hint != "" {
			indent(ink.Muted, hint)
		}
	}
	if len(view.Objects) == 0 {
		for _, gap := range view.Gaps {
			indent(ink.Muted, strings.TrimPrefix(gap.Column+": "+gap.Reason, ": "))
		}
	}
	return lines
}

// Notices are lines above objects that are shown although not all is well, at most
// one: why they are no longer live.
func Notices(view data.View, paper ink.Paper) []ink.Line {
	return notice(view.State, view.Err, paper)
}

// Lost is one line above whatever is shown while the server can't be reached, or
// refuses all: why, and what to do. It is nothing while all is well.
func Lost(frame data.Frame, paper ink.Paper) []ink.Line {
	return notice(frame.State, frame.Err, paper)
}

// Above are the lines above what is shown of a view in a frame: at most one, since
// a lost connection is the reason of a view that is no longer live.
func Above(frame data.Frame, view data.View, paper ink.Paper) []ink.Line {
	if lost := Lost(frame, paper); len(lost) > 0 {
		return lost
	}
	return Notices(view, paper)
}

// unsaid is what is said of a state without an error.
var unsaid = map[data.State]string{
	data.Stale:     "the server can't be reached",
	data.Forbidden: "no longer allowed",
	data.Failed:    "it can't be read",
}

// notice is a state, its cause and the way out in one line; nothing for states in
// which nothing is wrong.
func notice(state data.State, err error, paper ink.Paper) []ink.Line {
	text, ok := unsaid[state]
	if !ok {
		return nil
	}
	hint := ""
	if err != nil {
		text, _, _ = strings.Cut(err.Error(), "\n")
		hint, _, _ = strings.Cut(fault.Hint(err), "\n")
	}
	line := ink.Line{ink.T(ink.Text, "  "), StateMark(paper.Glyphs, state), ink.T(ink.Text, "  "+text)}
	if hint != "" {
		line = append(line, ink.T(ink.Muted, "; "+hint))
	}
	return []ink.Line{line}
}

// GapNotes are the columns that this server does not fill, a line each: "COLUMN: why".
func GapNotes(view data.View, paper ink.Paper, most int) []ink.Line {
	var lines []ink.Line
	for _, gap := range view.Gaps {
		if len(lines) == most {
			break
		}
		lines = append(lines, ink.Line{ink.T(ink.Muted, strings.TrimPrefix(gap.Column+": "+gap.Reason, ": "))})
	}
	return lines
}

// Failure is an error and the way out, in place of what it kept from being shown.
func Failure(paper ink.Paper, err error, hint string) []ink.Line {
	lines := []ink.Line{nil}
	width := min(paper.Width-4, 100)
	for i, line := range paper.Wrap(ink.Text, err.Error(), width-2) {
		mark := "  "
		if i == 0 {
			mark = paper.Glyphs.Bad + " "
		}
		lines = append(lines, append(ink.Line{ink.T(ink.Text, "  "), ink.T(ink.Bad, mark)}, line...))
	}
	if hint != "" {
		for _, line := range paper.Wrap(ink.Muted, hint, width-2) {
			lines = append(lines, append(ink.Line{ink.T(ink.Text, "    ")}, line...))
		}
	}
	return lines
}
