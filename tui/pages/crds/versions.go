package crds

import (
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// versions is a table of them. What is unusual stands at the end.
func (f facts) versions(lines []doc.Line, paper ink.Paper) []doc.Line {
	lines = sheet.Section(lines, "Versions")
	rows := [][]ink.Span{sheet.Heads("version", "served", "storage", "stored", "schema", "discovery", "")}
	for _, v := range f.Versions {
		rows = append(rows, []ink.Span{
			ink.T(ink.Name, v.Name), yes(v.Served), yes(v.Storage), stays(v), hasSchema(v), fresh(paper.Glyphs, v), f.note(v),
		})
	}
	return sheet.Body(lines, sheet.Grid(paper, rows))
}

func yes(is bool) ink.Span {
	if is {
		return ink.T(ink.Text, "yes")
	}
	return ink.T(ink.Muted, "no")
}

// stays is whether objects may be stored as a version, which is unusual for one that
// is not the storage version.
func stays(v joined.Version) ink.Span {
	if v.Stored && !v.Storage {
		return ink.T(ink.Warning, "yes")
	}
	return yes(v.Stored)
}

func hasSchema(v joined.Version) ink.Span {
	if v.Schema {
		return ink.T(ink.Text, "yes")
	}
	return ink.T(ink.Warning, "none")
}

func fresh(glyphs *ink.Glyphs, v joined.Version) ink.Span {
	switch v.Discovery {
	case "":
		return ink.T(ink.Muted, "-")
	case v1alpha1.DiscoveryCurrent:
		return kit.Mark(glyphs, joined.OK, string(v.Discovery))
	default:
		return kit.Mark(glyphs, joined.Warning, string(v.Discovery))
	}
}

// note says what is unusual about a version.
func (f facts) note(v joined.Version) ink.Span {
	switch {
	case notAnswered(v):
		return ink.T(ink.Bad, "not answered")
	case v.Stored && !v.Storage:
		return ink.T(ink.Warning, "objects to migrate")
	case v.Deprecated && v.DeprecationWarning != "":
		return ink.T(ink.Warning, "deprecated: "+v.DeprecationWarning)
	case v.Deprecated:
		return ink.T(ink.Warning, "deprecated")
	}
	return ink.T(ink.Text, "")
}

// notAnswered says that the server should answer for a version, and does not.
func notAnswered(v joined.Version) bool { return v.Served && v.Answered != nil && !*v.Answered }
