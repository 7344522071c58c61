package view

import (
	"io"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/text"
)

// TableOptions says how a list is printed.
type TableOptions struct {
	// NoHeaders leaves out the headings.
	NoHeaders bool
	// Wide adds columns.
	Wide bool
}

// roomy is the number of columns from which lists show all that is not wide.
const roomy = 110

// space says where a column is shown.
type space int

const (
	everywhere space = iota
	narrowOnly       // in place of one with more to say
	roomyOnly
	wideOnly
)

func (o TableOptions) shows(where space, s text.Screen) bool {
	room := s.Width <= 0 || s.Width >= roomy || o.Wide
	switch where {
	case narrowOnly:
		return !room
	case roomyOnly:
		return room
	case wideOnly:
		return o.Wide
	default:
		return true
	}
}

// listColumn is a column of a list of T.
type listColumn[T any] struct {
	text.Column
	where space
	cell  func(T) text.Cell
}

// list prints one line for each of the items.
func list[T any](w io.Writer, s text.Screen, columns []listColumn[T], items []T, options TableOptions) error {
	table := text.Table{NoHeaders: options.NoHeaders}
	var shown []listColumn[T]
	for _, column := range columns {
		if options.shows(column.where, s) {
			shown = append(shown, column)
			table.Columns = append(table.Columns, column.Column)
		}
	}
	for _, item := range items {
		row := make([]text.Cell, len(shown))
		for i, column := range shown {
			row[i] = column.cell(item)
		}
		table.Rows = append(table.Rows, row)
	}
	return table.Write(w, s)
}

func plain(s string) text.Cell { return text.Cell{Text: s} }

// severityTone is the colour of a severity.
func severityTone(s joined.Severity) text.Tone {
	return [...]text.Tone{joined.OK: text.Good, joined.Warning: text.Warning, joined.Bad: text.Bad}[s]
}

func stateCell(state joined.State) text.Cell {
	return text.Cell{Text: state.Word, Tone: severityTone(state.Severity)}
}

// conditionCell is the status of a condition; a dash where there is none.
func conditionCell(c joined.Condition) text.Cell {
	if c.Status == "" {
		return plain("-")
	}
	return text.Cell{Text: c.Status, Tone: severityTone(c.Severity())}
}

// age is how long something lasts, as short as in any list; a dash if not known.
func age(since, now time.Time) string {
	if since.IsZero() {
		return "-"
	}
	return duration.HumanDuration(max(0, now.Sub(since)))
}

// elapsedText writes how long something took; a dash if not known.
func elapsedText(e *joined.Elapsed) string {
	switch {
	case e == nil:
		return "-"
	case e.AtMost:
		return "<" + duration.HumanDuration(e.Duration.Duration)
	default:
		return kinds.Took(e.Duration)
	}
}

func countText(n int64) string {
	if n < 0 {
		return "?"
	}
	return strconv.FormatInt(n, 10)
}

// Definitions prints a line for each definition, as it is at the time now. On a narrow
// screen the state stands for the conditions that are usually absent, and for the last
// change. The error is the writer's.
func Definitions(w io.Writer, s text.Screen, lines []joined.DefinitionLine, options TableOptions, now time.Time) error {
	return list(w, s, definitionColumns(now), lines, options)
}

func definitionColumns(now time.Time) []listColumn[joined.DefinitionLine] {
	type line = joined.DefinitionLine
	condition := func(kind string) func(line) text.Cell {
		return func(l line) text.Cell { return conditionCell(joined.Find(l.Conditions, kind)) }
	}
	return []listColumn[line]{
		{text.Column{Name: "Name", Middle: true}, everywhere, func(l line) text.Cell { return plain(l.Name) }},
		{text.Column{Name: "State"}, everywhere, func(l line) text.Cell { return stateCell(l.State) }},
		{text.Column{Name: "Est"}, narrowOnly, condition("Established")},
		{text.Column{Name: "Names"}, narrowOnly, condition("NamesAccepted")},
		{text.Column{Name: "Established"}, roomyOnly, condition("Established")},
		{text.Column{Name: "Names-Accepted"}, roomyOnly, condition("NamesAccepted")},
		{text.Column{Name: "Others", Shrink: true}, roomyOnly, otherConditions},
		{text.Column{Name: "Since", Right: true}, everywhere, func(l line) text.Cell { return plain(age(l.State.Since, now)) }},
		{text.Column{Name: "Took", Right: true}, narrowOnly, func(l line) text.Cell { return plain(elapsedText(l.TimeToEstablished)) }},
		{text.Column{Name: "To-Established", Right: true}, roomyOnly, func(l line) text.Cell { return plain(elapsedText(l.TimeToEstablished)) }},
		{text.Column{Name: "To-Served", Right: true}, wideOnly, func(l line) text.Cell { return plain(elapsedText(l.TimeToServed)) }},
		{text.Column{Name: "Objects", Right: true}, everywhere, func(l line) text.Cell { return plain(countText(l.Objects)) }},
		{text.Column{Name: "Size", Right: true}, wideOnly, func(l line) text.Cell { return plain(kinds.Size(l.Bytes)) }},
		{text.Column{Name: "Changed", Right: true}, roomyOnly, func(l line) text.Cell { return plain(age(l.LastChange, now)) }},
		{text.Column{Name: "Scope"}, wideOnly, func(l line) text.Cell { return plain(l.Scope) }},
		{text.Column{Name: "Served", Shrink: true}, wideOnly, func(l line) text.Cell { return plain(strings.Join(l.Served, ",")) }},
		{text.Column{Name: "Storage"}, wideOnly, func(l line) text.Cell { return plain(l.StorageVersion) }},
		{text.Column{Name: "To-Migrate"}, wideOnly, func(l line) text.Cell { return plain(strings.Join(l.ToMigrate, ",")) }},
		{text.Column{Name: "Why", Shrink: true}, wideOnly, func(l line) text.Cell { return plain(l.State.Why) }},
	}
}

// otherConditions are those without a column of their own.
func otherConditions(l joined.DefinitionLine) text.Cell {
	var others []string
	worst := joined.OK
	for _, c := range l.Conditions {
		if c.Type == "Established" || c.Type == "NamesAccepted" {
			continue
		}
		others = append(others, c.Type+"="+c.Status)
		worst = max(worst, c.Severity())
	}
	if len(others) == 0 {
		return plain("-")
	}
	return text.Cell{Text: strings.Join(others, ","), Tone: severityTone(worst)}
}
