package sheet

import (
	"slices"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// Bars draw what each condition was from the first change until now. A cell is bad
// if the condition was bad at any time in it, so that no failure is too short to be
// seen. There are none where nothing has changed yet.
func Bars(paper ink.Paper, transitions []v1alpha1.ConditionTransitionSpec, now time.Time) []ink.Line {
	var types []string
	first, changed := now, map[string]int{}
	for i := range transitions {
		t := &transitions[i]
		if changed[t.Type]++; changed[t.Type] == 1 {
			types = append(types, t.Type)
		}
		if t.At.Time.Before(first) {
			first = t.At.Time
		}
	}
	label := 0
	types = slices.DeleteFunc(types, func(name string) bool { return changed[name] < 2 })
	for _, name := range types {
		label = max(label, ink.Width(paper.Clean(name)))
	}
	room := min(paper.Width-label-6, 72)
	if len(types) == 0 || room < 10 || !first.Before(now) {
		return nil
	}
	lines := make([]ink.Line, 0, len(types)+3)
	for _, name := range types {
		line := ink.Line{ink.T(ink.Name, ink.Pad(paper.Clean(name), label+2))}
		lines = append(lines, append(line, bar(paper, name, transitions, first, now, room)...))
	}
	return append(lines, legend(paper, kit.Ago(first, now)+" ago", label+2, room), nil)
}

// legend is the line below bars: their ends in time, and what the signs mean.
func legend(paper ink.Paper, from string, indent, room int) ink.Line {
	signs := ink.Line{
		ink.T(ink.Good, paper.Glyphs.Full), ink.T(ink.Muted, " as it should be  "),
		ink.T(ink.Bad, paper.Glyphs.Empty), ink.T(ink.Muted, " not"),
	}
	blanks := room - len(from) - signs.Width() - len("now")
	if blanks < 4 {
		return ink.Line{ink.T(ink.Muted, ink.Pad("", indent)+ink.Pad(from, max(0, room-len("now")))+"now")}
	}
	line := ink.Line{ink.T(ink.Muted, ink.Pad("", indent)+from+ink.Pad("", blanks/2))}
	return append(append(line, signs...), ink.T(ink.Muted, ink.Pad("", blanks-blanks/2)+"now"))
}

// bar is the cells of one condition.
func bar(paper ink.Paper, name string, transitions []v1alpha1.ConditionTransitionSpec, first, now time.Time, cells int) ink.Line {
	const unknown = joined.Severity(-1)
	worst := make([]joined.Severity, cells)
	for i := range worst {
		worst[i] = unknown
	}
	whole := now.Sub(first)
	place := func(at time.Time) int {
		return max(0, min(cells-1, int(float64(at.Sub(first))/float64(whole)*float64(cells))))
	}
	mark := func(from, to time.Time, state string) {
		if state == "" {
			return
		}
		severity := joined.Condition{Type: name, Status: state}.Severity()
		for i := place(from); i <= place(to); i++ {
			worst[i] = max(worst[i], severity)
		}
	}
	at, state := first, ""
	for i := range transitions {
		t := &transitions[i]
		if t.Type != name {
			continue
		}
		if at.Equal(first) && state == "" {
			state = t.From
		}
		mark(at, t.At.Time, state)
		at, state = t.At.Time, t.To
	}
	mark(at, now, state)
	line := make(ink.Line, cells)
	for i, severity := range worst {
		switch severity {
		case unknown:
			line[i] = ink.T(ink.Muted, " ")
		case joined.OK:
			line[i] = ink.T(ink.Good, paper.Glyphs.Full)
		default:
			line[i] = ink.T(ink.Bad, paper.Glyphs.Empty)
		}
	}
	return line
}
