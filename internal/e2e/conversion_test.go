package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestConversionWebhook converts between two versions that differ, by a real
// server: at a URL, and as a service that a map leads to.
func TestConversionWebhook(t *testing.T) {
	t.Parallel()
	t.Run("url", func(t *testing.T) {
		t.Parallel()
		ca, converter := newAuthority(t), &converter{}
		webhook := serveTLS(t, listen(t, "127.0.0.1"), ca, converter, "127.0.0.1")
		url := webhook.URL + "/convert"
		convert(t, kapitest.Shared(t), "url.e2e.test", apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: ca.PEM}, converter, webhook)
	})
	t.Run("mapped service", func(t *testing.T) {
		t.Parallel()
		ca, converter := newAuthority(t), &converter{}
		webhook := serveTLS(t, listen(t, "127.0.0.1"), ca, converter, "converter.e2e.svc")
		server := kapitest.Start(t, "--map-service", "e2e/converter:443="+webhook.Listener.Addr().String())
		path := "/convert"
		convert(t, server, "service.e2e.test", apiextensionsv1.WebhookClientConfig{
			Service: &apiextensionsv1.ServiceReference{Namespace: "e2e", Name: "converter", Path: &path}, CABundle: ca.PEM,
		}, converter, webhook)
	})
}

const paintsYAML = `
metadata: {name: paints.GROUP}
spec:
  group: GROUP
  scope: Cluster
  names: {plural: paints, singular: paint, kind: Paint, listKind: PaintList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {color: {type: string}}}}
  - name: v1beta1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {colour: {type: string}}}}
`

// convert writes and reads objects in both versions; v1beta1 spells a field
// differently.
func convert(t *testing.T, server *kapitest.Server, group string, client apiextensionsv1.WebhookClientConfig, converter *converter, webhook *httptest.Server) {
	t.Helper()
	crd := decode[apiextensionsv1.CustomResourceDefinition](t, strings.ReplaceAll(paintsYAML, "GROUP", group))
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook:  &apiextensionsv1.WebhookConversion{ClientConfig: &client, ConversionReviewVersions: []string{"v1"}},
	}
	define(t, server, crd)
	dynamic := dynamicClient(t, server.Config(t))
	newer := dynamic.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "paints"})
	older := dynamic.Resource(schema.GroupVersionResource{Group: group, Version: "v1beta1", Resource: "paints"})
	create := func(name, version, spelling string) {
		o := object(t, "{apiVersion: "+group+"/"+version+", kind: Paint, metadata: {name: "+name+"}, "+spelling+": red}")
		resource := newer
		if version == "v1beta1" {
			resource = older
		}
		created, err := resource.Create(t.Context(), o, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if field(created, spelling) != "red" {
			t.Errorf("created: %v", created.Object)
		}
	}
	watch, err := older.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()

	create("new", "v1", "color")
	create("old", "v1beta1", "colour")
	for _, name := range []string{"new", "old"} {
		o, err := newer.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || field(o, "color") != "red" || field(o, "colour") != nil {
			t.Errorf("%s as v1: %v %v", name, err, o)
		}
		if o, err = older.Get(t.Context(), name, metav1.GetOptions{}); err != nil || field(o, "colour") != "red" || field(o, "color") != nil {
			t.Errorf("%s as v1beta1: %v %v", name, err, o)
		}
		event := <-watch.ResultChan()
		if o, ok := event.Object.(*unstructured.Unstructured); !ok || field(o, "colour") != "red" {
			t.Errorf("watched as v1beta1: %+v", event)
		}
	}
	if list, err := older.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 2 {
		t.Errorf("list as v1beta1: %v", err)
	}
	if converter.requests.Load() == 0 {
		t.Error("the webhook was not asked")
	}

	// What it refuses is the answer; and without it the storage version goes on.
	converter.refuse.Store(true)
	if _, err := older.Get(t.Context(), "new", metav1.GetOptions{}); err == nil || !strings.Contains(err.Error(), "out of paint") {
		t.Errorf("a refusal of the webhook: %v", err)
	}
	webhook.Close()
	if _, err := older.Get(t.Context(), "new", metav1.GetOptions{}); err == nil || !strings.Contains(err.Error(), "conversion webhook for "+group+"/v1, Kind=Paint failed") {
		t.Errorf("a webhook that is away: %v", err)
	}
	if _, err := newer.Get(t.Context(), "new", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	// What is left of a definition without its webhook can still be deleted.
	undefine(t, server, crd.Name)
}

// converter is the conversion webhook.
type converter struct {
	requests atomic.Int64
	refuse   atomic.Bool
}

// ServeHTTP implements http.Handler.
func (c *converter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.requests.Add(1)
	review := &apiextensionsv1.ConversionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil || review.Request == nil || r.URL.Path != "/convert" {
		http.Error(w, "not a conversion review", http.StatusBadRequest)
		return
	}
	review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, raw := range review.Request.Objects {
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON(raw.Raw); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		from, to := "color", "colour"
		if strings.HasSuffix(review.Request.DesiredAPIVersion, "/v1") {
			from, to = to, from
		}
		if value, ok := o.Object[from]; ok {
			o.Object[to] = value
			delete(o.Object, from)
		}
		o.SetAPIVersion(review.Request.DesiredAPIVersion)
		review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: o})
	}
	if c.refuse.Load() {
		review.Response.Result = metav1.Status{Status: metav1.StatusFailure, Message: "out of paint"}
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}
