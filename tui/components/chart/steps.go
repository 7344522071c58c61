package chart

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/tui/ink"
)

// StepState is how a step went.
type StepState int

// The states of a step.
const (
	StepUnknown StepState = iota
	StepOK
	StepFailed
	// StepSkipped was not tried, since one before it failed.
	StepSkipped
)

// Step is one of a chain: each needs the one before it.
type Step struct {
	State StepState
	Name  string
	// Detail is what was found or done, Error why it failed.
	Detail, Error string
	Took          time.Duration
}

// stepLook is how a state is shown: a sign and a word, and the tokens of them and
// of the step's name.
type stepLook struct {
	sign, word  string
	token, name ink.Token
}

// look is how the step is shown. The words are those of kapi inspect apiservice.
func (s Step) look(g *ink.Glyphs) stepLook {
	switch s.State {
	case StepOK:
		return stepLook{g.Good, "ok", ink.Good, ink.Text}
	case StepFailed:
		return stepLook{g.Bad, "FAILED", ink.Bad, ink.Bad}
	case StepSkipped:
		return stepLook{g.Off, "not tried", ink.Muted, ink.Muted}
	default:
		return stepLook{g.Unknown, "unknown", ink.Muted, ink.Muted}
	}
}

// took is how long the step took, where it was tried.
func (s Step) took() string {
	if s.State != StepOK && s.State != StepFailed && s.Took == 0 {
		return ""
	}
	return kinds.Took(metav1.Duration{Duration: s.Took})
}

// Steps draws a chain of steps, one below the other: sign, name, how it went, how
// long it took, what was found. Errors stand below in full; a line at the left
// leads past them to the next step.
func Steps(paper ink.Paper, steps []Step, width int) []ink.Line {
	if width <= 0 {
		return nil
	}
	l := newStepsLayout(paper, steps, width)
	var lines []ink.Line
	for i, step := range steps {
		lines = append(lines, l.step(step, i == len(steps)-1)...)
	}
	for i, line := range lines {
		lines[i] = paper.Fit(line, width)
	}
	return lines
}

// stepsLayout are the columns of a chain of steps, in cells.
type stepsLayout struct {
	paper            ink.Paper
	width            int
	name, word, took int
	// detail is where details begin: beside the rest, or below the name.
	detail int
	beside bool
}

// stepIndent is where names begin, behind the sign.
const stepIndent = 2

func newStepsLayout(paper ink.Paper, steps []Step, width int) stepsLayout {
	const gap, least = 2, 24 // details are not squeezed into less
	l, timed := stepsLayout{paper: paper, width: width}, false
	for _, step := range steps {
		l.name = max(l.name, ink.Width(paper.Clean(step.Name)))
		l.word = max(l.word, len(step.look(paper.Glyphs).word))
		l.took = max(l.took, ink.Width(paper.Clean(step.took())))
		timed = timed || step.Took > 0
	}
	if !timed {
		l.took = 0 // nobody has measured it
	}
	l.name = min(l.name, max(8, width/3))
	head := stepIndent + l.name + gap + l.word
	if l.took > 0 {
		head += gap + l.took
	}
	l.detail, l.beside = head+gap, width-head-gap >= least
	if !l.beside {
		l.detail = stepIndent
	}
	if head > width {
		l.took = 0 // the least of what does not fit
	}
	return l
}

func (l stepsLayout) step(s Step, last bool) []ink.Line {
	g, look := l.paper.Glyphs, s.look(l.paper.Glyphs)
	name := g.Shorten(l.paper.Clean(s.Name), l.name)
	head := ink.Line{
		ink.T(look.token, look.sign), ink.T(ink.Text, " "),
		ink.T(look.name, ink.Pad(name, l.name)), ink.T(ink.Text, "  "),
		ink.T(look.token, ink.Pad(look.word, l.word)),
	}
	if l.took > 0 {
		took := ink.PadLeft(l.paper.Clean(s.took()), l.took)
		head = append(head, ink.T(ink.Text, "  "), ink.T(ink.Muted, took))
	}
	lines := []ink.Line{head}
	details := l.paper.Wrap(ink.Text, s.Detail, l.width-l.detail)
	if l.beside && len(details) > 0 {
		head = append(head, ink.T(ink.Text, "  "))
		lines[0], details = append(head, details[0]...), details[1:]
	}
	stem := " "
	if !last {
		stem = g.Vertical
	}
	for _, detail := range details {
		lines = append(lines, beneath(stem, l.detail, detail))
	}
	indent := stepIndent
	if l.beside {
		indent += l.name + 2 // below how it went
	}
	for _, line := range l.paper.Wrap(ink.Bad, s.Error, l.width-indent) {
		lines = append(lines, beneath(stem, indent, line))
	}
	return lines
}

// beneath is a line below a step's first one.
func beneath(stem string, indent int, line ink.Line) ink.Line {
	return append(ink.Line{ink.T(ink.Border, ink.Pad(stem, indent))}, line...)
}

// Strip draws the steps on one line: "✓ service → ✗ endpoint → ○ dial". Where there
// is no room for all of them, those before the one that failed are left out.
func Strip(paper ink.Paper, steps []Step, width int) ink.Line {
	if width <= 0 {
		return nil
	}
	failed := slices.IndexFunc(steps, func(s Step) bool { return s.State == StepFailed })
	line := strip(paper, steps, false)
	for from := 1; from <= failed && line.Width() > width; from++ {
		line = strip(paper, steps[from:], true)
	}
	return paper.Fit(line, width)
}

func strip(paper ink.Paper, steps []Step, more bool) ink.Line {
	g := paper.Glyphs
	arrow := ink.T(ink.Border, " "+g.Arrow+" ")
	var line ink.Line
	if more {
		line = ink.L(ink.Muted, g.Ellipsis)
	}
	for _, step := range steps {
		if len(line) > 0 {
			line = append(line, arrow)
		}
		look := step.look(g)
		line = append(line, ink.T(look.token, look.sign), ink.T(ink.Text, " "), ink.T(look.name, paper.Clean(strings.TrimSpace(step.Name))))
	}
	return line
}
