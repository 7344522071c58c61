package apiservices

import (
	"fmt"

	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// head sums the page up on one line: how many are not available, and whom that hurt.
func head(all []row, paper ink.Paper) []ink.Line {
	if len(all) == 0 {
		return nil
	}
	var bad, unsure int
	var refused int64
	for _, r := range all {
		switch r.State.Severity {
		case joined.Bad:
			bad++
		case joined.Warning:
			unsure++
		case joined.OK:
		}
		refused += max(0, r.UnavailableAnswers)
	}
	mark := kit.Mark(paper.Glyphs, joined.OK, fmt.Sprintf("all %d are available", len(all)))
	switch {
	case bad > 0:
		mark = kit.Mark(paper.Glyphs, joined.Bad, fmt.Sprintf("%d of %d unavailable", bad, len(all)))
	case unsure > 0:
		mark = kit.Mark(paper.Glyphs, joined.Warning, fmt.Sprintf("%d of %d not sure", unsure, len(all)))
	}
	line := ink.Line{mark}
	if refused > 0 {
		requests := "requests were"
		if refused == 1 {
			requests = "request was"
		}
		line = append(line, ink.T(ink.Muted, fmt.Sprintf("  %s  %d %s answered 503 in their place", paper.Glyphs.Dot, refused, requests)))
	}
	return []ink.Line{line, nil}
}
