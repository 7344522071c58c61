// Package filter narrows a list of objects as a server of inspect.kapi.dev would:
// by name, labels, fields and server. It is for sources that have all objects of
// a kind at hand; a kapi filters itself. It may import apimachinery, the API types,
// fault and inspection.
package filter

import (
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

const metadataName = "metadata.name"

// Apply returns the objects that a query selects, in their order. A name that
// selects nothing is a NotFound error; a selector that can't be read, or a field
// that the kind does not have, is bad input. The slice given is left as it is.
func Apply(kind kinds.Kind, query inspection.Query, objects []kinds.Object) ([]kinds.Object, error) {
	match, err := Compile(kind, query)
	if err != nil {
		return nil, err
	}
	selected := make([]kinds.Object, 0, len(objects))
	for _, object := range objects {
		if match(object) {
			selected = append(selected, object)
		}
	}
	if query.Name != "" && len(selected) == 0 {
		return nil, apierrors.NewNotFound(inspection.GroupResource(kind), query.Name)
	}
	return selected, nil
}

// Compile returns a function that tells whether a query selects an object. Its
// errors are those of Apply, without NotFound.
func Compile(kind kinds.Kind, query inspection.Query) (func(kinds.Object) bool, error) {
	byLabel, err := labels.Parse(query.LabelSelector)
	if err != nil {
		return nil, fault.WithHint(fault.Usagef("label selector %q can't be read: %w", query.LabelSelector, err),
			`write it as "name=value", and several with commas between them`)
	}
	byField, err := parseFields(kind, query.FieldSelector)
	if err != nil {
		return nil, err
	}
	return func(object kinds.Object) bool {
		return (query.Name == "" || object.GetName() == query.Name) &&
			(query.ServerID == "" || kinds.ServerID(object) == query.ServerID) &&
			byLabel.Matches(labels.Set(object.GetLabels())) &&
			byField.Matches(selectable{kind: kind, object: object})
	}, nil
}

func parseFields(kind kinds.Kind, selector string) (fields.Selector, error) {
	parsed, err := fields.ParseSelector(selector)
	if err != nil {
		return nil, fault.WithHint(fault.Usagef("field selector %q can't be read: %w", selector, err),
			`write it as "field=value", and several with commas between them`)
	}
	for _, requirement := range parsed.Requirements() {
		if _, ok := kind.Fields[requirement.Field]; !ok && requirement.Field != metadataName {
			known := append([]string{metadataName}, slices.Sorted(maps.Keys(kind.Fields))...)
			return nil, fault.WithHint(fault.Usagef("%q is not a field that %s can be selected by", requirement.Field, kind.Resource),
				"these are: %s", strings.Join(known, ", "))
		}
	}
	return parsed, nil
}

// selectable is an object as a field selector sees it. It implements fields.Fields.
type selectable struct {
	kind   kinds.Kind
	object kinds.Object
}

// Has implements fields.Fields: all fields were checked before.
func (selectable) Has(string) bool { return true }

// Get implements fields.Fields.
func (s selectable) Get(field string) string {
	if field == metadataName {
		return s.object.GetName()
	}
	return s.kind.Fields[field](s.object)
}
