package inspect

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

// lines are those of a text that ends in a newline.
func lines(printed string) []string {
	return strings.Split(strings.TrimSuffix(printed, "\n"), "\n")
}

func TestSort(t *testing.T) {
	for words, want := range map[string]string{
		"layers --sort-by=name":                     "aggregator apiextensions inspect kube-apiserver not-found",
		"layers --sort-by=NAME":                     "aggregator apiextensions inspect kube-apiserver not-found",
		"layers --sort-by=answered":                 "inspect not-found apiextensions aggregator kube-apiserver",
		"layers --sort-by=Passed-On":                "not-found apiextensions inspect kube-apiserver aggregator",
		"layers --sort-by=.status.requestsAnswered": "inspect not-found apiextensions aggregator kube-apiserver",
		"layers --sort-by={.metadata.name}":         "aggregator apiextensions inspect kube-apiserver not-found",
		"layers --sort-by=.spec.order":              "aggregator kube-apiserver inspect apiextensions not-found",
		"flow --sort-by=dispatched":                 "catch-all system workload-low global-default exempt",
		"storage --sort-by=size":                    "deployments.apps pods secrets widgets.example.com stucks.example.com namespaces configmaps clusterroles.rbac.authorization.k8s.io",
		"storage --sort-by=etcd-p99":                "deployments.apps secrets pods widgets.example.com clusterroles.rbac.authorization.k8s.io namespaces configmaps stucks.example.com",
		"hooks --sort-by=duration":                  "start-kube-aggregator-informers start-apiextensions-informers apiservice-status-remote-available-controller storage-readiness start-apiextensions-controllers crd-informer-synced scheduling-bootstrap-system-priority-classes rbac-bootstrap-roles",
		"admission --sort-by=rejected":              "ServiceAccount AlwaysPullImages MutatingAdmissionWebhook ValidatingAdmissionPolicy ResourceQuota LimitRanger NamespaceLifecycle",
		// The newest first, and last what has no age.
		"requests --sort-by=age":          "mx2wvw5t-420 mx2wvw5t-407 mx2wvw5t-403 mx2wvw5t-353 mx2wvw5t-351 mx2wvw5t-349 mx2wvw5t-339 mx2wvw5t-336 mx2wvw5t-330",
		"requests --sort-by=code":         "mx2wvw5t-351 mx2wvw5t-407 mx2wvw5t-420 mx2wvw5t-349 mx2wvw5t-330 mx2wvw5t-339 mx2wvw5t-403 mx2wvw5t-336 mx2wvw5t-353",
		"crds --sort-by=.spec.names.kind": "stucks.example.com trials.things.k8s.io gadgets.example.com widgets.example.com",
		"crds none --sort-by=.spec.group": "",
	} {
		args := strings.Fields(words)
		format := "custom-columns=NAME:.metadata.name"
		r := run(t, append(args, "--from", kapiFile, "--no-headers", "-o", format)...)
		if want == "" {
			r.fails(t, fault.CodeFailure, "none", "the list without a name")
			continue
		}
		if got := strings.Join(lines(r.ok(t)), " "); got != want {
			t.Errorf("%s:\n%s, want\n%s", words, got, want)
		}
	}
}

// TestSortJoined: lists of real objects are sorted by their columns where people
// read them.
func TestSortJoined(t *testing.T) {
	for words, want := range map[string]string{
		"crds --sort-by=name":              "gadgets.example.com stucks.example.com trials.things.k8s.io widgets.example.com",
		"crds --sort-by=objects":           "gadgets.example.com trials.things.k8s.io stucks.example.com widgets.example.com",
		"crds --sort-by=SIZE":              "gadgets.example.com trials.things.k8s.io widgets.example.com stucks.example.com",
		"apiservices --sort-by=priority":   "v1. v1.apps v1.broken.example.com v1.example.com v1.weather.example.com v1alpha1.inspect.kapi.dev",
		"apiservices --sort-by=service":    "v1. v1.apps v1.example.com v1alpha1.inspect.kapi.dev v1.broken.example.com v1.weather.example.com",
		"apiservices --sort-by=state":      "v1. v1.apps v1.example.com v1.weather.example.com v1alpha1.inspect.kapi.dev v1.broken.example.com",
		"apiservices v1.apps v1. -o table": "v1. v1.apps",
	} {
		var names []string
		for _, line := range lines(run(t, append(strings.Fields(words), "--from", kapiFile, "--no-headers")...).ok(t)) {
			names = append(names, strings.Fields(line)[0])
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s:\n%s, want\n%s", words, got, want)
		}
	}
}

// TestEveryColumnSorts: every column of every kind can be sorted by, and the order
// is a permutation.
func TestEveryColumnSorts(t *testing.T) {
	server := recording(t, kapiFile)
	for _, kind := range kinds.All() {
		listing, err := server.List(t.Context(), kind, inspection.Query{})
		if err != nil {
			t.Fatal(err)
		}
		before := names(listing.Objects)
		slices.Sort(before)
		for _, column := range columnNames(kind) {
			if err := sortObjects(kind, listing.Objects, strings.ToLower(column)); err != nil {
				t.Errorf("%s by %s: %v", kind.Resource, column, err)
			}
			after := names(listing.Objects)
			slices.Sort(after)
			if !slices.Equal(before, after) {
				t.Errorf("%s by %s: %q became %q", kind.Resource, column, before, after)
			}
		}
	}
}

func names[T kinds.Object](objects []T) []string {
	all := make([]string, len(objects))
	for i, object := range objects {
		all[i] = object.GetName()
	}
	return all
}

func TestSortFails(t *testing.T) {
	for words, want := range map[string]struct{ text, hint string }{
		"layers --sort-by=speed":       {`serverlayers have no column "speed"`, "columns: name, order, delegate"},
		"layers --sort-by=.status.[":   {"--sort-by=.status.[", "kubectl explain serverlayer --recursive"},
		"layers --sort-by={.a":         {"--sort-by={.a", "kubectl explain"},
		"layers --sort-by=.no.such":    {"--sort-by=.no.such", "kubectl explain"},
		"crds --sort-by=speed":         {`there is no column "speed"`, "columns: changed, name, objects"},
		"crds --sort-by=.spec.group":   {`there is no column ".spec.group"`, "columns: "},
		"crds --sort-by=name. -o json": {"--sort-by=name.", "name a field"},
		"apiservices --sort-by=size":   {`there is no column "size"`, "columns: name, priority, service"},
	} {
		run(t, append(strings.Fields(words), "--from", kapiFile)...).fails(t, fault.CodeUsage, want.text, want.hint)
	}
}

func TestSortNothing(t *testing.T) {
	if sorted, err := sortPlain(nil, ".metadata.name"); err != nil || len(sorted) > 0 {
		t.Errorf("%v, %v", sorted, err)
	}
	objects := []runtime.Object{layer("b", "1"), layer("a", "2")}
	if sorted, err := sortPlain(objects, ""); err != nil || key(sorted[0]) != "b" {
		t.Errorf("%v, %v", sorted, err)
	}
}
