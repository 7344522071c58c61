package theme

import (
	"maps"
	"slices"

	"github.com/kapi-dev/kapi/internal/near"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// suggestion is the end of an error about an unknown name: the known one that is
// nearest to it.
func suggestion(name string, known []string) string {
	best, changes := near.Of(name, known)
	return near.Suggestion(name, best, changes)
}
