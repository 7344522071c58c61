package object

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

func nameCell(r *data.Row, _ time.Time) ink.Span      { return ink.T(ink.Text, r.Name) }
func namespaceCell(r *data.Row, _ time.Time) ink.Span { return ink.T(ink.Text, r.Namespace) }

// written is a cell of a server's table as kubectl writes it.
func written(value any) string {
	switch value := value.(type) {
	case nil:
		return "<none>"
	case string:
		return value
	case int64:
		return strconv.FormatInt(value, 10)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case json.Number:
		return value.String()
	case bool:
		return strconv.FormatBool(value)
	default:
		return fmt.Sprint(value)
	}
}

// at is the cell of a row; a row may have fewer than there are columns.
func at(r *data.Row, i int) any {
	if i >= len(r.Cells) {
		return ""
	}
	return r.Cells[i]
}

// ages tells whether a column is the age of the object. The server wrote it when the
// object last changed; it goes on since.
func ages(c data.Column) bool { return strings.EqualFold(c.Name, "Age") }

func cell(i int, c data.Column) func(*data.Row, time.Time) ink.Span {
	if ages(c) {
		return func(r *data.Row, now time.Time) ink.Span {
			if r.CreationTimestamp.IsZero() {
				return ink.T(ink.Text, written(at(r, i)))
			}
			return ink.T(ink.Text, kit.Ago(r.CreationTimestamp.Time, now))
		}
	}
	return func(r *data.Row, _ time.Time) ink.Span {
		text := written(at(r, i))
		if troubled(c, text, r) {
			return ink.T(ink.Warning, "! "+text)
		}
		return ink.T(ink.Text, text)
	}
}

// compare sorts numbers as numbers and ages by their times, and nil the others by
// their texts.
func compare(i int, c data.Column) func(a, b *data.Row) int {
	switch {
	case ages(c):
		// An older object has the greater age.
		return func(a, b *data.Row) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) }
	case c.Type == "integer" || c.Type == "number":
		return func(a, b *data.Row) int { return cmp.Compare(numeric(at(a, i)), numeric(at(b, i))) }
	default:
		return func(a, b *data.Row) int { return strings.Compare(written(at(a, i)), written(at(b, i))) }
	}
}

func numeric(value any) float64 {
	switch value := value.(type) {
	case int64:
		return float64(value)
	case float64:
		return value
	default:
		number, err := strconv.ParseFloat(written(value), 64)
		if err != nil {
			return 0
		}
		return number
	}
}

// severity looks for obvious trouble in the cells: it is a guess, from what
// resources usually write there, so that nothing is more than unsure.
func severity(columns []data.Column, r *data.Row) vtable.Severity {
	for i, c := range columns {
		if troubled(c, written(at(r, i)), r) {
			return vtable.Unsure
		}
	}
	if r.DeletionTimestamp != nil {
		return vtable.Unsure
	}
	return vtable.Healthy
}

// troubles are words in a column of states that nobody wants to see.
func troubles() []string {
	return []string{
		"crashloop", "backoff", "error", "errimage", "fail", "evicted", "oomkilled", "invalid", "unknown", "notready",
		"lost", "pending", "terminating", "unschedulable", "schedulingdisabled", "stuck", "degraded", "unavailable",
	}
}

// troubled tells whether a cell shows trouble.
func troubled(c data.Column, text string, r *data.Row) bool {
	switch strings.ToLower(c.Name) {
	case "status", "phase", "state", "reason":
		said := strings.ToLower(text)
		for _, word := range troubles() {
			if strings.Contains(said, word) {
				return true
			}
		}
	case "ready", "available", "established", "healthy", "synced":
		if strings.HasPrefix(text, "False") || text == "Unknown" {
			return true
		}
		some, all, ok := strings.Cut(text, "/")
		return ok && fewer(some, all) && !finished(r)
	}
	return false
}

func fewer(some, all string) bool {
	a, err := strconv.Atoi(some)
	if err != nil {
		return false
	}
	b, err := strconv.Atoi(all)
	return err == nil && a < b
}

// finished tells whether one of the cells says that the work is done: nothing is
// ready of it then.
func finished(r *data.Row) bool {
	for _, value := range r.Cells {
		if text, ok := value.(string); ok && (text == "Completed" || text == "Succeeded" || text == "Complete") {
			return true
		}
	}
	return false
}
