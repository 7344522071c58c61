// Package kinds is the table of the resources of inspect.kapi.dev: names, columns
// and selectable fields of each. How a resource looks to a client is decided
// here, and nothing else. It imports apimachinery and the types.
package kinds

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Category is the name that stands for all resources but the busy ones:
// `kubectl get kapi`.
const Category = "kapi"

// Kind describes one resource.
type Kind struct {
	// Resource and Singular are its names in URLs and on the command line.
	Resource, Singular string
	// Kind is the kind of its objects.
	Kind string
	// ShortNames are further names on the command line.
	ShortNames []string
	// Busy keeps the resource out of the category: it has too many objects to be
	// listed along with others.
	Busy bool
	// New and NewList make empty objects.
	New, NewList func() runtime.Object
	// Columns are those of a table, after the name.
	Columns []Column
	// Fields are the selectable fields besides metadata.name, by their paths.
	Fields map[string]func(Object) string
}

// Column is one column of a table.
type Column struct {
	// Name is the heading.
	Name string
	// Type is an OpenAPI type: string, integer or boolean.
	Type string
	// Doc says what it shows.
	Doc string
	// Wide columns are shown only with -o wide.
	Wide bool
	// cell returns the value; nil in a column of since.
	cell func(Object) any
	// since returns the time from which such a column counts.
	since func(Object) *metav1.MicroTime
}

// Object is an object of one of the kinds.
type Object interface {
	runtime.Object
	metav1.Object
}

// Cell returns the value for an object as it is shown at the time now, of the
// column's type. It is nil for an object of another kind.
func (c Column) Cell(object Object, now time.Time) any {
	if c.since == nil {
		return c.cell(object)
	}
	at := c.since(object)
	if at == nil || at.IsZero() {
		return ""
	}
	return duration.HumanDuration(now.Sub(at.Time))
}

// Ages tells whether the column shows the time since something, which changes
// although nothing happens.
func (c Column) Ages() bool { return c.since != nil }

// Time returns the time from which a column of ages counts; zero where there is none.
func (c Column) Time(object Object) time.Time {
	if c.since == nil {
		return time.Time{}
	}
	at := c.since(object)
	if at == nil {
		return time.Time{}
	}
	return at.Time
}

func (c Column) wide() Column {
	c.Wide = true
	return c
}

// All returns all resources that can be listed, in the order in which a request
// meets what they show.
func All() []Kind {
	var all []Kind
	for _, group := range [][]Kind{chainKinds(), authKinds(), startKinds(), resourceKinds(), requestKinds(), partKinds()} {
		all = append(all, group...)
	}
	return all
}

// ByName returns the kind that has this name on the command line: the resource,
// the singular, or a short name.
func ByName(name string) (Kind, bool) {
	for _, kind := range All() {
		if name == kind.Resource || name == kind.Singular || slices.Contains(kind.ShortNames, name) {
			return kind, true
		}
	}
	return Kind{}, false
}

// column is a column over one type of objects.
func column[T Object](name, kind, doc string, cell func(T) any) Column {
	return Column{Name: name, Type: kind, Doc: doc, cell: func(object Object) any {
		if typed, ok := object.(T); ok {
			return cell(typed)
		}
		return nil
	}}
}

// since is a column of how long ago something was, as kubectl writes it.
func since[T Object](name, doc string, at func(T) *metav1.MicroTime) Column {
	return Column{Name: name, Type: "string", Doc: doc, since: func(object Object) *metav1.MicroTime {
		if typed, ok := object.(T); ok {
			return at(typed)
		}
		return nil
	}}
}

func wide[T Object](name, kind, doc string, cell func(T) any) Column {
	return column(name, kind, doc, cell).wide()
}

func field[T Object](value func(T) string) func(Object) string {
	return func(object Object) string {
		if typed, ok := object.(T); ok {
			return value(typed)
		}
		return ""
	}
}

func toString(value bool) string { return strconv.FormatBool(value) }

// Took writes a duration with three digits: 740µs, 12.3ms, 1.24s, 3m20s.
func Took(d metav1.Duration) string {
	value := d.Duration
	switch {
	case value == 0:
		return "0"
	case value < time.Microsecond:
		return "<1µs"
	case value < time.Millisecond:
		return value.Round(time.Microsecond).String()
	case value < 10*time.Millisecond:
		return value.Round(10 * time.Microsecond).String()
	case value < 100*time.Millisecond:
		return value.Round(100 * time.Microsecond).String()
	case value < time.Second:
		return value.Round(time.Millisecond).String()
	case value < time.Minute:
		return value.Round(10 * time.Millisecond).String()
	default:
		return value.Round(time.Second).String()
	}
}

func optional(d *metav1.Duration) string {
	if d == nil {
		return ""
	}
	return Took(*d)
}

// Size writes bytes in binary units: 940, 12Ki, 1.4Mi; unknown ones as "?".
func Size(bytes int64) string {
	if bytes < 0 {
		return "?"
	}
	value, unit := float64(bytes), ""
	for _, next := range []string{"Ki", "Mi", "Gi", "Ti"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, next
	}
	if unit == "" || value >= 10 {
		return strconv.FormatFloat(value, 'f', 0, 64) + unit
	}
	return strconv.FormatFloat(value, 'f', 1, 64) + unit
}

func count(n int64) any {
	if n < 0 {
		return "?"
	}
	return strconv.FormatInt(n, 10)
}

// Codes writes counts by status code: "403:12 429:3".
func Codes(counts []v1alpha1.StatusCount) string {
	parts := make([]string, 0, len(counts))
	for _, c := range counts {
		parts = append(parts, strconv.Itoa(int(c.Code))+":"+strconv.FormatInt(c.Count, 10))
	}
	return strings.Join(parts, " ")
}

func list(values []string) string { return strings.Join(values, ",") }

// short cuts a text to one line of at most this many characters.
func short(text string, most int) string {
	text, _, _ = strings.Cut(text, "\n")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// core gives the group without a name one that can be seen.
func core(group string) string {
	if group == "" {
		return "core"
	}
	return group
}

// ServerID returns the identity of the server that an object was seen in. All
// kinds have that field, and no method for it: they are plain API types.
func ServerID(object Object) string {
	value := reflect.Indirect(reflect.ValueOf(object))
	if value.Kind() != reflect.Struct {
		return ""
	}
	if id := value.FieldByName("ServerID"); id.IsValid() && id.Kind() == reflect.String {
		return id.String()
	}
	return ""
}

// HasConditions tells whether objects of the kind have status.conditions.
func (k Kind) HasConditions() bool {
	status := reflect.ValueOf(k.New()).Elem().FieldByName("Status")
	return status.IsValid() && status.FieldByName("Conditions").IsValid()
}

// ParseSize reads what Size has written.
func ParseSize(text string) (float64, error) {
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, err
	}
	return quantity.AsApproximateFloat64(), nil
}
