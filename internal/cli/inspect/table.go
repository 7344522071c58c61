package inspect

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/text"
)

// notShown stands in cells that the server can't fill.
const notShown = "n/a"

// kindTable makes rows of the objects of a kind.
type kindTable struct {
	shown []kinds.Column
	// missing are the columns that the server can't fill, and why.
	missing map[string]string
}

func newKindTable(kind kinds.Kind, wide bool, gaps []inspection.Gap) *kindTable {
	t := &kindTable{missing: map[string]string{}}
	for _, column := range kind.Columns {
		if wide || !column.Wide {
			t.shown = append(t.shown, column)
		}
	}
	for _, gap := range gaps {
		t.missing[gap.Column] = gap.Reason
	}
	return t
}

func (t *kindTable) columns() []text.Column {
	columns := []text.Column{{Name: "Name", Middle: true}}
	for _, column := range t.shown {
		number := column.Type == "integer"
		columns = append(columns, text.Column{
			Name: column.Name, Right: number, Shrink: !number && !column.Ages(),
			Middle: column.Name == "Path", // both ends say what it is
		})
	}
	return columns
}

func (t *kindTable) rows(objects []kinds.Object, now time.Time) [][]text.Cell {
	rows := make([][]text.Cell, len(objects))
	for i, object := range objects {
		rows[i] = t.row(object, now)
	}
	return rows
}

func (t *kindTable) row(object kinds.Object, now time.Time) []text.Cell {
	row := []text.Cell{{Text: object.GetName()}}
	for _, column := range t.shown {
		value := cellText(column.Cell(object, now))
		if _, gap := t.missing[column.Name]; gap && unknown[value] {
			row = append(row, text.Cell{Text: notShown, Tone: text.Dim})
			continue
		}
		row = append(row, text.Cell{Text: value, Tone: toneOf(column.Name, value)})
	}
	return row
}

// unknown are the values of what is not known, in a column that a server can fill
// for some objects only.
var unknown = map[string]bool{"": true, "0": true, "?": true, "false": true, "never": true}

// explain says why columns are missing, in the order of the columns.
func (t *kindTable) explain(w io.Writer) {
	for _, column := range t.shown {
		if reason, ok := t.missing[column.Name]; ok {
			fmt.Fprintf(w, "%s: %s\n", column.Name, reason)
		}
	}
	if reason, ok := t.missing[""]; ok {
		fmt.Fprintln(w, reason)
	}
}

func cellText(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	default:
		return fmt.Sprint(value)
	}
}

// tones are the words of states, wherever they stand in a table.
var tones = map[string]text.Tone{
	"OK": text.Good, "Done": text.Good, "Current": text.Good, "True": text.Good,
	"Running": text.Warning, "Pending": text.Warning, "Stale": text.Warning, "Unknown": text.Warning,
	"Failed": text.Bad, "Missing": text.Bad, "False": text.Bad,

	kinds.ControllerRunning: text.Good, kinds.ControllerStarting: text.Warning, kinds.ControllerStuck: text.Bad, kinds.ControllerFailed: text.Bad,
	kinds.ControllerStandby: text.Dim, kinds.ControllerOff: text.Dim,
}

// errorColumns hold something only where it went wrong.
var errorColumns = map[string]bool{"Error": true, "Failing-Step": true, "Alarms": true}

// toneOf returns the tone of a cell.
func toneOf(column, value string) text.Tone {
	switch {
	case value == "":
		return text.Plain
	case errorColumns[column]:
		return text.Bad
	case column == "Last-Error": // of a check it may be of long ago
		return text.Warning
	case column == "Code":
		return toneOfCode(value)
	}
	return tones[value]
}

func toneOfCode(value string) text.Tone {
	code, err := strconv.Atoi(value)
	switch {
	case err != nil:
		return text.Plain
	case code >= 500 || code == 0:
		return text.Bad
	case code >= 400:
		return text.Warning
	}
	return text.Plain
}
