package kinds

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Every kind of the group is in the table, under its own name, and no name is
// there twice: kubectl would take the first.
func TestNames(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	names, known := map[string]string{}, map[string]bool{"RouteExplanation": true, "StoredKeyQuery": true}
	for _, kind := range All() {
		known[kind.Kind] = true
		gvks, _, err := scheme.ObjectKinds(kind.New())
		if err != nil || gvks[0].Kind != kind.Kind {
			t.Errorf("%s makes a %v (%v)", kind.Resource, gvks, err)
		}
		gvks, _, err = scheme.ObjectKinds(kind.NewList())
		if err != nil || gvks[0].Kind != kind.Kind+"List" {
			t.Errorf("%s makes a list of %v (%v)", kind.Resource, gvks, err)
		}
		for _, name := range append([]string{kind.Resource, kind.Singular}, kind.ShortNames...) {
			if before, taken := names[name]; taken {
				t.Errorf("%s is a name of %s and of %s", name, before, kind.Resource)
			}
			names[name] = kind.Resource
		}
	}
	for kind, object := range scheme.KnownTypes(v1alpha1.SchemeGroupVersion) {
		if _, ok := object.FieldByName("Spec"); ok && !known[kind] {
			t.Errorf("kind %s is not in the table", kind)
		}
	}
}

// A table's cells are of the type that the column promises, also of an object
// about which nothing is known yet; and a field that can be selected can be read.
func TestCells(t *testing.T) {
	now := time.Now()
	for _, kind := range All() {
		object, ok := kind.New().(Object)
		if !ok {
			t.Fatalf("%s makes no object", kind.Resource)
		}
		narrow := 0
		for _, column := range kind.Columns {
			if !column.Wide {
				narrow++
			}
			if column.Doc == "" {
				t.Errorf("%s: column %s has no description", kind.Resource, column.Name)
			}
			fits := false
			switch column.Cell(object, now).(type) {
			case string:
				fits = column.Type == "string"
			case int64:
				fits = column.Type == "integer"
			case bool:
				fits = column.Type == "boolean"
			}
			if !fits {
				t.Errorf("%s: column %s of type %s has a %T", kind.Resource, column.Name, column.Type, column.Cell(object, now))
			}
		}
		if narrow == 0 || narrow > 7 {
			t.Errorf("%s has %d narrow columns", kind.Resource, narrow)
		}
		for name, value := range kind.Fields {
			if got := value(object); got != "" && got != "false" && got != "0" {
				t.Errorf("%s: field %s of an empty object is %q", kind.Resource, name, got)
			}
		}
		// An object of another kind has no cells, and does no harm.
		other := &v1alpha1.RouteExplanation{}
		if got := kind.Columns[0].Cell(other, now); got != nil {
			t.Errorf("%s has a cell %v for a RouteExplanation", kind.Resource, got)
		}
	}
}

func TestFormats(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 740 * time.Microsecond: "740µs", 1234567: "1.23ms", 12345678: "12.3ms", 123456789: "123ms",
		1234 * time.Millisecond: "1.23s", 200 * time.Second: "3m20s",
	} {
		if got := Took(metav1.Duration{Duration: d}); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
	for bytes, want := range map[int64]string{-1: "?", 0: "0", 940: "940", 1434: "1.4Ki", 12288: "12Ki", 8 << 30: "8.0Gi", 1 << 50: "1024Ti"} {
		if got := Size(bytes); got != want {
			t.Errorf("%d bytes are written %q, want %q", bytes, got, want)
		}
	}
	if got := growth(-2048); got != "-2.0Ki" {
		t.Errorf("shrinking is written %q", got)
	}
	if got := short("ein Wörtchen\nmehr", 8); got != "ein Wör…" {
		t.Errorf("a long text is cut to %q", got)
	}
	if got := Codes([]v1alpha1.StatusCount{{Code: 403, Count: 12}, {Code: 429, Count: 3}}); got != "403:12 429:3" {
		t.Errorf("codes are written %q", got)
	}
}

// A column of ages counts from the time that it is given.
func TestAges(t *testing.T) {
	now := time.Now()
	trace := &v1alpha1.RequestTrace{}
	trace.Status.ReceivedAt = metav1.NewMicroTime(now.Add(-90 * time.Second))
	kind, ok := ByName("trace")
	if !ok {
		t.Fatal("no kind is named trace")
	}
	for _, column := range kind.Columns {
		if column.Ages() != (column.Name == "Age") {
			t.Errorf("column %s ages: %t", column.Name, column.Ages())
		}
		if column.Ages() && column.Cell(trace, now) != "90s" {
			t.Errorf("the age is %v", column.Cell(trace, now))
		}
	}
	if _, ok := ByName("pods"); ok {
		t.Error("a kind is named pods")
	}
}
