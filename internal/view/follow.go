package view

import (
	"io"
	"time"

	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/text"
)

// Lines prints lines of a list as they come: Write prints some of them at once,
// under headings that are printed once.
type Lines[T any] struct {
	stream  *text.Stream
	columns func(now time.Time) []listColumn[T]
	shows   func(space) bool
	events  bool
}

// FollowDefinitions begins a list of definitions. With events the first column
// says what happened to each.
func FollowDefinitions(w io.Writer, s text.Screen, options TableOptions, events bool) *Lines[joined.DefinitionLine] {
	return follow(w, s, definitionColumns, options, events)
}

// FollowAPIServices is FollowDefinitions for APIServices.
func FollowAPIServices(w io.Writer, s text.Screen, options TableOptions, events bool) *Lines[joined.APIServiceLine] {
	return follow(w, s, serviceColumns, options, events)
}

func follow[T any](w io.Writer, s text.Screen, columns func(time.Time) []listColumn[T], options TableOptions, events bool) *Lines[T] {
	lines := &Lines[T]{columns: columns, events: events, shows: func(where space) bool { return options.shows(where, s) }}
	var headings []text.Column
	if events {
		headings = append(headings, text.Column{Name: "Event"})
	}
	for _, column := range lines.columns(time.Time{}) {
		if lines.shows(column.where) {
			headings = append(headings, column.Column)
		}
	}
	lines.stream = text.NewStream(w, s, headings, options.NoHeaders)
	return lines
}

// Write prints items, to all of which the same has happened, as they are at the
// time now. The error is the writer's.
func (l *Lines[T]) Write(event string, items []T, now time.Time) error {
	rows := make([][]text.Cell, 0, len(items))
	for _, item := range items {
		var row []text.Cell
		if l.events {
			row = append(row, plain(event))
		}
		for _, column := range l.columns(now) {
			if l.shows(column.where) {
				row = append(row, column.cell(item))
			}
		}
		rows = append(rows, row)
	}
	return l.stream.Write(rows)
}
