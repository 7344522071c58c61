// Package diff finds what changed between two views of a server: two snapshots, or
// a snapshot and the server as it is now. It compares what tables show, not each
// byte: what always changes although nothing happens (ages, times that something
// took) is left out. It prints nothing. It may import inspection, the API types
// and apimachinery.
package diff

import (
	"context"
	"fmt"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// Result is what changed from one view to the other.
type Result struct {
	// From and To are what was compared.
	From Side `json:"from"`
	To   Side `json:"to"`
	// Kinds are those with a difference: definitions and APIServices, then the others in
	// the order of kinds.All.
	Kinds []KindDiff `json:"kinds"`
	// Compared is how many kinds were compared, Objects how many objects To has of them.
	Compared int `json:"compared"`
	Objects  int `json:"objects"`
	// NotCompared are the kinds that one of the two does not show.
	NotCompared []NotCompared `json:"notCompared,omitempty"`
}

// Empty tells whether nothing has changed in what could be compared.
func (r Result) Empty() bool { return len(r.Kinds) == 0 }

// Side is one of the two.
type Side struct {
	inspection.About
	// File is the recording that it was read from; empty for a server that answers.
	File string `json:"file,omitempty"`
}

// NotCompared is a kind that could not be compared.
type NotCompared struct {
	// Resource is its plural name.
	Resource string `json:"resource"`
	// Reason says which of the two does not show it, and why.
	Reason string `json:"reason"`
}

// KindDiff is what changed in one kind.
type KindDiff struct {
	// Resource is the plural name, Kind that of its objects.
	Resource string `json:"resource"`
	Kind     string `json:"kind"`
	// Before and After are how many objects there are.
	Before int `json:"before"`
	After  int `json:"after"`
	// Added are objects that only To has, with the conditions that they have now.
	Added []ObjectDiff `json:"added,omitempty"`
	// Removed are the names of those that only From has.
	Removed []string `json:"removed,omitempty"`
	// Changed are objects that both have, in the order of To.
	Changed []ObjectDiff `json:"changed,omitempty"`
	// Log sums up a kind whose objects are entries of a log; the three above are
	// empty then.
	Log *LogDiff `json:"log,omitempty"`
}

func (k KindDiff) empty() bool {
	return len(k.Added) == 0 && len(k.Removed) == 0 && len(k.Changed) == 0 && (k.Log == nil || k.Log.New == 0 && k.Log.Gone == 0)
}

// ObjectDiff is what changed in one object.
type ObjectDiff struct {
	Name    string        `json:"name"`
	Changes []FieldChange `json:"changes,omitempty"`
}

// FieldChange is a value that changed.
type FieldChange struct {
	// Field is a column of the kind's table, or the type of a condition.
	Field string `json:"field"`
	// From and To are the values as a table shows them; empty where there is none.
	From string `json:"from"`
	To   string `json:"to"`
	// Difference is how much a whole number has grown; absent for anything else.
	Difference *int64 `json:"difference,omitempty"`
	// Message explains To, if the field is a condition that says more.
	Message string `json:"message,omitempty"`
}

// LogDiff is what is new in a log.
type LogDiff struct {
	// New is how many entries only To has, Gone how many it no longer keeps.
	New  int `json:"new"`
	Gone int `json:"gone"`
	// Tallies count new entries by what they are; an entry may be in several.
	Tallies []Tally `json:"tallies,omitempty"`
}

// Tally is a number of entries.
type Tally struct {
	// What they are, as it follows the number: "failed", "Available True to False".
	What  string `json:"what"`
	Count int    `json:"count"`
}

// Options of Compare.
type Options struct {
	// All also reports what changes by itself: requests and counts of them, times that
	// something took, rates.
	All bool
}

// Compare finds what changed from a to b. Objects are matched by name. A kind that
// one of the two can't show does not fail the others. Of definitions and
// APIServices only what is compared is held in memory. An error means that a
// server does not say what it is, or that ctx has ended.
func Compare(ctx context.Context, a, b inspection.Server, options Options) (Result, error) {
	result := Result{Kinds: []KindDiff{}}
	for _, side := range []struct {
		server inspection.Server
		into   *Side
	}{{a, &result.From}, {b, &result.To}} {
		about, err := side.server.About(ctx)
		if err != nil {
			return result, fmt.Errorf("asking what is compared: %w", err)
		}
		*side.into = Side{About: about, File: about.RecordedFrom}
	}
	for _, source := range sources(options) {
		before, err := source.read(ctx, a, result.From)
		if err != nil {
			err = fmt.Errorf("the first: %w", err)
		}
		var after table
		if err == nil {
			if after, err = source.read(ctx, b, result.To); err != nil {
				err = fmt.Errorf("the second: %w", err)
			}
		}
		if ctx.Err() != nil {
			return result, fmt.Errorf("comparing: %w", context.Cause(ctx))
		}
		if err != nil {
			result.NotCompared = append(result.NotCompared, NotCompared{source.resource, err.Error()})
			continue
		}
		result.Compared++
		result.Objects += len(after.names)
		if found := source.compare(before, after); !found.empty() {
			result.Kinds = append(result.Kinds, found)
		}
	}
	return result, nil
}

// source is one kind that is compared: how its rows are had, and what makes a
// difference between two of them.
type source struct {
	resource, kind string
	read           func(context.Context, inspection.Server, Side) (table, error)
	compare        func(before, after table) KindDiff
}

// table is what is compared of the objects of one kind.
type table struct {
	// names in the order of the server, without the second of two equal ones.
	names []string
	rows  map[string]row
}

// row is what is compared of one object.
type row struct {
	// cells are the values, in an order that is the same for all objects.
	cells []cell
	// tallies are what an entry of a log counts for.
	tallies []string
}

// cell is one value.
type cell struct {
	field, value, message string
	// once marks a value that counts up by itself: only that there is one matters.
	once bool
	// condition marks a value that comes and goes. Another one that only one side
	// has is a column that the other can't fill.
	condition bool
}

func (t *table) add(name string, r row) {
	if t.rows == nil {
		t.rows = map[string]row{}
	}
	if _, ok := t.rows[name]; !ok {
		t.names = append(t.names, name)
		t.rows[name] = r
	}
}

func sources(options Options) []source {
	all := []source{definitionSource(), serviceSource()}
	for _, kind := range kinds.All() {
		if kind.Resource == v1alpha1.ResourceRequestTraces && !options.All {
			continue // there are always new ones, those of whoever compares among them
		}
		all = append(all, inspectSource(kind, options))
	}
	return all
}
