package route

import (
	"fmt"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// sendKey is what the line is known by that sends the request. It leads nowhere: the
// page itself does that on enter.
const sendKey = "send"

// sending is how it stands with the request itself.
type sending struct {
	waiting bool
	trace   *v1alpha1.RequestTrace
	err     error
}

// text is a dry run: how it would end, whether that came true, the way there, and
// what can be done now.
func text(paper ink.Paper, explained *v1alpha1.RouteExplanation, sent sending) []doc.Line {
	told := explained.Status
	all := facts(told, sent.trace)
	var lines []doc.Line
	glyph, token := outcome(paper, told)
	lines = wrapped(lines, paper, token, glyph+" "+told.Outcome, page.Location{})
	if sent.waiting {
		lines = append(lines, doc.Line{Key: "sending", Line: ink.L(ink.Muted, paper.Glyphs.Running+" it is sent")})
	}
	if sent.trace != nil {
		lines = verdict(lines, paper, all, sent.trace)
	}
	lines = append(lines, doc.Line{}, doc.Line{Line: ink.L(ink.Title, request(explained.Spec)), Key: "request", Copy: explained.Spec.Path})
	for _, f := range all {
		lines = f.lines(lines, paper, sent.trace != nil)
	}
	lines = append(lines, doc.Line{})
	return send(lines, paper, explained.Spec, sent)
}

// outcome is the sign of what would happen.
func outcome(paper ink.Paper, told v1alpha1.RouteExplanationStatus) (glyph string, token ink.Token) {
	severity := joined.OK
	switch {
	case told.Code >= 500:
		severity = joined.Bad
	case told.Code >= 400, told.Authorization != nil && !told.Authorization.Allowed:
		severity = joined.Warning
	}
	span := kit.Mark(paper.Glyphs, severity, "")
	return strings.TrimSpace(span.Text), span.Token
}

// request is how the request is said in the heading.
func request(spec v1alpha1.RouteExplanationSpec) string {
	said := strings.ToUpper(spec.Verb) + " " + spec.Path
	if spec.User != "" {
		said += "  as " + spec.User
	}
	return said
}

// wrapped adds a text in lines of one token.
func wrapped(lines []doc.Line, paper ink.Paper, token ink.Token, text string, open page.Location) []doc.Line {
	for i, line := range paper.Wrap(token, text, max(1, paper.Width-1)) {
		if i > 0 {
			line = append(ink.Line{ink.T(ink.Text, "  ")}, line...)
		}
		lines = append(lines, doc.Line{Line: line, Open: open, Copy: text})
	}
	return lines
}

// verdict says what became of the request, and whether it was as foretold.
func verdict(lines []doc.Line, paper ink.Paper, all []fact, trace *v1alpha1.RequestTrace) []doc.Line {
	checked, wrong := 0, []string{}
	for _, f := range all {
		if !f.checked() {
			continue
		}
		checked++
		if f.wrong {
			wrong = append(wrong, f.name)
		}
	}
	glyphs := paper.Glyphs
	switch {
	case checked == 0:
		lines = wrapped(lines, paper, ink.Muted, glyphs.Unknown+" sent: nothing was foretold that could be compared", page.Location{})
	case len(wrong) == 0:
		lines = wrapped(lines, paper, ink.Good, fmt.Sprintf("%s sent: as foretold, %s compared", glyphs.Good, plural(checked, "fact")), page.Location{})
	default:
		lines = wrapped(lines, paper, ink.Bad, fmt.Sprintf("%s sent: not as foretold in %s of %d: %s", glyphs.Bad, plural(len(wrong), "fact"), checked, strings.Join(wrong, ", ")), page.Location{})
	}
	said := status(trace.Status.Code) + " after " + kit.Took(trace.Status.Duration.Duration)
	if by := trace.Status.TerminatedBy; by.Kind != "" {
		said += ", ended by " + ended(by, trace.Status.Panicked)
	}
	at := page.Location{}
	if trace.Spec.AuditID != "" && len(trace.Status.Filters) > 0 {
		at = page.At("requests", trace.Spec.AuditID)
		said += "; enter shows its way"
	}
	return wrapped(lines, paper, tone(trace.Status.Code), "  answered "+said, at)
}

// lines are a fact and what is below it.
func (f fact) lines(lines []doc.Line, paper ink.Paper, sent bool) []doc.Line {
	value, token := f.foretold, f.token
	if sent && f.foretold == "" {
		value = "not certain beforehand; was " + f.was
	}
	from := len(lines)
	lines = kit.Fact(lines, paper, f.name, f.value(paper, value, token, sent))
	for i := range lines[from:] {
		lines[from+i].Open, lines[from+i].Folded = f.open, f.folded
	}
	if f.wrong {
		lines = f.note(lines, paper, note{token: ink.Bad, text: paper.Glyphs.Bad + " but was " + f.was})
	}
	for _, n := range f.below {
		lines = f.note(lines, paper, n)
	}
	return lines
}

// value is a fact's value, with a sign whether it came true where there is room.
func (f fact) value(paper ink.Paper, value string, token ink.Token, sent bool) ink.Line {
	line := ink.L(token, value)
	if !sent || !f.checked() || f.wrong {
		return line
	}
	mark := "  " + paper.Glyphs.Good + " so it was"
	if f.was != f.foretold {
		mark = "  " + paper.Glyphs.Good + " was " + f.was
	}
	if ink.Width(paper.Clean(value))+ink.Width(mark)+indent > paper.Width {
		return line
	}
	return append(line, ink.T(ink.Good, mark))
}

// indent is where the values of facts begin.
const indent = 21

// note adds a line below a fact, under its value.
func (f fact) note(lines []doc.Line, paper ink.Paper, n note) []doc.Line {
	text := strings.TrimLeft(n.text, " ")
	deeper := len(n.text) - len(text)
	for i, line := range paper.Wrap(n.token, text, max(10, paper.Width-indent-deeper-3)) {
		before := strings.Repeat(" ", indent+deeper)
		if i > 0 {
			before += "  "
		}
		lines = append(lines, doc.Line{Level: 2, Key: f.name + " " + n.text, Copy: text, Open: n.open,
			Line: append(ink.Line{ink.T(ink.Text, before)}, line...)})
	}
	return lines
}

// send is the last line: what sends the request, or why it is not sent from here.
func send(lines []doc.Line, paper ink.Paper, spec v1alpha1.RouteExplanationSpec, sent sending) []doc.Line {
	if sent.err != nil {
		lines = wrapped(lines, paper, ink.Bad, paper.Glyphs.Bad+" sending it: "+sent.err.Error(), page.Location{})
		if hint := fault.Hint(sent.err); hint != "" {
			lines = wrapped(lines, paper, ink.Muted, "  "+hint, page.Location{})
		}
	}
	switch {
	case !reads(spec.Verb):
		return wrapped(lines, paper, ink.Muted, "It would change something, so it is not sent from here: kapi inspect route "+typed(spec)+" --live does.", page.Location{})
	case sent.waiting:
		return append(lines, doc.Line{Key: sendKey, Line: ink.L(ink.Muted, paper.Glyphs.Running+" it is sent")})
	case sent.trace != nil:
		return append(lines, doc.Line{Key: sendKey, Open: page.At("route", sendKey), Line: ink.L(ink.Accent, paper.Glyphs.Arrow+" send it again")})
	}
	return append(lines, doc.Line{Key: sendKey, Open: page.At("route", sendKey), Line: ink.Line{
		ink.T(ink.Accent, paper.Glyphs.Arrow+" send it"), ink.T(ink.Muted, " and compare; it only reads")}})
}
