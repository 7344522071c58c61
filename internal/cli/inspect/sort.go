package inspect

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kubectlget "k8s.io/kubectl/pkg/cmd/get"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/fault"
)

// sortObjects sorts by a column of the kind's table, or as kubectl does by a field.
func sortObjects(kind kinds.Kind, objects []kinds.Object, by string) error {
	if by == "" {
		return nil
	}
	if strings.EqualFold(by, "name") {
		slices.SortStableFunc(objects, func(a, b kinds.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
		return nil
	}
	for _, column := range kind.Columns {
		if strings.EqualFold(by, column.Name) {
			sortByColumn(column, objects)
			return nil
		}
	}
	if !strings.HasPrefix(by, ".") && !strings.HasPrefix(by, "{") {
		return fault.WithHint(fault.Usagef("--sort-by: %s have no column %q", kind.Resource, by),
			"columns: %s; a field begins with a dot: .metadata.name", strings.ToLower(strings.Join(columnNames(kind), ", ")))
	}
	sorted, err := sortByField(objects, by)
	if err != nil {
		return fault.WithHint(fault.Usagef("--sort-by=%s: %w", by, err), "\"kubectl explain %s --recursive\" shows the fields", kind.Singular)
	}
	copy(objects, sorted)
	return nil
}

func columnNames(kind kinds.Kind) []string {
	names := []string{"Name"}
	for _, column := range kind.Columns {
		names = append(names, column.Name)
	}
	return names
}

// sortByColumn sorts numbers as such, and ages with the oldest last.
func sortByColumn(column kinds.Column, objects []kinds.Object) {
	now := time.Now()
	slices.SortStableFunc(objects, func(a, b kinds.Object) int {
		if column.Ages() {
			return column.Time(b).Compare(column.Time(a))
		}
		left, right := column.Cell(a, now), column.Cell(b, now)
		if x, ok := left.(int64); ok {
			y, _ := right.(int64)
			return cmp.Compare(x, y)
		}
		return cmp.Or(cmp.Compare(magnitude(left), magnitude(right)), strings.Compare(cellText(left), cellText(right)))
	})
}

// magnitude is the number that a text stands for, where it is a duration or a size.
func magnitude(value any) float64 {
	written := cellText(value)
	if d, err := time.ParseDuration(written); err == nil {
		return float64(d)
	}
	if n, err := kinds.ParseSize(written); err == nil {
		return n
	}
	return 0
}

// sortByField sorts with kubectl's sorter.
func sortByField(objects []kinds.Object, by string) ([]kinds.Object, error) {
	position, err := fieldOrder(objects, by)
	if err != nil {
		return nil, err
	}
	return permuted(objects, position), nil
}

// sortPlain is sortByField for real objects; an empty field leaves them as they are.
func sortPlain(objects []runtime.Object, by string) ([]runtime.Object, error) {
	if by == "" {
		return objects, nil
	}
	position, err := fieldOrder(objects, by)
	if err != nil {
		return nil, fault.WithHint(fault.Usagef("--sort-by=%s: %w", by, err), "name a field: .metadata.name")
	}
	return permuted(objects, position), nil
}

// fieldOrder returns where each place of the order takes its object from. Fields
// have the names of JSON: it looks at unstructured objects.
func fieldOrder[T runtime.Object](objects []T, by string) (position func(int) int, err error) {
	if by, err = kubectlget.RelaxedJSONPathExpression(by); err != nil {
		return nil, err
	}
	plain := make([]runtime.Object, len(objects))
	for i, object := range objects {
		if plain[i], err = toUnstructured(object); err != nil {
			return nil, err
		}
	}
	if len(plain) == 0 {
		return func(i int) int { return i }, nil
	}
	sorter, err := kubectlget.SortObjects(unstructured.UnstructuredJSONScheme, plain, by)
	if err != nil {
		return nil, err
	}
	return sorter.OriginalPosition, nil
}

func permuted[T any](objects []T, position func(int) int) []T {
	sorted := make([]T, len(objects))
	for i := range objects {
		sorted[i] = objects[position(i)]
	}
	return sorted
}

// sequence is a slice as the printers take it.
func sequence[T runtime.Object](objects []T) iter.Seq2[runtime.Object, error] {
	return func(yield func(runtime.Object, error) bool) {
		for _, object := range objects {
			if !yield(object, nil) {
				return
			}
		}
	}
}

// errUnwell is what --exit-status finds.
var errUnwell = errors.New("not all that is listed is well")

// unwell returns an error of exit code 3 if a condition of an object says that it
// is not as it should be.
func unwell[T runtime.Object](objects []T) error {
	for _, object := range objects {
		if state, ok := any(object).(*v1alpha1.DiscoveryState); ok && state.Status.Freshness != v1alpha1.DiscoveryCurrent {
			return fault.WithCode(fault.Silent(errUnwell), fault.CodeUnhealthy)
		}
		conditions, _ := conditionsOf(object)
		for _, c := range conditions {
			if wanted[c.Type] && c.Status == "False" {
				return fault.WithCode(fault.Silent(errUnwell), fault.CodeUnhealthy)
			}
		}
	}
	return nil
}

// wanted are the conditions that are true while all is well.
var wanted = map[string]bool{"Healthy": true, "Done": true, "Available": true, "Established": true, "NamesAccepted": true}
