package chain

import (
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
)

type inner struct{}

func (inner) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	return &url.URL{Scheme: "https", Host: namespace + "." + name}, nil
}

func TestMappedResolver(t *testing.T) {
	resolver := mappedResolver{inner{}, ServiceMap{{"kube-system", "metrics-server", 443}: "127.0.0.1:4443"}}
	for _, test := range []struct {
		namespace, name string
		port            int32
		want            string
	}{
		{"kube-system", "metrics-server", 443, "https://127.0.0.1:4443"},
		{"kube-system", "metrics-server", 8443, "https://kube-system.metrics-server"},
		{"default", "metrics-server", 443, "https://default.metrics-server"},
	} {
		got, err := resolver.ResolveEndpoint(test.namespace, test.name, test.port)
		if err != nil || got.String() != test.want {
			t.Errorf("%s/%s:%d is %v (%v), want %s", test.namespace, test.name, test.port, got, err, test.want)
		}
	}
}

func TestExternalResolver(t *testing.T) {
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	store := factory.Core().V1().Services().Informer().GetStore()
	for name, spec := range map[string]corev1.ServiceSpec{
		"external": {Type: corev1.ServiceTypeExternalName, ExternalName: "backend.example"},
		"cluster":  {Type: corev1.ServiceTypeClusterIP},
	} {
		if err := store.Add(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: spec}); err != nil {
			t.Fatal(err)
		}
	}
	resolver := externalResolver{inner{}, factory.Core().V1().Services().Lister()}
	for name, want := range map[string]string{
		"external": "https://backend.example:8443", "cluster": "https://ns.cluster", "absent": "https://ns.absent",
	} {
		if got, err := resolver.ResolveEndpoint("ns", name, 8443); err != nil || got.String() != want {
			t.Errorf("%s is %v (%v), want %s", name, got, err, want)
		}
	}
}

// What the availability controller sees of a mapped service: one that needs
// neither to exist nor to have endpoints.
func TestMappedInformers(t *testing.T) {
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	existing := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "existing"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.7"},
	}
	if err := factory.Core().V1().Services().Informer().GetStore().Add(existing); err != nil {
		t.Fatal(err)
	}
	mapped := mappedInformers{factory, ServiceMap{
		{"ns", "existing", 443}: "127.0.0.1:1",
		{"ns", "absent", 443}:   "backend.example:2",
	}}
	services := mapped.Core().V1().Services().Lister().Services("ns")
	for name, host := range map[string]string{"existing": "127.0.0.1", "absent": "backend.example"} {
		got, err := services.Get(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Spec.Type != corev1.ServiceTypeExternalName || got.Spec.ExternalName != host {
			t.Errorf("%s is of type %s to %q, want an external name to %q", name, got.Spec.Type, got.Spec.ExternalName, host)
		}
	}
	if existing.Spec.Type != corev1.ServiceTypeClusterIP {
		t.Error("the object in the informer's cache was changed")
	}
	if _, err := services.Get("other"); !apierrors.IsNotFound(err) {
		t.Errorf("an unmapped, absent service: %v, want not found", err)
	}
}
