package diff

import (
	"cmp"
	"slices"
	"strconv"
)

// objects compares kinds whose objects have a state.
func objects(resource, kind string) func(before, after table) KindDiff {
	return func(before, after table) KindDiff {
		found := KindDiff{Resource: resource, Kind: kind, Before: len(before.names), After: len(after.names)}
		for _, name := range before.names {
			if _, ok := after.rows[name]; !ok {
				found.Removed = append(found.Removed, name)
			}
		}
		for _, name := range after.names {
			old, ok := before.rows[name]
			if !ok {
				found.Added = append(found.Added, ObjectDiff{Name: name, Changes: changed(nil, after.rows[name].cells)})
			} else if changes := changed(old.cells, after.rows[name].cells); len(changes) > 0 {
				found.Changed = append(found.Changed, ObjectDiff{Name: name, Changes: changes})
			}
		}
		return found
	}
}

// entries compares kinds whose objects are entries of a log, which never change.
func entries(resource, kind string) func(before, after table) KindDiff {
	return func(before, after table) KindDiff {
		log := &LogDiff{}
		for _, name := range before.names {
			if _, ok := after.rows[name]; !ok {
				log.Gone++
			}
		}
		counts := map[string]int{}
		for _, name := range after.names {
			if _, ok := before.rows[name]; ok {
				continue
			}
			log.New++
			for _, what := range after.rows[name].tallies {
				counts[what]++
			}
		}
		for what, count := range counts {
			log.Tallies = append(log.Tallies, Tally{What: what, Count: count})
		}
		slices.SortFunc(log.Tallies, func(a, b Tally) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.What, b.What))
		})
		return KindDiff{Resource: resource, Kind: kind, Before: len(before.names), After: len(after.names), Log: log}
	}
}

// changed compares cells by their fields. A field that only one side has is a
// condition that came or went, or else a column that the other side can't fill,
// and then nothing is known.
func changed(before, after []cell) []FieldChange {
	var changes []FieldChange
	for _, now := range after {
		old, both := find(before, now.field)
		if (both || now.condition) && differ(old, now) {
			changes = append(changes, FieldChange{
				Field: now.field, From: old.value, To: now.value,
				Difference: difference(old.value, now.value), Message: now.message,
			})
		}
	}
	for _, old := range before {
		if _, both := find(after, old.field); !both && old.condition {
			changes = append(changes, FieldChange{Field: old.field, From: old.value})
		}
	}
	return changes
}

func differ(old, now cell) bool {
	if now.once {
		return (old.value == "") != (now.value == "")
	}
	return old.value != now.value
}

func find(cells []cell, field string) (cell, bool) {
	if i := slices.IndexFunc(cells, func(c cell) bool { return c.field == field }); i >= 0 {
		return cells[i], true
	}
	return cell{}, false
}

// difference is that of two whole numbers.
func difference(from, to string) *int64 {
	a, errA := strconv.ParseInt(from, 10, 64)
	b, errB := strconv.ParseInt(to, 10, 64)
	if errA != nil || errB != nil {
		return nil
	}
	grown := b - a
	return &grown
}
