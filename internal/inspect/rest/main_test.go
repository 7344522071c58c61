package rest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/dynamic"
	clientrest "k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	inspectopenapi "github.com/kapi-dev/kapi/internal/apis/inspect/openapi"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// fixture is a generic API server with the group, on a port of its own.
type fixture struct {
	url    string
	client dynamic.Interface

	mu     sync.Mutex
	checks map[string]v1alpha1.HealthState
	table  *store.Snapshot
	log    *store.Log
}

// set changes what the table of health checks holds.
func (f *fixture) set(name string, state v1alpha1.HealthState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if state == "" {
		delete(f.checks, name)
	} else {
		f.checks[name] = state
	}
	f.table.Changed()
}

func (f *fixture) collect(context.Context) ([]store.Object, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []store.Object
	for _, name := range sets.List(sets.KeySet(f.checks)) {
		check := &v1alpha1.HealthCheck{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"state": string(f.checks[name])}}}
		check.Status.State = f.checks[name]
		check.Spec.Endpoints = []string{"livez", "readyz"}
		all = append(all, check)
	}
	return all, nil
}

type trace struct{ name, path string }

func (t trace) Name() string { return t.name }

func (t trace) Object() store.Object {
	object := &v1alpha1.RequestTrace{ObjectMeta: metav1.ObjectMeta{Name: t.name}}
	object.Spec.Path, object.Spec.Verb = t.path, "get"
	if t.path == "/hidden" {
		object.Labels = map[string]string{"hidden": "true"}
	}
	return object
}

const (
	testHistory = 20
	testBuffer  = 200
)

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{checks: map[string]v1alpha1.HealthState{}}
	revision := store.NewRevision(time.Now())
	f.table = store.NewSnapshot(store.SnapshotOptions{Revision: revision, History: testHistory, Buffer: testBuffer, Period: 10 * time.Millisecond}, f.collect)
	f.log = store.NewLog(store.LogOptions{Revision: revision, Capacity: 50, Buffer: testBuffer})
	scheme, err := NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	config := genericapiserver.NewConfig(serializer.NewCodecFactory(scheme))
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.LoopbackClientConfig = &clientrest.Config{}
	config.ExternalAddress = "127.0.0.1:443"
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(inspectopenapi.GetOpenAPIDefinitions, openapinamer.NewDefinitionNamer(scheme))
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(inspectopenapi.GetOpenAPIDefinitions, openapinamer.NewDefinitionNamer(scheme))
	config.LongRunningFunc = filters.BasicLongRunningRequestCheck(sets.NewString("watch"), sets.NewString())
	config.BuildHandlerChainFunc = func(handler http.Handler, c *genericapiserver.Config) http.Handler {
		return genericapifilters.WithRequestInfo(Abortable(handler), c.RequestInfoResolver)
	}
	server, err := config.Complete(nil).New("test", genericapiserver.NewEmptyDelegate())
	if err != nil {
		t.Fatal(err)
	}
	storages := map[string]rest.Storage{}
	for _, kind := range kinds.All() {
		switch kind.Resource {
		case "healthchecks":
			storages[kind.Resource] = New(kind, f.table)
		case "requesttraces":
			storages[kind.Resource] = New(kind, f.log, WithHidden(hideUnlessAsked))
		}
	}
	if err := server.InstallAPIGroup(GroupInfo(scheme, storages)); err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server.Handler)
	f.url = listener.URL
	t.Cleanup(func() {
		f.table.Close()
		f.log.Close()
		listener.CloseClientConnections()
		listener.Close()
		server.Destroy()
	})
	f.client, err = dynamic.NewForConfig(&clientrest.Config{Host: f.url, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func hideUnlessAsked(_ context.Context, selector labels.Selector) func(store.Object) bool {
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		if r.Key() == "hidden" {
			return func(store.Object) bool { return false }
		}
	}
	return func(o store.Object) bool { return o.GetLabels()["hidden"] == "true" }
}

func (f *fixture) healthChecks() dynamic.ResourceInterface {
	return f.client.Resource(v1alpha1.SchemeGroupVersion.WithResource("healthchecks"))
}

func (f *fixture) traces() dynamic.ResourceInterface {
	return f.client.Resource(v1alpha1.SchemeGroupVersion.WithResource("requesttraces"))
}

func (f *fixture) path(resource string) string {
	return fmt.Sprintf("%s/apis/%s/%s", f.url, v1alpha1.SchemeGroupVersion, resource)
}
