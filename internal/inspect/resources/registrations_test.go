package resources

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func TestLayersAreToldApart(t *testing.T) {
	t.Parallel()
	s := newSample(t)
	outer := s.outer(t)
	// The outer server answers for the inner one: by its handler they are one.
	answer := httptest.NewRecorder()
	outer.UnprotectedHandler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/apis/wardle.example.com/v1alpha1", http.NoBody))
	if answer.Code != http.StatusOK {
		t.Fatalf("the outer server answered %d", answer.Code)
	}
	config := s.config()
	config.Layers = []Layer{{Name: "outer", Discovery: DiscoveryOf(outer)}, s.layer("inner")}
	all := named[*v1alpha1.APIResourceRegistration](t, New(config).Registrations)
	if len(all) != 3 {
		t.Errorf("there are %d registrations, want 3", len(all))
	}
	flunders := all["flunders.v1beta1.wardle.example.com"]
	if flunders == nil {
		t.Fatalf("no flunders among %v", all)
	}
	spec := flunders.Spec
	if spec.Layer != "inner" || !spec.Served || spec.Kind != "Flunder" || !spec.Namespaced || !slices.Contains(spec.Verbs, "watch") || flunders.ServerID != "server" {
		t.Errorf("flunders are %+v", spec)
	}
	if spec.EtcdPrefix != s.prefix+"/"+flundersBelow || spec.StorageVersion != "wardle.example.com/v1beta1" {
		t.Errorf("flunders are in %s as %s", spec.EtcdPrefix, spec.StorageVersion)
	}
	fischers := all["fischers.v1alpha1.wardle.example.com"].Spec
	if fischers.EtcdPrefix != s.prefix+"/fischers" || fischers.Namespaced {
		t.Errorf("fischers are %+v", fischers)
	}
}

// TestPrefixesAreReal compares with the keys that a real request has written.
func TestPrefixesAreReal(t *testing.T) {
	t.Parallel()
	s := newSample(t)
	s.request(t, http.MethodPost, "/apis/wardle.example.com/v1alpha1/fischers", `{"metadata":{"name":"fritz"}}`)
	s.request(t, http.MethodPost, "/apis/wardle.example.com/v1beta1/namespaces/sea/flunders", `{"metadata":{"name":"flo"}}`)
	all := named[*v1alpha1.APIResourceRegistration](t, New(s.config()).Registrations)
	for name, key := range map[string]string{
		"fischers.v1alpha1.wardle.example.com": "/fritz", "flunders.v1beta1.wardle.example.com": "/sea/flo",
	} {
		spec := all[name].Spec
		response, err := sharedEtcd.Client().Get(t.Context(), spec.EtcdPrefix+key)
		if err != nil || len(response.Kvs) != 1 {
			t.Fatalf("%s: nothing at %s%s: %v", name, spec.EtcdPrefix, key, err)
		}
		if written := string(response.Kvs[0].Value); !strings.Contains(written, spec.StorageVersion) {
			t.Errorf("%s: %s is not written as %s", name, written, spec.StorageVersion)
		}
	}
}

func TestOuterLayerAnswersFirst(t *testing.T) {
	t.Parallel()
	s := newSample(t)
	config := s.config()
	config.Layers = []Layer{s.layer("outer"), s.layer("inner")}
	all := named[*v1alpha1.APIResourceRegistration](t, New(config).Registrations)
	outer, inner := all["fischers.v1alpha1.wardle.example.com"], all["fischers.v1alpha1.wardle.example.com.inner"]
	if outer == nil || !outer.Spec.Served || outer.Spec.Layer != "outer" {
		t.Errorf("outer is %+v", outer)
	}
	if inner == nil || inner.Spec.Served || inner.Spec.DisabledBy != "layer outer answers first" {
		t.Errorf("inner is %+v", inner)
	}
}

// crontabs has a version that is served and stored, and one that is off.
func crontabs(established bool) *apiextensionsv1.CustomResourceDefinition {
	names := apiextensionsv1.CustomResourceDefinitionNames{Plural: "crontabs", Kind: "CronTab", ShortNames: []string{"ct"}, Categories: []string{"all"}}
	d := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "crontabs.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped, Names: names,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1", Served: true, Storage: true, Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{}, Scale: &apiextensionsv1.CustomResourceSubresourceScale{},
				}},
				{Name: "v1alpha1"},
			},
		},
	}
	condition := apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse, Message: "names conflict"}
	if established {
		d.Status.AcceptedNames = names
		condition.Status = apiextensionsv1.ConditionTrue
	}
	d.Status.Conditions = append(d.Status.Conditions, condition)
	return d
}

func definitions(all ...*apiextensionsv1.CustomResourceDefinition) Custom {
	return Custom{Layer: "apiextensions", Prefix: "/registry", Definitions: func() ([]*apiextensionsv1.CustomResourceDefinition, error) { return all, nil }}
}

func TestCustomResources(t *testing.T) {
	t.Parallel()
	all := named[*v1alpha1.APIResourceRegistration](t, New(Config{Custom: definitions(crontabs(true))}).Registrations)
	served := all["crontabs.v1.example.com"].Spec
	if !served.Served || served.Layer != "apiextensions" || served.EtcdPrefix != "/registry/example.com/crontabs" ||
		served.StorageVersion != "example.com/v1" || strings.Join(served.Subresources, ",") != "status,scale" || served.Kind != "CronTab" {
		t.Errorf("v1 is %+v", served)
	}
	off := all["crontabs.v1alpha1.example.com"].Spec
	if off.Served || !strings.Contains(off.DisabledBy, "served: false") || off.StorageVersion != "example.com/v1" {
		t.Errorf("v1alpha1 is %+v", off)
	}
	all = named[*v1alpha1.APIResourceRegistration](t, New(Config{Custom: definitions(crontabs(false))}).Registrations)
	if refused := all["crontabs.v1.example.com"].Spec; refused.Served || !strings.Contains(refused.DisabledBy, "not established: names conflict") {
		t.Errorf("not established: %+v", refused)
	}
}

// remote is an APIService with a service.
func remote(group, version string, available apiregistrationv1.ConditionStatus) *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: version + "." + group},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: group, Version: version, Service: &apiregistrationv1.ServiceReference{Namespace: "ns", Name: "api"},
		},
		Status: apiregistrationv1.APIServiceStatus{Conditions: []apiregistrationv1.APIServiceCondition{{
			Type: apiregistrationv1.Available, Status: available, Message: "it is " + string(available),
		}}},
	}
}

func apiServices(all ...*apiregistrationv1.APIService) func() ([]*apiregistrationv1.APIService, error) {
	return func() ([]*apiregistrationv1.APIService, error) { return all, nil }
}

// discoveryServer is a real manager of aggregated discovery behind /apis.
func discoveryServer(freshness apidiscoveryv2.DiscoveryFreshness) (aggregated.ResourceManager, http.Handler) {
	manager := aggregated.NewResourceManager("apis")
	manager.AddGroupVersion("metrics.example.com", apidiscoveryv2.APIVersionDiscovery{
		Version: "v1", Freshness: freshness, Resources: []apidiscoveryv2.APIResourceDiscovery{{
			Resource: "nodes", Scope: apidiscoveryv2.ScopeCluster, Verbs: []string{"get", "list"},
			ResponseKind: &metav1.GroupVersionKind{Group: "metrics.example.com", Version: "v1", Kind: "NodeMetrics"},
			Subresources: []apidiscoveryv2.APISubresourceDiscovery{{Subresource: "status"}},
		}},
	})
	mux := http.NewServeMux()
	mux.Handle("/apis", manager)
	return manager, mux
}

func TestAggregatedResources(t *testing.T) {
	t.Parallel()
	_, handler := discoveryServer(apidiscoveryv2.DiscoveryFreshnessStale)
	own := func(context.Context) ([]*metav1.APIResourceList, error) {
		return []*metav1.APIResourceList{{GroupVersion: "metrics.example.com/v1", APIResources: []metav1.APIResource{{Name: "nodes", Kind: "Other"}}}}, nil
	}
	r := New(Config{
		Handler: handler, ProxyLayer: "aggregator", Layers: []Layer{{Name: "own", Discovery: own}},
		APIServices: apiServices(remote("metrics.example.com", "v1", apiregistrationv1.ConditionFalse)),
	})
	all := named[*v1alpha1.APIResourceRegistration](t, r.Registrations)
	proxied := all["nodes.v1.metrics.example.com"].Spec
	if !proxied.Served || proxied.Layer != "aggregator" || proxied.APIService != "v1.metrics.example.com" || proxied.Kind != "NodeMetrics" ||
		proxied.Namespaced || proxied.EtcdPrefix != "" || strings.Join(proxied.Subresources, ",") != "status" {
		t.Errorf("proxied: %+v", proxied)
	}
	hidden := all["nodes.v1.metrics.example.com.own"].Spec
	if hidden.Served || hidden.DisabledBy != "APIService v1.metrics.example.com sends the requests to ns/api:443" {
		t.Errorf("hidden: %+v", hidden)
	}
}

func TestKnownAndNotServed(t *testing.T) {
	t.Parallel()
	config := serverstorage.NewResourceConfig()
	config.EnableVersions(schema.GroupVersion{Version: "v1"}, schema.GroupVersion{Group: "certificates.k8s.io", Version: "v1beta1"})
	config.DisableVersions(schema.GroupVersion{Group: "certificates.k8s.io", Version: "v1alpha1"})
	config.DisableResources(schema.GroupVersionResource{Version: "v1", Resource: "podtemplates"})
	r := New(Config{Known: &Known{
		Scheme: scheme.Scheme, Layer: "kube-apiserver", Config: config, Version: version.MustParseGeneric("1.36"),
		GateEnabled: func(gate string) bool { return gate != "ClusterTrustBundle" },
	}})
	all := named[*v1alpha1.APIResourceRegistration](t, r.Registrations)
	for name, want := range map[string]string{
		"podtemplates.v1": "off; turned on by --runtime-config=v1/podtemplates=true",
		"pods.v1":         "this server does not register it",
		"clustertrustbundles.v1alpha1.certificates.k8s.io": "off; turned on by --runtime-config=certificates.k8s.io/v1alpha1=true and --feature-gates=ClusterTrustBundle=true",
		"deployments.v1beta1.extensions":                   "removed in Kubernetes 1.16; nothing turns it on",
	} {
		one := all[name]
		if one == nil || one.Spec.Served || one.Spec.DisabledBy != want || one.Spec.Layer != "kube-apiserver" {
			t.Errorf("%s is %+v, want %q", name, one, want)
		}
	}
	if one := all["deployments.v1beta1.extensions"]; one != nil && (one.Spec.RemovedIn != "1.16" || one.Spec.DeprecatedIn == "") {
		t.Errorf("life cycle is %+v", one.Spec)
	}
	for name := range all {
		if strings.HasPrefix(name, "apigroups.") || strings.HasPrefix(name, "deployments.v1.apps") {
			t.Errorf("%s is no resource of this configuration", name)
		}
	}
}
