package crds

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

func columns(signs *sheet.Signs) []vtable.Column[row] {
	text := func(value func(row) string) func(row, time.Time) ink.Span {
		return func(r row, _ time.Time) ink.Span { return sheet.Or(ink.Text, value(r)) }
	}
	since := func(at func(row) time.Time) func(row, time.Time) ink.Span {
		return func(r row, now time.Time) ink.Span { return sheet.Or(ink.Text, kit.Ago(at(r), now)) }
	}
	// A column per condition: whether all is well with it, and not its status, since
	// some conditions are well when they are false.
	condition := func(kind string) func(row, time.Time) ink.Span {
		return func(r row, _ time.Time) ink.Span { return well(signs, joined.Find(r.Conditions, kind)) }
	}
	return []vtable.Column[row]{
		{Title: "NAME", Keep: true, Middle: true, Min: 20, Cell: func(r row, _ time.Time) ink.Span { return ink.T(ink.Text, r.Name) }},
		{Title: "STATE", Keep: true, Min: 16, Cell: func(r row, _ time.Time) ink.Span {
			return signs.Mark(r.State.Severity, r.State.Word)
		}, Compare: func(a, b row) int {
			return cmp.Or(cmp.Compare(b.State.Severity, a.State.Severity), cmp.Compare(a.State.Word, b.State.Word))
		}},
		{Title: "EST", Cell: condition("Established")},
		{Title: "NAMES", Cell: condition("NamesAccepted")},
		{Title: "SCHEMA", Cell: structural(signs)},
		{Title: "OBJECTS", Right: true, Cell: objects, Compare: func(a, b row) int { return cmp.Compare(a.Objects, b.Objects) }},
		{Title: "TOOK", Right: true, Cell: text(func(r row) string { return elapsed(r.TimeToEstablished) }),
			Compare: func(a, b row) int { return compareElapsed(a.TimeToEstablished, b.TimeToEstablished) }},
		{Title: "AGE", Right: true, Cell: since(func(r row) time.Time { return r.CreatedAt }),
			Compare: func(a, b row) int { return b.CreatedAt.Compare(a.CreatedAt) }},
		{Title: "STORED", Min: 15, Cell: stored},
		{Title: "WHY", Min: 20, Grow: 1, Cell: text(func(r row) string { return r.State.Why })},
		{Title: "APPROVED", Wide: true, Cell: condition("KubernetesAPIApprovalPolicyConformant")},
		{Title: "SINCE", Right: true, Wide: true, Cell: since(func(r row) time.Time { return r.State.Since }),
			Compare: func(a, b row) int { return b.State.Since.Compare(a.State.Since) }},
		{Title: "CHANGED", Right: true, Wide: true, Cell: since(func(r row) time.Time { return r.LastChange }),
			Compare: func(a, b row) int { return b.LastChange.Compare(a.LastChange) }},
		{Title: "TO-SERVED", Right: true, Wide: true, Cell: text(func(r row) string { return elapsed(r.TimeToServed) }),
			Compare: func(a, b row) int { return compareElapsed(a.TimeToServed, b.TimeToServed) }},
		{Title: "SIZE", Right: true, Wide: true, Cell: func(r row, _ time.Time) ink.Span {
			return r.gaps.Cell("Size", ink.T(ink.Text, kinds.Size(r.Bytes)))
		}, Compare: func(a, b row) int { return cmp.Compare(a.Bytes, b.Bytes) }},
		{Title: "KIND", Wide: true, Cell: text(func(r row) string { return r.Kind })},
		{Title: "SCOPE", Wide: true, Cell: text(func(r row) string { return r.Scope })},
		{Title: "SERVED", Wide: true, Cell: text(func(r row) string { return strings.Join(r.Served, ",") })},
	}
}

// well is whether all is well with a condition.
func well(signs *sheet.Signs, c joined.Condition) ink.Span {
	switch {
	case c.Status == "":
		return ink.T(ink.Muted, "-")
	case c.Severity() == joined.OK:
		return signs.Mark(joined.OK, "ok")
	case c.Status == "Unknown":
		return signs.Unknown("?")
	}
	return signs.Mark(c.Severity(), "no")
}

// structural is whether the schemas are structural: the condition is there only where
// they are not.
func structural(signs *sheet.Signs) func(row, time.Time) ink.Span {
	return func(r row, _ time.Time) ink.Span {
		c := joined.Find(r.Conditions, "NonStructuralSchema")
		if c.Status == "" && len(r.Conditions) > 0 {
			return signs.Mark(joined.OK, "ok")
		}
		return well(signs, c)
	}
}

func objects(r row, _ time.Time) ink.Span {
	switch {
	case r.Objects < 0:
		return ink.T(ink.Muted, "?")
	case r.Objects == 0:
		return ink.T(ink.Muted, "0")
	}
	return ink.T(ink.Text, strconv.FormatInt(r.Objects, 10))
}

// stored is what objects are written as, and what they may still be stored as.
func stored(r row, _ time.Time) ink.Span {
	if len(r.ToMigrate) > 0 {
		return ink.T(ink.Warning, r.StorageVersion+", old "+strings.Join(r.ToMigrate, ","))
	}
	return sheet.Or(ink.Text, r.StorageVersion)
}

// elapsed is how long something took, as exactly as that is known.
func elapsed(e *joined.Elapsed) string {
	switch {
	case e == nil:
		return ""
	case e.AtMost:
		return "<" + duration.HumanDuration(e.Duration.Duration)
	}
	return kinds.Took(e.Duration)
}

func compareElapsed(a, b *joined.Elapsed) int {
	value := func(e *joined.Elapsed) time.Duration {
		if e == nil {
			return -1
		}
		return e.Duration.Duration
	}
	return cmp.Compare(value(a), value(b))
}

// head sums the page up on one line.
func head(rows []row, paper ink.Paper) []ink.Line {
	var bad, warning int
	var migrate int
	for _, r := range rows {
		switch r.State.Severity {
		case joined.Bad:
			bad++
		case joined.Warning:
			warning++
		case joined.OK:
		}
		if len(r.ToMigrate) > 0 {
			migrate++
		}
	}
	if len(rows) == 0 {
		return nil
	}
	line := ink.Line{kit.Mark(paper.Glyphs, joined.OK, fmt.Sprintf("all %d established", len(rows)))}
	if bad+warning > 0 {
		line = nil
	}
	dot := ink.T(ink.Muted, "  "+paper.Glyphs.Dot+"  ")
	add := func(count int, severity joined.Severity, what string) {
		if count == 0 {
			return
		}
		if len(line) > 0 {
			line = append(line, dot)
		}
		line = append(line, kit.Mark(paper.Glyphs, severity, fmt.Sprintf(what, count, len(rows))))
	}
	add(bad, joined.Bad, "%d of %d broken")
	add(warning, joined.Warning, "%d of %d to be looked at")
	add(migrate, joined.Warning, "%d of %d with objects in old versions")
	return []ink.Line{line, nil}
}
