package sheet

import (
	"fmt"
	"slices"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// Conditions are the conditions as they are now, each with its message below it.
func Conditions(lines []doc.Line, paper ink.Paper, conditions []joined.Condition, now time.Time) []doc.Line {
	lines = Section(lines, "Conditions")
	if len(conditions) == 0 {
		return Para(lines, paper, 1, ink.Muted, "none yet: no controller has looked at it")
	}
	rows := [][]ink.Span{Heads("type", "status", "since", "reason")}
	for _, c := range conditions {
		rows = append(rows, []ink.Span{
			ink.T(ink.Name, c.Type), kit.Mark(paper.Glyphs, c.Severity(), status(c.Status)),
			Or(ink.Text, kit.Ago(c.Since, now)), Or(ink.Text, c.Reason),
		})
	}
	for i, line := range Grid(paper, rows) {
		lines = Body(lines, []ink.Line{line})
		if i == 0 {
			continue
		}
		c := conditions[i-1]
		lines[len(lines)-1].Key = "condition " + c.Type
		if c.Severity() != joined.OK || c.Reason == "" {
			lines = indented(lines, paper, c.Message)
		}
	}
	return lines
}

// indented is a message below what it is about.
func indented(lines []doc.Line, paper ink.Paper, message string) []doc.Line {
	if message == "" {
		return lines
	}
	for _, part := range paper.Wrap(ink.Muted, message, max(1, min(paper.Width-6, widest))) {
		lines = append(lines, doc.Line{Level: 1, Copy: message, Line: append(ink.L(ink.Text, "    "), part...)})
	}
	return lines
}

func status(status string) string {
	if status == "" {
		return "none"
	}
	return status
}

// longest is how many changes a history shows at most.
const longest = 200

// History is how conditions came to be what they are: a bar for each type over the
// time that is remembered, and the changes, newest first.
func History(lines []doc.Line, paper ink.Paper, transitions []v1alpha1.ConditionTransitionSpec, earlier int, now time.Time) []doc.Line {
	if len(transitions) == 0 && earlier == 0 {
		return lines
	}
	lines = Section(lines, "History, newest first")
	lines = Body(lines, Bars(paper, transitions, now))
	older := max(0, len(transitions)-longest)
	lines = changes(lines, paper, transitions[older:], now)
	if older > 0 {
		lines = Para(lines, paper, 1, ink.Muted, fmt.Sprintf("%d older changes are not shown: kapi inspect transitions has them", older))
	}
	if earlier > 0 {
		lines = Para(lines, paper, 1, ink.Muted, fmt.Sprintf("%d changes are of earlier objects of this name", earlier))
	}
	return lines
}

func changes(lines []doc.Line, paper ink.Paper, transitions []v1alpha1.ConditionTransitionSpec, now time.Time) []doc.Line {
	rows := [][]ink.Span{Heads("at", "type", "change", "after", "reason")}
	for i := range slices.Backward(transitions) {
		t := &transitions[i]
		heldFor := ""
		if t.HeldFor != nil {
			heldFor = kinds.Took(*t.HeldFor)
		}
		to := joined.Condition{Type: t.Type, Status: t.To}
		rows = append(rows, []ink.Span{
			ink.T(ink.Text, Clock(t.At.Time, now)), ink.T(ink.Name, t.Type),
			kit.Mark(paper.Glyphs, to.Severity(), status(t.From)+" "+paper.Glyphs.Arrow+" "+status(t.To)),
			Or(ink.Text, heldFor), Or(ink.Text, t.Reason),
		})
	}
	for i, line := range Grid(paper, rows) {
		lines = Body(lines, []ink.Line{line})
		if i == 0 {
			continue
		}
		t := &transitions[len(transitions)-i]
		lines[len(lines)-1].Key = "transition " + t.Type + t.At.String()
		if (joined.Condition{Type: t.Type, Status: t.To}).Severity() != joined.OK {
			lines = indented(lines, paper, t.Message)
		}
	}
	return lines
}

// Clock is a time of day, with the day if that was another one.
func Clock(at, now time.Time) string {
	at = at.In(now.Location())
	switch {
	case at.IsZero():
		return ""
	case at.YearDay() != now.YearDay() || at.Year() != now.Year():
		return at.Format("2006-01-02 15:04:05")
	case at.Nanosecond() == 0:
		return at.Format("15:04:05")
	default:
		return at.Format("15:04:05.000")
	}
}

// At is a time and how long ago it was; empty for none.
func At(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	return Clock(at, now) + ", " + kit.Ago(at, now) + " ago"
}
