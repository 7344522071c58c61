package sheet

import (
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
)

// Gaps are the columns of a kind that a server does not fill, by their names in the
// kind's table. What stands in such a column is no value.
type Gaps map[string]bool

// GapsOf are those of a view.
func GapsOf(view data.View) Gaps {
	if len(view.Gaps) == 0 {
		return nil
	}
	gaps := make(Gaps, len(view.Gaps))
	for _, gap := range view.Gaps {
		gaps[gap.Column] = true
	}
	return gaps
}

// Cell is a value of a column; a dash where the server does not fill it.
func (g Gaps) Cell(column string, value ink.Span) ink.Span {
	if g[column] {
		return ink.T(ink.Muted, "-")
	}
	return Or(value.Token, value.Text)
}

// Notes say why columns are empty, one sentence for each reason.
func Notes(gaps []inspection.Gap, paper ink.Paper) []ink.Line {
	var reasons []string
	columns := map[string][]string{}
	for _, gap := range gaps {
		if !slices.Contains(reasons, gap.Reason) {
			reasons = append(reasons, gap.Reason)
		}
		if gap.Column != "" {
			columns[gap.Reason] = append(columns[gap.Reason], gap.Column)
		}
	}
	var lines []ink.Line
	for _, reason := range reasons {
		text := strings.TrimPrefix(strings.Join(columns[reason], ", ")+": "+reason, ": ")
		lines = append(lines, paper.Wrap(ink.Muted, text, min(paper.Width, widest))...)
	}
	return lines
}

// Missing is what could not be had of the feeds that a join uses. used are their
// columns that are worth a word; other gaps are left out.
func Missing(frame data.Frame, used map[string][]string, order ...string) []joined.Missing {
	var missing []joined.Missing
	for _, resource := range order {
		view := frame.View(data.Of(resource))
		switch view.State {
		case data.Forbidden, data.Failed, data.Absent:
			if len(view.Objects) == 0 {
				missing = append(missing, joined.Missing{Part: resource, Reason: because(view)})
				continue
			}
		case data.Loading:
			missing = append(missing, joined.Missing{Part: resource, Reason: "it has not come yet"})
		case data.Live, data.Stale:
		}
		for _, gap := range view.Gaps {
			if gap.Column == "" {
				missing = append(missing, joined.Missing{Part: resource, Reason: gap.Reason})
			} else if slices.Contains(used[resource], gap.Column) {
				missing = append(missing, joined.Missing{Part: resource + "." + gap.Column, Reason: gap.Reason})
			}
		}
	}
	return missing
}

func because(view data.View) string {
	if view.Err != nil {
		text, _, _ := strings.Cut(view.Err.Error(), "\n")
		if hint := fault.Hint(view.Err); hint != "" {
			text += "; " + hint
		}
		return text
	}
	for _, gap := range view.Gaps {
		if gap.Column == "" {
			return gap.Reason
		}
	}
	return "this server has no such thing"
}

// NotShown says at the end of a detail what is missing in it, and why.
func NotShown(lines []doc.Line, paper ink.Paper, missing []joined.Missing) []doc.Line {
	if len(missing) == 0 {
		return lines
	}
	lines = Section(lines, "Not shown")
	for _, m := range missing {
		lines = Para(lines, paper, 1, ink.Muted, m.Part+": "+m.Reason)
	}
	return lines
}
