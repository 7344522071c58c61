package diff_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/diff"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
)

var update = flag.Bool("update", false, "write the golden files")

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, name string) *recorded.Server {
	t.Helper()
	server, err := recorded.Open(filepath.Join("..", "recorded", "testdata", name))
	must(t, err)
	return server
}

// Between the two recordings of a real server a definition was deleted, one made and
// one changed, and an APIService was made whose service does not exist.
func TestCompareRecordings(t *testing.T) {
	t.Parallel()
	result, err := diff.Compare(t.Context(), open(t, "before.json"), open(t, "after.json"), diff.Options{})
	must(t, err)
	result.From.File, result.To.File = "before.json", "after.json"
	got, err := json.MarshalIndent(result, "", "  ")
	must(t, err)
	file := filepath.Join("testdata", "changed.json")
	if *update {
		must(t, os.WriteFile(file, append(got, '\n'), 0o644))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if string(got)+"\n" != string(want) {
		t.Errorf("%s differs (go test -update writes it); got\n%s", file, got)
	}
	if result.Empty() {
		t.Error("it is empty")
	}
}

func TestCompareTheSame(t *testing.T) {
	t.Parallel()
	for all, want := range map[bool][2]int{false: {18, 269}, true: {19, 317}} { // requests only with All
		result, err := diff.Compare(t.Context(), open(t, "after.json"), open(t, "after.json"), diff.Options{All: all})
		must(t, err)
		if !result.Empty() || result.Compared != want[0] || result.Objects != want[1] || len(result.NotCompared) > 0 {
			t.Errorf("got %+v", result)
		}
	}
}

// Whatever is compared backward has its signs turned round.
func TestCompareBackward(t *testing.T) {
	t.Parallel()
	there, err := diff.Compare(t.Context(), open(t, "before.json"), open(t, "after.json"), diff.Options{All: true})
	must(t, err)
	back, err := diff.Compare(t.Context(), open(t, "after.json"), open(t, "before.json"), diff.Options{All: true})
	must(t, err)
	if len(there.Kinds) != len(back.Kinds) {
		t.Fatalf("%d kinds there, %d back", len(there.Kinds), len(back.Kinds))
	}
	for i, kind := range there.Kinds {
		other := back.Kinds[i]
		if len(kind.Added) != len(other.Removed) || len(kind.Removed) != len(other.Added) || len(kind.Changed) != len(other.Changed) {
			t.Errorf("%s: %+v there, %+v back", kind.Resource, kind, other)
		}
		if kind.Log != nil && (kind.Log.New != other.Log.Gone || kind.Log.Gone != other.Log.New) {
			t.Errorf("%s: %+v there, %+v back", kind.Resource, kind.Log, other.Log)
		}
	}
}

// fake is a server of a few objects.
type fake struct {
	inspection.Server
	listings map[string]inspection.Listing
	errs     map[string]error
	crds     []*apiextensionsv1.CustomResourceDefinition
}

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (f fake) About(context.Context) (inspection.About, error) {
	return inspection.About{Type: inspection.Foreign, At: at}, f.errs["about"]
}

func (f fake) List(_ context.Context, kind kinds.Kind, _ inspection.Query) (inspection.Listing, error) {
	return f.listings[kind.Resource], f.errs[kind.Resource]
}

func (f fake) Definitions(context.Context) iter.Seq2[*apiextensionsv1.CustomResourceDefinition, error] {
	return func(yield func(*apiextensionsv1.CustomResourceDefinition, error) bool) {
		for _, crd := range f.crds {
			if !yield(crd, nil) {
				return
			}
		}
		if err := f.errs["customresourcedefinitions"]; err != nil {
			yield(nil, err)
		}
	}
}

func (f fake) APIServices(context.Context) iter.Seq2[*apiregistrationv1.APIService, error] {
	return func(func(*apiregistrationv1.APIService, error) bool) {}
}

func layer(lastError bool, received int64, conditions ...metav1.Condition) kinds.Object {
	layer := &v1alpha1.ServerLayer{ObjectMeta: metav1.ObjectMeta{Name: "聚合器"}}
	layer.Status.RequestsReceived, layer.Status.Conditions = received, conditions
	if lastError {
		layer.Status.LastError = &v1alpha1.LayerError{At: metav1.NewMicroTime(at.Add(-time.Duration(received) * time.Second))}
	}
	return layer
}

func layers(gaps []inspection.Gap, objects ...kinds.Object) fake {
	return fake{listings: map[string]inspection.Listing{"serverlayers": {Objects: objects, Gaps: gaps}}}
}

func TestCompareObjects(t *testing.T) {
	t.Parallel()
	healthy := metav1.Condition{Type: "Healthy", Status: "True", Reason: "HooksDone"}
	unwell := metav1.Condition{Type: "Healthy", Status: "False", Reason: "HookFailed", Message: "rbac"}
	noCounts := []inspection.Gap{{Column: "Received", Reason: "not counted"}}
	for name, tt := range map[string]struct {
		a, b fake
		want string // field from>to of all changes
	}{
		"nothing":                       {layers(nil, layer(false, 1)), layers(nil, layer(false, 1)), ""},
		"a number":                      {layers(nil, layer(false, 5)), layers(nil, layer(false, 2)), "Received 5>2 (-3)"},
		"an error, and an older one":    {layers(nil, layer(true, 5)), layers(nil, layer(true, 5)), ""},
		"a later error":                 {layers(noCounts, layer(true, 90)), layers(noCounts, layer(true, 5)), ""},
		"the first error":               {layers(nil, layer(false, 5)), layers(nil, layer(true, 5)), "Last-Error >5s"},
		"a condition":                   {layers(nil, layer(false, 1, healthy)), layers(nil, layer(false, 1, unwell)), "Healthy True HooksDone>False HookFailed"},
		"a condition that came":         {layers(nil, layer(false, 1)), layers(nil, layer(false, 1, unwell)), "Healthy >False HookFailed"},
		"a condition that went":         {layers(nil, layer(false, 1, unwell)), layers(nil, layer(false, 1)), "Healthy False HookFailed>"},
		"a column that one can't fill":  {layers(noCounts, layer(false, 0)), layers(nil, layer(false, 7)), ""},
		"a column the other can't fill": {layers(nil, layer(false, 7)), layers(noCounts, layer(false, 0)), ""},
	} {
		result, err := diff.Compare(t.Context(), tt.a, tt.b, diff.Options{All: name == "a number"})
		must(t, err)
		if got := changes(result); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func changes(result diff.Result) string {
	var all []string
	for _, kind := range result.Kinds {
		for _, object := range kind.Changed {
			for _, change := range object.Changes {
				text := change.Field + " " + change.From + ">" + change.To
				if change.Difference != nil {
					grown, _ := json.Marshal(change.Difference)
					text += " (" + string(grown) + ")"
				}
				all = append(all, text)
			}
		}
	}
	return strings.Join(all, "; ")
}

func TestCompareLogs(t *testing.T) {
	t.Parallel()
	trace := func(name string, code int32, slow bool) kinds.Object {
		return &v1alpha1.RequestTrace{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1alpha1.RequestTraceStatus{Code: code, Slow: slow, Failed: code >= 500}}
	}
	with := func(objects ...kinds.Object) fake {
		return fake{listings: map[string]inspection.Listing{"requesttraces": {Objects: objects}}}
	}
	result, err := diff.Compare(t.Context(), with(trace("a", 500, true), trace("b", 200, false)),
		with(trace("b", 200, false), trace("c", 503, false), trace("d", 504, true), trace("e", 404, false)), diff.Options{All: true})
	must(t, err)
	want := &diff.LogDiff{New: 3, Gone: 1, Tallies: []diff.Tally{{What: "failed", Count: 2}, {What: "refused", Count: 1}, {What: "slow", Count: 1}}}
	if len(result.Kinds) != 1 {
		t.Fatalf("got %+v", result.Kinds)
	}
	got := result.Kinds[0].Log
	if got.New != want.New || got.Gone != want.Gone || !slices.Equal(got.Tallies, want.Tallies) || len(result.Kinds[0].Added) > 0 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// What one of the two does not show is named, and is no change.
func TestCompareWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	refused := errors.New("forbidden: no role")
	whole := layers(nil, layer(false, 1))
	whole.crds = []*apiextensionsv1.CustomResourceDefinition{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}}}
	for name, tt := range map[string]struct {
		other    fake
		resource string
		reason   string
	}{
		"forbidden":     {fake{listings: whole.listings, crds: whole.crds, errs: map[string]error{"filters": refused}}, "filters", "forbidden"},
		"in the middle": {fake{listings: whole.listings, crds: whole.crds[:1], errs: map[string]error{"customresourcedefinitions": refused}}, "customresourcedefinitions", "forbidden"},
		"not shown":     {fake{listings: layers([]inspection.Gap{{Reason: "no layers here"}}).listings, crds: whole.crds}, "serverlayers", "no layers here"},
	} {
		for side, pair := range map[string][2]fake{"the first": {tt.other, whole}, "the second": {whole, tt.other}} {
			result, err := diff.Compare(t.Context(), pair[0], pair[1], diff.Options{})
			must(t, err)
			if !result.Empty() || len(result.NotCompared) != 1 || result.NotCompared[0].Resource != tt.resource ||
				!strings.Contains(result.NotCompared[0].Reason, tt.reason) || !strings.HasPrefix(result.NotCompared[0].Reason, side) {
				t.Errorf("%s, %s: got %+v", name, side, result)
			}
		}
	}
}

func TestCompareEndsWithAnError(t *testing.T) {
	t.Parallel()
	unknown := errors.New("connection refused")
	if _, err := diff.Compare(t.Context(), fake{}, fake{errs: map[string]error{"about": unknown}}, diff.Options{}); !errors.Is(err, unknown) {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := diff.Compare(ended, fake{}, fake{}, diff.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCompareDefinitions(t *testing.T) {
	t.Parallel()
	crd := func(uid string, generation int64, storage string, stored ...string) fake {
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "x", Generation: generation}}
		crd.UID = types.UID(uid)
		crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: storage == "v1"}, {Name: "v2", Served: storage == "v2", Storage: storage == "v2"}}
		crd.Status.StoredVersions = stored
		crd.Annotations = map[string]string{"not": uid}
		return fake{crds: []*apiextensionsv1.CustomResourceDefinition{crd}}
	}
	result, err := diff.Compare(t.Context(), crd("a", 1, "v1", "v1"), crd("b", 3, "v2", "v1", "v2"), diff.Options{})
	must(t, err)
	if got, want := changes(result), "UID a>b; Generation 1>3 (2); Served v1>v1,v2; Storage-Version v1>v2; Stored-Versions v1>v1,v2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
