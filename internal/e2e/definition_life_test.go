package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// gadgetsYAML uses what a definition can say, but for a conversion webhook. The
// older version has the same schema and is deprecated.
const gadgetsYAML = `
metadata: {name: gadgets.life.e2e.test}
spec:
  group: life.e2e.test
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList, shortNames: [gdg], categories: [all]}
  versions:
  - &version
    name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}
    selectableFields: [{jsonPath: .spec.color}]
    additionalPrinterColumns:
    - {name: Color, type: string, jsonPath: .spec.color}
    - {name: Replicas, type: integer, jsonPath: .spec.replicas, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [color]
            properties:
              color: {type: string, enum: [red, blue]}
              replicas: {type: integer, minimum: 0, default: 2}
              max: {type: integer}
              id: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: the id stays}]}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true}
              size: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
              parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, n: {type: integer}}}}
            x-kubernetes-validations:
            - {rule: "!has(self.max) || self.replicas <= self.max", messageExpression: "self.max < 3 ? 'more than a few' : 'more than many'", fieldPath: .replicas}
          status:
            type: object
            properties: {replicas: {type: integer}, selector: {type: string}}
  - <<: *version
    name: v1beta1
    storage: false
    deprecated: true
    deprecationWarning: use life.e2e.test/v1 instead
`

var gadgetResource = schema.GroupVersionResource{Group: "life.e2e.test", Version: "v1", Resource: "gadgets"}

// TestDefinitionLife follows a definition from its creation to its end.
func TestDefinitionLife(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	define(t, server, decodeLoose[apiextensionsv1.CustomResourceDefinition](t, gadgetsYAML))
	gadgets := dynamicClient(t, server.Config(t)).Resource(gadgetResource).Namespace(newNamespace(t, server.Client(t)))

	t.Run("schema", func(t *testing.T) { gadgetSchema(t, gadgets) })
	t.Run("status", func(t *testing.T) { gadgetStatus(t, gadgets) })
	t.Run("scale", func(t *testing.T) { gadgetScale(t, server, gadgets) })
	t.Run("apply", func(t *testing.T) { gadgetApply(t, gadgets) })
	t.Run("deprecation", func(t *testing.T) { gadgetDeprecation(t, server) })
	t.Run("table", func(t *testing.T) { gadgetTable(t, server) })
	t.Run("selectable fields", func(t *testing.T) { gadgetFields(t, server) })
	t.Run("end", func(t *testing.T) { gadgetEnd(t, server, gadgets) })
}

func gadget(t testing.TB, name, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "{apiVersion: life.e2e.test/v1, kind: Gadget, metadata: {name: "+name+"}, spec: "+spec+"}")
}

// gadgetSchema: defaulting, pruning and validation.
func gadgetSchema(t *testing.T, gadgets dynamic.ResourceInterface) {
	created, err := gadgets.Create(t.Context(), gadget(t, "plain", `{color: red, nosuch: 1, open: {nosuch: 1}, size: 3, id: a}`), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := field(created, "spec", "replicas"); got != int64(2) {
		t.Errorf("default: %v", got)
	}
	if got := field(created, "spec", "nosuch"); got != nil {
		t.Errorf("a field that the schema does not know was kept: %v", got)
	}
	if got := field(created, "spec", "open", "nosuch"); got != int64(1) {
		t.Errorf("a field that is to be preserved: %v", got)
	}

	refusals := []struct{ name, spec, want string }{
		{"enum", `{color: green}`, `Unsupported value: "green"`},
		{"required", `{replicas: 1}`, "spec.color: Required value"},
		{"type", `{color: red, replicas: many}`, "must be of type integer"},
		{"minimum", `{color: red, replicas: -1}`, "greater than or equal to 0"},
		{"expression", `{color: red, replicas: 5, max: 4}`, "spec.replicas: Invalid value"},
		{"message of the expression", `{color: red, replicas: 5, max: 4}`, "more than many"},
		{"expression over a default", `{color: red, max: 1}`, "more than a few"},
		{"any of", `{color: red, size: true}`, "spec.size"},
		{"keys of a list", `{color: red, parts: [{name: a}, {name: a}]}`, "Duplicate value"},
	}
	for _, test := range refusals {
		if _, err := gadgets.Create(t.Context(), gadget(t, "refused", test.spec), metav1.CreateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	_, err = gadgets.Create(t.Context(), gadget(t, "refused", `{color: red, nosuch: 1}`), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), `unknown field "spec.nosuch"`) {
		t.Errorf("strict: %v", err)
	}
	_, err = gadgets.Patch(t.Context(), "plain", types.MergePatchType, []byte(`{"spec":{"id":"b"}}`), metav1.PatchOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "the id stays") {
		t.Errorf("transition: %v", err)
	}
}

// gadgetStatus: spec and status have an endpoint each, and a generation counts
// changes of the spec.
func gadgetStatus(t *testing.T, gadgets dynamic.ResourceInterface) {
	o := gadget(t, "with-status", `{color: red}`)
	o.Object["status"] = map[string]any{"replicas": int64(9)}
	o, err := gadgets.Create(t.Context(), o, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := field(o, "status"); got != nil {
		t.Errorf("a status at creation: %v", got)
	}
	o.Object["status"] = map[string]any{"replicas": int64(1), "selector": "app=x"}
	o.Object["spec"] = map[string]any{"color": "blue"}
	if o, err = gadgets.UpdateStatus(t.Context(), o, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if field(o, "status", "replicas") != int64(1) || field(o, "spec", "color") != "red" || o.GetGeneration() != 1 {
		t.Errorf("after the status was written: %v", o.Object)
	}
	stale := o.DeepCopy()
	o.Object["status"] = map[string]any{"replicas": int64(2)}
	o.Object["spec"] = map[string]any{"color": "blue"}
	if o, err = gadgets.Update(t.Context(), o, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if field(o, "status", "replicas") != int64(1) || field(o, "spec", "color") != "blue" || o.GetGeneration() != 2 {
		t.Errorf("after the spec was written: %v", o.Object)
	}
	if _, err := gadgets.UpdateStatus(t.Context(), stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("writing an older version: %v", err)
	}
}

func gadgetScale(t *testing.T, server *kapitest.Server, gadgets dynamic.ResourceInterface) {
	scale, err := gadgets.Get(t.Context(), "with-status", metav1.GetOptions{}, "scale")
	if err != nil {
		t.Fatal(err)
	}
	if field(scale, "spec", "replicas") != int64(2) || field(scale, "status", "replicas") != int64(1) || field(scale, "status", "selector") != "app=x" {
		t.Errorf("scale: %v", scale.Object)
	}
	server.Run(t, "kubectl", "-n", scale.GetNamespace(), "scale", "gadgets.life.e2e.test/with-status", "--replicas=7")
	o, err := gadgets.Get(t.Context(), "with-status", metav1.GetOptions{})
	if err != nil || field(o, "spec", "replicas") != int64(7) {
		t.Errorf("scaled: %v %v", err, o)
	}
	// What holds for the object holds for its scale.
	_, err = gadgets.Patch(t.Context(), "with-status", types.MergePatchType, []byte(`{"spec":{"replicas":-1}}`), metav1.PatchOptions{}, "scale")
	if !apierrors.IsInvalid(err) {
		t.Errorf("a negative scale: %v", err)
	}
}

// gadgetApply: two managers own an item each of a list with keys.
func gadgetApply(t *testing.T, gadgets dynamic.ResourceInterface) {
	for _, manager := range []string{"one", "two"} {
		o := gadget(t, "applied", `{color: red, parts: [{name: `+manager+`, n: 1}]}`)
		if _, err := gadgets.Apply(t.Context(), "applied", o, metav1.ApplyOptions{FieldManager: manager}); err != nil {
			t.Fatal(err)
		}
	}
	o, err := gadgets.Get(t.Context(), "applied", metav1.GetOptions{})
	if parts, _ := field(o, "spec", "parts").([]any); err != nil || len(parts) != 2 {
		t.Errorf("parts: %v %v", err, parts)
	}
	_, err = gadgets.Apply(t.Context(), "applied", gadget(t, "applied", `{color: blue}`), metav1.ApplyOptions{FieldManager: "two"})
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), ".spec.color") {
		t.Errorf("conflict: %v", err)
	}
}

func gadgetDeprecation(t *testing.T, server *kapitest.Server) {
	_, _, header := get(t, server.Config(t), "/apis/life.e2e.test/v1beta1/gadgets")
	if got := header.Values("Warning"); len(got) != 1 || got[0] != `299 - "use life.e2e.test/v1 instead"` {
		t.Errorf("warnings: %q", got)
	}
	if _, _, header := get(t, server.Config(t), "/apis/life.e2e.test/v1/gadgets"); header.Values("Warning") != nil {
		t.Errorf("warnings of the current version: %q", header.Values("Warning"))
	}
	_, stderr, err := server.Try(t, "", "kubectl", "get", "gadgets.v1beta1.life.e2e.test", "-A")
	if err != nil || !strings.Contains(stderr, "Warning: use life.e2e.test/v1 instead") {
		t.Errorf("kubectl: %v %s", err, stderr)
	}
}

func gadgetTable(t *testing.T, server *kapitest.Server) {
	code, body, _ := get(t, server.Config(t), "/apis/life.e2e.test/v1/gadgets", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	if code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	table := decodeLoose[metav1.Table](t, body)
	var columns []string
	for _, c := range table.ColumnDefinitions {
		columns = append(columns, c.Name)
	}
	if got := strings.Join(columns, " "); got != "Name Color Replicas" {
		t.Errorf("columns: %s", got)
	}
	for _, row := range table.Rows {
		if row.Cells[0] == "with-status" && (row.Cells[1] != "blue" || row.Cells[2] != float64(7)) {
			t.Errorf("row: %v", row.Cells)
		}
	}
	if out := server.Run(t, "kubectl", "get", "gdg", "-A", "-o", "wide"); !strings.Contains(out, "COLOR") || !strings.Contains(out, "REPLICAS") {
		t.Error(out)
	}
}

func gadgetFields(t *testing.T, server *kapitest.Server) {
	all := dynamicClient(t, server.Config(t)).Resource(gadgetResource)
	list, err := all.List(t.Context(), metav1.ListOptions{FieldSelector: "spec.color=blue"})
	if err != nil || len(list.Items) != 1 || list.Items[0].GetName() != "with-status" {
		t.Errorf("list: %v %v", err, list)
	}
	if _, err := all.List(t.Context(), metav1.ListOptions{FieldSelector: "spec.max=1"}); !apierrors.IsBadRequest(err) {
		t.Errorf("a field that is not selectable: %v", err)
	}
	events, err := all.Watch(t.Context(), metav1.ListOptions{FieldSelector: "spec.color=blue", ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	// An object that begins to match is a new one for this watch.
	namespace := list.Items[0].GetNamespace()
	if _, err := all.Namespace(namespace).Patch(t.Context(), "plain", types.MergePatchType, []byte(`{"spec":{"color":"blue"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	event := <-events.ResultChan()
	if o, ok := event.Object.(*unstructured.Unstructured); event.Type != "ADDED" || !ok || o.GetName() != "plain" {
		t.Errorf("watch: %+v", event)
	}
}
