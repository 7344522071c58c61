package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/diff"
	"github.com/kapi-dev/kapi/internal/text"
)

// Diff prints what changed between two views of a server, kind by kind: + is new,
// - is gone, ~ has changed, with the old and the new value, and of numbers how much
// they have grown. Times are UTC. The error is the writer's.
func Diff(w io.Writer, s text.Screen, result diff.Result) error {
	page := text.NewPage(w, s)
	page.Pairs(
		text.Pair{Key: "From", Value: diffSide(result.From)},
		text.Pair{Key: "To", Value: diffSide(result.To)},
		text.Pair{Key: "Between", Value: between(result.From.About, result.To.About)},
	)
	for _, kind := range result.Kinds {
		diffKind(page, kind)
	}
	if result.Empty() {
		page.Blank()
		page.Text(0, text.Good, fmt.Sprintf("Nothing has changed: %s of %s compared.",
			plural(result.Objects, "object"), plural(result.Compared, "kind")))
	}
	if len(result.NotCompared) > 0 {
		page.Heading("not compared")
		for _, kind := range result.NotCompared {
			diffItem(page, text.Cell{Text: "? ", Tone: text.Warning}, kind.Resource, []string{kind.Reason})
		}
	}
	return page.Close()
}

// diffSide is one side in a line: when, the file, the server.
func diffSide(side diff.Side) string {
	server := strings.TrimSpace(serverNoun(side.Type) + " " + side.KubernetesVersion)
	facts := []string{side.At.UTC().Format("2006-01-02 15:04:05 MST"), side.File, server, side.Address}
	var known []string
	for _, fact := range facts {
		if fact != "" {
			known = append(known, fact)
		}
	}
	return strings.Join(known, ", ")
}

// between is how much time lies between two views, and whether what was counted
// can be compared.
func between(from, to inspection.About) string {
	passed := to.At.Sub(from.At).Round(time.Second)
	facts := duration.HumanDuration(passed)
	if passed < 0 {
		facts = duration.HumanDuration(-passed) + ", the second is the older one"
	}
	restarted := !from.StartedAt.IsZero() && !to.StartedAt.IsZero() && !from.StartedAt.Equal(to.StartedAt)
	switch {
	case from.Address != to.Address:
		facts += "; these are two servers"
	case restarted:
		facts += "; the server was started again, and what it counts began at 0"
	}
	return facts
}

func diffKind(page *text.Page, kind diff.KindDiff) {
	page.Blank()
	page.Line(text.Cell{Text: kind.Resource, Tone: text.Heading}, text.Cell{Text: "  " + diffCounts(kind)})
	if kind.Log != nil && len(kind.Log.Tallies) > 0 {
		page.Text(2, text.Plain, "of the new ones: "+diffTallies(kind.Log.Tallies))
	}
	for _, object := range kind.Added {
		diffItem(page, text.Cell{Text: "+ ", Tone: text.Good}, object.Name, stateTexts(object.Changes))
	}
	for _, name := range kind.Removed {
		diffItem(page, text.Cell{Text: "- ", Tone: text.Bad}, name, nil)
	}
	for _, object := range kind.Changed {
		diffItem(page, text.Cell{Text: "~ ", Tone: text.Warning}, object.Name, changeTexts(object.Changes))
	}
}

// diffCounts is the line of a kind: how many of what.
func diffCounts(kind diff.KindDiff) string {
	var counts []string
	count := func(n int, what string) {
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, what))
		}
	}
	switch {
	case kind.Log != nil:
		count(kind.Log.New, "new")
		count(kind.Log.Gone, "no longer kept")
	case len(kind.Added)+len(kind.Removed) == 0:
		return fmt.Sprintf("%d of %d changed", len(kind.Changed), kind.After)
	default:
		count(len(kind.Added), "added")
		count(len(kind.Removed), "removed")
		count(len(kind.Changed), "changed")
	}
	return fmt.Sprintf("%s; now %d", strings.Join(counts, ", "), kind.After)
}

func diffTallies(tallies []diff.Tally) string {
	var counts []string
	for _, tally := range tallies {
		counts = append(counts, fmt.Sprintf("%d %s", tally.Count, tally.What))
	}
	return strings.Join(counts, ", ")
}

// stateTexts are the conditions of an object that is new. Those that are not true
// say why.
func stateTexts(conditions []diff.FieldChange) []string {
	var good, others []string
	for _, condition := range conditions {
		line := condition.Field + ": " + condition.To
		switch {
		case strings.HasPrefix(condition.To, string(metav1.ConditionTrue)):
			good = append(good, line)
		case condition.Message != "":
			others = append(others, line+": "+condition.Message)
		default:
			others = append(others, line)
		}
	}
	if len(good) > 0 {
		others = append(others, strings.Join(good, ", "))
	}
	return others
}

// diffItem prints a name and, indented beneath it, what there is to say of it. What
// is short stands beside the name.
func diffItem(page *text.Page, mark text.Cell, name string, facts []string) {
	const indent = 6
	cells := []text.Cell{{Text: "  "}, mark, {Text: name}}
	room := page.Screen.Width - len("  + ") - text.Width(page.Screen.Clean(name)) - len("  ")
	if len(facts) == 1 && (page.Screen.Width == 0 || text.Width(page.Screen.Clean(facts[0])) <= room) {
		page.Line(append(cells, text.Cell{Text: "  " + facts[0]})...)
		return
	}
	page.Line(cells...)
	for _, fact := range facts {
		page.Text(indent, text.Plain, fact)
	}
}

// changeTexts has what is counted in one text, since it says little by itself, and
// each other change in a text of its own.
func changeTexts(changes []diff.FieldChange) []string {
	var counted, others []string
	for _, change := range changes {
		line := fmt.Sprintf("%s: %s → %s", change.Field, orNone(change.From), orNone(change.To))
		switch {
		case change.Difference != nil:
			counted = append(counted, fmt.Sprintf("%s (%+d)", line, *change.Difference))
		case change.Message != "":
			others = append(others, line+": "+change.Message)
		default:
			others = append(others, line)
		}
	}
	if len(counted) > 0 {
		others = append(others, strings.Join(counted, ", "))
	}
	return others
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}

func plural(count int, what string) string {
	if count == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", count, what)
}
