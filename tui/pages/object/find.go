package object

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/tui/data"
)

// find returns the resources that a name may stand for, as kubectl takes it:
// RESOURCE, RESOURCE.GROUP or RESOURCE.VERSION.GROUP, where RESOURCE is the plural,
// the singular, a short name or the kind. Of several versions the preferred one
// counts, plurals before other names, and the core group before others.
func find(all []data.Resource, typed string) []data.Resource {
	typed = strings.ToLower(typed)
	name, group, qualified := strings.Cut(typed, ".")
	var found []data.Resource
	best := 0
	for _, r := range all {
		rank := called(r, name)
		if rank == 0 || qualified && !in(r, group) || !qualified && rank < best {
			continue
		}
		if rank > best {
			found, best = nil, rank
		}
		if rank == best && !slices.ContainsFunc(found, func(f data.Resource) bool { return f.GroupResource() == r.GroupResource() }) {
			found = append(found, r)
		}
	}
	if core := slices.IndexFunc(found, func(r data.Resource) bool { return r.Group == "" }); core >= 0 {
		return found[core : core+1]
	}
	return found
}

// called is how well a name fits a resource; 0 is not at all.
func called(r data.Resource, name string) int {
	switch {
	case name == "":
		return 0
	case strings.EqualFold(name, r.Resource):
		return 3
	case strings.EqualFold(name, r.Singular), strings.EqualFold(name, r.Kind):
		return 2
	case slices.Contains(r.ShortNames, name):
		return 1
	}
	return 0
}

// in tells whether a resource is in what was typed after its name: a group, the
// beginning of one, or a version with a group.
func in(r data.Resource, typed string) bool {
	if typed == r.Group || typed == r.Version && r.Group == "" {
		return true
	}
	if version, group, ok := strings.Cut(typed, "."); ok && version == r.Version && group == r.Group {
		return true
	}
	return r.Group != "" && typed != "" && strings.HasPrefix(r.Group, typed+".")
}

// How many names are proposed at most, and how many letters they may be away.
const (
	mostNear = 5
	farthest = 2
)

// nearest returns the resources whose names are like what was typed, the nearest
// first.
func nearest(all []data.Resource, typed string) []data.Resource {
	name, _, _ := strings.Cut(strings.ToLower(typed), ".")
	type candidate struct {
		data.Resource
		away int
	}
	var candidates []candidate
	for _, r := range all {
		away := farthest + 1
		for _, other := range append([]string{r.Resource, r.Singular}, r.ShortNames...) {
			if other == "" {
				continue
			}
			d := distance(name, strings.ToLower(other))
			if len(name) >= 3 && strings.Contains(strings.ToLower(other), name) {
				d = min(d, 1)
			}
			away = min(away, d)
		}
		same := func(c candidate) bool { return c.GroupResource() == r.GroupResource() }
		if away <= min(farthest, len(name)/2) && !slices.ContainsFunc(candidates, same) {
			candidates = append(candidates, candidate{r, away})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.away, b.away) })
	var found []data.Resource
	for _, c := range candidates[:min(len(candidates), mostNear)] {
		found = append(found, c.Resource)
	}
	return found
}

// distance is how many letters are to be changed, put in or left out to make b of a.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		before := row[0]
		row[0] = i + 1
		for j, s := range to {
			cost := before
			if r != s {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
