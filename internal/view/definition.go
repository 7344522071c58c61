package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/text"
)

// history is how many of the last transitions fit on one screen.
const history = 10

// Definition prints everything about one definition, as it is at the time now. The
// error is the writer's.
func Definition(w io.Writer, s text.Screen, d joined.Definition, now time.Time) error {
	page := text.NewPage(w, s)
	state := d.State
	if len(d.Problems) > 0 && state.Word != "Terminating" {
		state.Why = "" // the problems say it
	}
	title(page, d.Name, state, now)
	page.Pairs(
		text.Pair{Key: "Defines", Value: definesText(d)},
		text.Pair{Key: "Created", Value: second(d.CreatedAt, now)},
		text.Pair{Key: "Established", Value: establishedText(d)},
		text.Pair{Key: "Last change", Value: change(d.LastChange, now)},
		text.Pair{Key: "Objects", Value: objectsText(d)},
		text.Pair{Key: "Stored as", Value: storedText(d), Tone: migrateTone(d)},
		text.Pair{Key: "Conversion", Value: d.Conversion},
		text.Pair{Key: "Deletion", Value: deletionText(d.Deletion, now), Tone: severityTone(d.State.Severity)},
	)
	problemsOfDefinition(page, d)
	hintBlock(page, d.Hint)
	page.Heading("Versions")
	page.Table(versionTable(d.Versions))
	conditionsBlock(page, d.Conditions, now)
	historyBlock(page, d.Transitions, d.Earlier, now)
	missingBlock(page, d.Missing)
	return page.Close()
}

func problemsOfDefinition(page *text.Page, d joined.Definition) {
	problems := d.Problems
	for _, v := range d.Versions {
		if notAnswered(v) {
			problems = append(problems[:len(problems):len(problems)], join(": ", "version "+v.Name+" is not answered", v.NotAnswered))
		}
	}
	if len(problems) == 0 {
		return
	}
	page.Heading("Problems")
	for _, problem := range problems {
		room := 0
		if page.Screen.Width > 0 {
			room = max(1, page.Screen.Width-2)
		}
		sign := "- "
		for _, line := range text.Wrap(page.Screen.Clean(problem), room) {
			page.Line(plain(sign), text.Cell{Text: line, Tone: text.Bad})
			sign = "  "
		}
	}
}

func hintBlock(page *text.Page, hint string) {
	if hint == "" {
		return
	}
	page.Heading("What to do")
	page.Text(0, text.Plain, hint)
}

// second writes a time that is known to the second, and how long ago it was.
func second(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.In(now.Location()).Format("2006-01-02 15:04:05 MST") + ", " + ago(at, now)
}

// change writes a time as exactly as it is known.
func change(at, now time.Time) string {
	if at.Nanosecond() == 0 {
		return second(at, now)
	}
	return moment(at, now)
}

// title prints the first line, and the reason of a state that is not well.
func title(page *text.Page, name string, state joined.State, now time.Time) {
	since := ""
	if !state.Since.IsZero() {
		since = " for " + age(state.Since, now)
	}
	page.Line(text.Cell{Text: name + "  ", Tone: text.Heading}, text.Cell{Text: state.Word + since, Tone: severityTone(state.Severity)})
	if state.Why != "" {
		page.Text(0, severityTone(state.Severity), state.Why)
	}
}

func definesText(d joined.Definition) string {
	text := fmt.Sprintf("%s, kind %s, %s", d.Plural+"."+d.Group, d.Kind, scopeText(d.Scope))
	if len(d.ShortNames) > 0 {
		text += ", short " + strings.Join(d.ShortNames, " ")
	}
	if len(d.Categories) > 0 {
		text += ", in " + strings.Join(d.Categories, " ")
	}
	return text
}

func scopeText(scope string) string {
	if scope == "Cluster" {
		return "cluster-scoped"
	}
	return strings.ToLower(scope)
}

func establishedText(d joined.Definition) string {
	switch {
	case d.TimeToEstablished == nil:
		return ""
	case d.TimeToServed == nil:
		return "after " + elapsedText(d.TimeToEstablished)
	default:
		return "after " + elapsedText(d.TimeToEstablished) + ", in discovery after " + elapsedText(d.TimeToServed)
	}
}

func objectsText(d joined.Definition) string {
	switch {
	case d.Objects < 0:
		return "not known"
	case d.Objects == 0:
		return "none"
	}
	return fmt.Sprintf("%d, %s as stored", d.Objects, kinds.Size(d.Bytes))
}

func storedText(d joined.Definition) string {
	if len(d.ToMigrate) == 0 {
		return d.StorageVersion
	}
	return fmt.Sprintf("%s, and maybe still %s: write the objects again, then take it out of status.storedVersions",
		d.StorageVersion, strings.Join(d.ToMigrate, ", "))
}

func migrateTone(d joined.Definition) text.Tone {
	if len(d.ToMigrate) > 0 {
		return text.Warning
	}
	return text.Plain
}

func deletionText(d *joined.Deletion, now time.Time) string {
	if d == nil {
		return ""
	}
	return join("; waits for ", "asked for "+ago(d.At, now), strings.Join(d.Finalizers, ", "))
}

func versionTable(versions []joined.Version) text.Table {
	table := text.Table{Columns: []text.Column{
		{Name: "Version"}, {Name: "Served"}, {Name: "Storage"}, {Name: "Stored"}, {Name: "Schema"}, {Name: "Discovery"}, {Name: "Notes", Shrink: true},
	}}
	for _, v := range versions {
		table.Rows = append(table.Rows, []text.Cell{
			plain(v.Name), plain(yes(v.Served)), plain(yes(v.Storage)), plain(yes(v.Stored)), schemaCell(v), discoveryCell(v.Discovery), versionNotes(v),
		})
	}
	return table
}

func schemaCell(v joined.Version) text.Cell {
	if v.Schema {
		return plain("yes")
	}
	return text.Cell{Text: "none", Tone: text.Warning}
}

func discoveryCell(freshness v1alpha1.DiscoveryFreshness) text.Cell {
	switch freshness {
	case "":
		return plain("-")
	case v1alpha1.DiscoveryCurrent:
		return text.Cell{Text: string(freshness), Tone: text.Good}
	default:
		return text.Cell{Text: string(freshness), Tone: text.Warning}
	}
}

// versionNotes say what is unusual. A version that is not to be served, and is not,
// is as usual.
func versionNotes(v joined.Version) text.Cell {
	if notAnswered(v) {
		return text.Cell{Text: "not answered", Tone: text.Bad}
	}
	if v.Deprecated {
		note := "deprecated"
		if v.DeprecationWarning != "" {
			note += ": " + v.DeprecationWarning
		}
		return text.Cell{Text: note, Tone: text.Warning}
	}
	return plain("")
}

// notAnswered says that the server should answer for a version, and does not.
func notAnswered(v joined.Version) bool { return v.Served && v.Answered != nil && !*v.Answered }

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func conditionsBlock(page *text.Page, conditions []joined.Condition, now time.Time) {
	page.Heading("Conditions")
	if len(conditions) == 0 {
		page.Line(plain("none yet"))
		return
	}
	table := text.Table{Columns: []text.Column{
		{Name: "Type"}, {Name: "Status"}, {Name: "Since", Right: true}, {Name: "Reason"}, {Name: "Message", Shrink: true},
	}}
	for _, c := range conditions {
		table.Rows = append(table.Rows, []text.Cell{plain(c.Type), conditionCell(c), plain(age(c.Since, now)), plain(c.Reason), plain(c.Message)})
	}
	page.Table(table)
}

// historyBlock prints the last changes of conditions, newest last.
func historyBlock(page *text.Page, transitions []v1alpha1.ConditionTransitionSpec, earlier int, now time.Time) {
	if len(transitions) == 0 && earlier == 0 {
		return
	}
	page.Heading("History")
	if earlier > 0 {
		page.Text(0, text.Dim, fmt.Sprintf("%d changes of earlier objects of this name are not shown.", earlier))
	}
	if over := len(transitions) - history; over > 0 {
		page.Text(0, text.Dim, fmt.Sprintf("%d older changes are not shown: kapi inspect transitions has them.", over))
		transitions = transitions[over:]
	}
	table := text.Table{Columns: []text.Column{
		{Name: "At"}, {Name: "Type"}, {Name: "Change"}, {Name: "After", Right: true}, {Name: "Reason", Shrink: true},
	}}
	for i := range transitions {
		t := &transitions[i]
		change := joined.Condition{Type: t.Type, Status: t.To}
		heldFor := ""
		if t.HeldFor != nil {
			heldFor = kinds.Took(*t.HeldFor)
		}
		table.Rows = append(table.Rows, []text.Cell{
			plain(clock(t.At.Time, now)), plain(t.Type),
			{Text: statusText(t.From) + " → " + statusText(t.To), Tone: severityTone(change.Severity())},
			plain(heldFor), plain(t.Reason),
		})
	}
	page.Table(table)
}

// clock writes the time of day, and the day if it was another one.
func clock(at, now time.Time) string {
	at = at.In(now.Location())
	switch {
	case at.YearDay() != now.YearDay() || at.Year() != now.Year():
		return at.Format("2006-01-02 15:04:05")
	case at.Nanosecond() == 0:
		return at.Format("15:04:05")
	default:
		return at.Format("15:04:05.000")
	}
}

func statusText(status string) string {
	if status == "" {
		return "none"
	}
	return status
}

// missingBlock says what is not shown, and why.
func missingBlock(page *text.Page, missing []joined.Missing) {
	if len(missing) == 0 {
		return
	}
	page.Heading("Not shown")
	for _, m := range missing {
		page.Text(0, text.Warning, m.Part+": "+m.Reason)
	}
}
