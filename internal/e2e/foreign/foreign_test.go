package foreign_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/foreign"
	"github.com/kapi-dev/kapi/internal/fault"
)

func TestForeign(t *testing.T) {
	l := newLab(t)
	settle(t, l)
	t.Run("record", func(t *testing.T) { record(t, l) })
	t.Run("about", func(t *testing.T) { testAbout(t, l) })
	for _, kind := range kinds.All() {
		t.Run(kind.Resource, func(t *testing.T) { testKind(t, l, kind) })
	}
	t.Run("facts", func(t *testing.T) { testFacts(t, l) })
	t.Run("one by its name", func(t *testing.T) { testOne(t, l) })
	t.Run("watch", func(t *testing.T) { testWatch(t, l) })
	t.Run("without rights", func(t *testing.T) { testWithoutRights(t, l) })
	t.Run("with system:monitoring", func(t *testing.T) { testMonitoring(t, l) })
	t.Run("explain", func(t *testing.T) { testExplain(t, l) })
}

// settle waits until the server has found out about the broken APIService, and
// makes it count a refusal, a permission and an answer 503.
func settle(t *testing.T, l *lab) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		probe, err := get[*v1alpha1.APIServiceProbe](ctx, l.server, "apiserviceprobes", "v1.broken.example.com")
		if err == nil && probe.Status.Available != "False" {
			err = fmt.Errorf("the APIService is available: %s", probe.Status.Available)
		}
		return err
	})
	things := widgets
	things.Group, things.Resource = "broken.example.com", "things"
	if _, err := l.dynamic.Resource(things).List(t.Context(), metav1.ListOptions{}); !apierrors.IsServiceUnavailable(err) {
		t.Fatalf("listing from a missing server: %v, want 503", err)
	}
	_, err := l.as(t, "alice", "system:authenticated").List(t.Context(), byName(t, "filters"), inspection.Query{})
	if !apierrors.IsForbidden(err) {
		t.Fatalf("listing filters as alice: %v, want Forbidden", err)
	}
	eventually(t, func(ctx context.Context) error {
		_, err := l.as(t, "mona", "system:authenticated").List(ctx, byName(t, "filters"), inspection.Query{})
		return err
	})
}

func byName(t *testing.T, name string) kinds.Kind {
	t.Helper()
	kind, ok := kinds.ByName(name)
	if !ok {
		t.Fatalf("no kind %s", name)
	}
	return kind
}

func get[T kinds.Object](ctx context.Context, server *foreign.Server, resource, name string) (T, error) {
	var none T
	kind, _ := kinds.ByName(resource)
	listing, err := server.List(ctx, kind, inspection.Query{Name: name})
	if err != nil {
		return none, err
	}
	object, ok := listing.Objects[0].(T)
	if !ok {
		return none, fmt.Errorf("%s %s is a %T", resource, name, listing.Objects[0])
	}
	return object, nil
}

func testAbout(t *testing.T, l *lab) {
	about, err := l.server.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if about.Type != inspection.Foreign || about.Address != l.config.Host || !strings.HasPrefix(about.KubernetesVersion, "v1.") ||
		!strings.HasPrefix(about.ServerID, "apiserver-") {
		t.Errorf("got %+v", about)
	}
	if up := about.At.Sub(about.StartedAt); up <= 0 || up > time.Hour {
		t.Errorf("the server is said to be up for %s", up)
	}
}

// exposed are the kinds of which every kube-apiserver has objects.
func exposed() []string {
	return []string{
		"filters", "authenticators", "authorizers", "admissionplugins", "poststarthooks", "healthchecks",
		"apiresourceregistrations", "resourcestorages", "conditiontransitions", "apiserviceprobes", "discoverystates",
		"flowstates", "etcdmembers",
	}
}

// A kind has objects or says why it has none; a column has something in it or says
// why it has not.
func testKind(t *testing.T, l *lab, kind kinds.Kind) {
	listing, err := l.server.List(t.Context(), kind, inspection.Query{})
	if err != nil {
		t.Fatal(err)
	}
	checkGaps(t, kind, listing)
	if slices.Contains(exposed(), kind.Resource) == (len(listing.Objects) == 0) {
		t.Errorf("%d objects", len(listing.Objects))
	}
	for _, object := range listing.Objects {
		gvk := object.GetObjectKind().GroupVersionKind()
		if gvk != v1alpha1.SchemeGroupVersion.WithKind(kind.Kind) || object.GetName() == "" || strings.Contains(object.GetName(), "/") {
			t.Errorf("%s %q", gvk, object.GetName())
		}
	}
}

// checkGaps holds that what is empty is accounted for, and nothing else.
func checkGaps(t *testing.T, kind kinds.Kind, listing inspection.Listing) {
	t.Helper()
	gaps := map[string]bool{}
	for _, gap := range listing.Gaps {
		if gaps[gap.Column] {
			t.Errorf("two gaps are about %q", gap.Column)
		}
		gaps[gap.Column] = true
		isColumn := slices.ContainsFunc(kind.Columns, func(c kinds.Column) bool { return c.Name == gap.Column })
		if gap.Column != "" && !isColumn {
			t.Errorf("there is no column %q (%s)", gap.Column, gap.Reason)
		}
		if gap.Reason == "" || strings.HasSuffix(gap.Reason, ".") || strings.Contains(gap.Reason, "\n") {
			t.Errorf("the reason for %q is no clause: %q", gap.Column, gap.Reason)
		}
	}
	if gaps[""] && len(listing.Objects) == 0 {
		return
	}
	for _, column := range kind.Columns {
		filled := slices.ContainsFunc(listing.Objects, func(object kinds.Object) bool {
			value := column.Cell(object, time.Now())
			return value != nil && value != "" && value != "?"
		})
		if !filled && !gaps[column.Name] {
			t.Errorf("column %s is empty, and nothing says why", column.Name)
		}
	}
}

// testFacts checks one fact of each kind that can be known beforehand.
func testFacts(t *testing.T, l *lab) {
	for _, fact := range []struct{ resource, name, column, want string }{
		{"filters", "authentication", "Order", "0"},
		{"authenticators", "client-certificate", "Configured-By", "--client-ca-file"},
		{"authorizers", "rbac", "Type", "RBAC"},
		{"authorizers", "rbac", "Configured-By", "--authorization-mode"},
		{"admissionplugins", "ServiceAccount", "Enabled", "false"},
		{"admissionplugins", "LimitRanger", "Phase", "both"},
		{"poststarthooks", "rbac-bootstrap-roles", "State", "Done"},
		{"healthchecks", "etcd", "Endpoints", "healthz,livez,readyz"},
		{"healthchecks", "poststarthook-rbac-bootstrap-roles", "State", "OK"},
		{"apiresourceregistrations", "widgets.v1.example.com", "Layer", "apiextensions"},
		{"apiresourceregistrations", "widgets.v1.example.com", "Storage-Version", "example.com/v1"},
		{"apiresourceregistrations", "pods.v1", "Layer", ""},
		{"apiresourceregistrations", "deployments.v1.apps", "Subresources", "scale,status"},
		{"resourcestorages", "pods", "Cache", "ready"},
		{"resourcestorages", "widgets.example.com", "Cache", "ready"},
		{"conditiontransitions", "widgets.example.com.established", "To", "True"},
		{"conditiontransitions", "v1.broken.example.com.available", "Reason", "ServiceNotFound"},
		{"apiserviceprobes", "v1.broken.example.com", "Failing-Step", "service"},
		{"apiserviceprobes", "v1.broken.example.com", "503s", "1"},
		{"apiserviceprobes", "v1.apps", "Service", "Local"},
		{"discoverystates", "broken.example.com.v1", "Freshness", "Stale"},
		{"discoverystates", "core.v1", "V3", "true"},
		{"discoverystates", "apiregistration.k8s.io.v1", "Source", "local"},
		{"flowstates", "exempt", "Limit", "none"},
		{"flowstates", "workload-low", "Flow-Schemas", "service-accounts"},
		{"etcdmembers", "etcd-0", "Trouble", ""},
	} {
		object, err := get[kinds.Object](t.Context(), l.server, fact.resource, fact.name)
		if err != nil {
			t.Error(err)
			continue
		}
		columns := byName(t, fact.resource).Columns
		i := slices.IndexFunc(columns, func(c kinds.Column) bool { return c.Name == fact.column })
		if got := fmt.Sprint(columns[i].Cell(object, time.Now())); got != fact.want {
			t.Errorf("%s %s: %s is %q, want %q", fact.resource, fact.name, fact.column, got, fact.want)
		}
	}
}

func testOne(t *testing.T, l *lab) {
	state, err := get[*v1alpha1.DiscoveryState](t.Context(), l.server, "discoverystates", "apps.v1")
	if err != nil {
		t.Fatal(err)
	}
	if v3 := state.Status.OpenAPIV3; v3.Bytes == 0 || v3.Cost == nil || v3.Hash == "" {
		t.Errorf("a state that is read by its name has the document %+v", v3)
	}
	if _, err := get[kinds.Object](t.Context(), l.server, "discoverystates", "none"); !apierrors.IsNotFound(err) {
		t.Errorf("reading one that is not there: %v", err)
	}
	_, err = get[kinds.Object](t.Context(), l.server, "serverlayers", "aggregator")
	if !apierrors.IsNotFound(err) || !strings.Contains(fault.Hint(err), "does not say") {
		t.Errorf("reading one of a kind that is not exposed: %v (%s)", err, fault.Hint(err))
	}
	listing, err := l.server.List(t.Context(), byName(t, "probes"), inspection.Query{FieldSelector: "status.available=False"})
	if err != nil || len(listing.Objects) != 1 {
		t.Errorf("selecting by a field: %d objects, %v", len(listing.Objects), err)
	}
	if len(listing.Objects) == 1 {
		own := inspection.Query{ServerID: listing.Objects[0].(*v1alpha1.APIServiceProbe).ServerID}
		if listing, err = l.server.List(t.Context(), byName(t, "probes"), own); own.ServerID == "" || err != nil || len(listing.Objects) < 20 {
			t.Errorf("selecting by the server %q: %d objects, %v", own.ServerID, len(listing.Objects), err)
		}
	}
}

func testWatch(t *testing.T, l *lab) {
	kind := byName(t, "probes")
	listing, err := l.server.List(t.Context(), kind, inspection.Query{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	w, err := l.server.Watch(ctx, kind, inspection.Query{}, listing.ResourceVersion)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	const name = "v1.watched.example.com"
	next := func(want string) {
		t.Helper()
		for event := range w.ResultChan() {
			object, ok := event.Object.(*v1alpha1.APIServiceProbe)
			if !ok {
				t.Fatalf("got %s %v", event.Type, event.Object)
			}
			if object.Name == name && string(event.Type) == want {
				return
			}
		}
		t.Fatalf("the watch ended before %s", want)
	}
	l.create(t, apiServices, "", map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"group": "watched.example.com", "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": "default", "name": "none"},
		},
	})
	next("ADDED")
	if err := l.dynamic.Resource(apiServices).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	next("DELETED")
	if _, err := l.server.Watch(ctx, kind, inspection.Query{}, "123456"); !apierrors.IsResourceExpired(err) {
		t.Errorf("watching from an unknown list: %v", err)
	}
}

// A user without rights sees what is public, and is told what the rest needs.
func testWithoutRights(t *testing.T, l *lab) {
	alice := l.as(t, "alice", "system:authenticated")
	about, err := alice.About(t.Context())
	if err != nil || about.KubernetesVersion == "" || !about.StartedAt.IsZero() || about.ServerID != "" {
		t.Errorf("about: %+v, %v", about, err)
	}
	shown := map[string]string{ // kind to a part of a reason
		"poststarthooks":           "only whether a hook is done",
		"healthchecks":             "last changed",
		"apiresourceregistrations": "needs list on customresourcedefinitions.apiextensions.k8s.io",
		"discoverystates":          "needs list on apiservices.apiregistration.k8s.io",
		"etcdmembers":              "needs get on the nonResourceURL /metrics, which ClusterRole system:monitoring gives",
	}
	for _, kind := range kinds.All() {
		if !slices.Contains(exposed(), kind.Resource) {
			continue
		}
		listing, err := alice.List(t.Context(), kind, inspection.Query{})
		if reason := shown[kind.Resource]; reason == "" {
			if !apierrors.IsForbidden(err) || !strings.Contains(strings.ToLower(fault.Hint(err)), "clusterrole ") {
				t.Errorf("%s: %v (%s), want Forbidden and what gives it", kind.Resource, err, fault.Hint(err))
			}
		} else if err != nil || len(listing.Objects) == 0 || !hasReason(listing, reason) {
			t.Errorf("%s: %d objects, %v, %v, want the reason %q", kind.Resource, len(listing.Objects), listing.Gaps, err, reason)
		}
	}
}

// A user who may read metrics sees most; checkGaps holds for what he may not.
func testMonitoring(t *testing.T, l *lab) {
	mona := l.as(t, "mona", "system:authenticated")
	for _, kind := range kinds.All() {
		listing, err := mona.List(t.Context(), kind, inspection.Query{})
		switch {
		case kind.Resource == "conditiontransitions" || kind.Resource == "apiserviceprobes":
			if !apierrors.IsForbidden(err) {
				t.Errorf("%s: %v, want Forbidden", kind.Resource, err)
			}
		case err != nil:
			t.Errorf("%s: %v", kind.Resource, err)
		default:
			checkGaps(t, kind, listing)
		}
	}
	listing, err := mona.List(t.Context(), byName(t, "authz"), inspection.Query{Name: "rbac"})
	if err != nil {
		t.Fatal(err)
	}
	if rbac, ok := listing.Objects[0].(*v1alpha1.Authorizer); !ok || rbac.Status.Allowed == 0 {
		t.Errorf("RBAC has allowed nothing: %+v", listing.Objects[0])
	}
}

func hasReason(listing inspection.Listing, part string) bool {
	return slices.ContainsFunc(listing.Gaps, func(gap inspection.Gap) bool { return strings.Contains(gap.Reason, part) })
}

func testExplain(t *testing.T, l *lab) {
	for _, tc := range []struct {
		verb, path, user string
		code             int32
		layer, outcome   string
	}{
		{"GET", "/api/v1/pods", "", 0, "", "a layer for built-in resources"},
		{"GET", "/api/v1/pods", "alice", 403, "", "authorization filter would answer 403"},
		{"list", "/apis/example.com/v1/namespaces/default/widgets", "", 0, "apiextensions", "The apiextensions layer would answer."},
		{"list", "/apis/example.com/v1/gadgets", "", 404, "", "No layer serves gadgets in example.com/v1"},
		{"GET", "/apis/none.example.com/v1/things", "", 404, "", "No layer serves"},
		{"GET", "/apis/broken.example.com/v1/things", "", 503, "aggregator", "v1.broken.example.com is not available"},
		{"GET", "/metrics", "alice", 403, "", "authorization filter"},
		{"GET", "/version", "alice", 0, "", "It would be allowed"},
		{"PATCH", "/apis/apps/v1/namespaces/default/deployments/a/scale", "", 0, "", "a layer for built-in resources"},
	} {
		t.Run(fmt.Sprintf("%s %s as %s", tc.verb, tc.path, tc.user), func(t *testing.T) {
			spec := v1alpha1.RouteExplanationSpec{Verb: tc.verb, Path: tc.path, User: tc.user}
			got, err := l.server.Explain(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			s := got.Status
			if s.Code != tc.code || s.Layer != tc.layer || !strings.Contains(s.Outcome, tc.outcome) {
				t.Errorf("got %d, layer %q, %q; want %d, %q, %q", s.Code, s.Layer, s.Outcome, tc.code, tc.layer, tc.outcome)
			}
			if s.User == nil || (tc.user != "" && s.User.Name != tc.user) || s.Authorization == nil || s.Authorization.Allowed != (tc.code != 403) {
				t.Errorf("user %+v, authorization %+v", s.User, s.Authorization)
			}
		})
	}
	_, err := l.as(t, "alice", "system:authenticated").Explain(t.Context(), v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/api/v1/pods", User: "bob"})
	if !apierrors.IsForbidden(err) {
		t.Errorf("alice asks about bob: %v, want Forbidden", err)
	}
	_, err = l.server.Explain(t.Context(), v1alpha1.RouteExplanationSpec{Verb: "eat", Path: "/api"})
	if fault.Code(err) != fault.CodeUsage || errors.Is(err, context.Canceled) {
		t.Errorf("an unknown verb: %v", err)
	}
}
