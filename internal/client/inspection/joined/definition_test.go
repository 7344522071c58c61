package joined

import (
	"slices"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func TestDefinitionStates(t *testing.T) {
	type crd = *apiextensionsv1.CustomResourceDefinition
	deleted := func(ago time.Duration) func(crd) {
		return func(d crd) {
			at := metav1.NewTime(noon.Add(-ago))
			d.DeletionTimestamp, d.Finalizers = &at, []string{"example.com/wait"}
		}
	}
	for name, c := range map[string]struct {
		edit     func(crd)
		word     string
		severity Severity
		why      string
	}{
		"established": {nil, "Established", OK, ""},
		"new":         {func(d crd) { d.Status.Conditions = nil; d.CreationTimestamp = metav1.NewTime(noon) }, "Installing", Warning, "no controller has looked at it yet"},
		"never seen":  {func(d crd) { d.Status.Conditions = nil }, "Installing", Bad, "no controller has looked at it yet"},
		"installing":  {func(d crd) { set(d, "Established", "False", "Installing", "soon") }, "Installing", Bad, "soon"},
		"names": {func(d crd) {
			set(d, "NamesAccepted", "False", "KindConflict", `"Thing" is already in use`)
			set(d, "Established", "False", "NotAccepted", "not all names are accepted")
		}, "NamesConflict", Bad, `"Thing" is already in use`},
		"names later":     {func(d crd) { set(d, "NamesAccepted", "False", "KindConflict", "taken") }, "NamesConflict", Bad, "taken"},
		"ca bundle":       {func(d crd) { set(d, "Established", "False", "InvalidCABundle", "no PEM") }, "NotEstablished", Bad, "no PEM"},
		"not structural":  {func(d crd) { set(d, "NonStructuralSchema", "True", "Violations", "type: Required") }, "NonStructural", Warning, "type: Required"},
		"structural":      {func(d crd) { set(d, "NonStructuralSchema", "False", "", "") }, "Established", OK, ""},
		"not approved":    {func(d crd) { set(d, "KubernetesAPIApprovalPolicyConformant", "False", "MissingAnnotation", "") }, "NotApproved", Warning, "MissingAnnotation"},
		"nothing served":  {func(d crd) { d.Spec.Versions[0].Served = false }, "NotServed", Warning, "no version has served: true"},
		"deleted":         {deleted(time.Second), "Terminating", Warning, "waits for example.com/wait"},
		"stuck":           {deleted(2 * time.Minute), "Terminating", Bad, "waits for example.com/wait"},
		"deletion failed": {func(d crd) { deleted(0)(d); set(d, "Terminating", "True", "InstanceDeletionFailed", "etcd") }, "Terminating", Bad, "etcd"},
		"migrating":       {func(d crd) { set(d, "StorageMigrating", "True", "Started", "") }, "Established", OK, ""},
	} {
		got := JoinDefinition(DefinitionParts{Definition: definition(c.edit)}, noon)
		if got.State.Word != c.word || got.State.Severity != c.severity || got.State.Why != c.why {
			t.Errorf("%s: %+v, want %s %s %q", name, got.State, c.word, c.severity, c.why)
		}
		if got.State.Since.IsZero() || got.State.Since.After(noon) {
			t.Errorf("%s: since %v", name, got.State.Since)
		}
		if line := NewDefinitionIndex(nil, nil).Line(definition(c.edit), noon); line.State != got.State {
			t.Errorf("%s: the line says %+v, the whole %+v", name, line.State, got.State)
		}
		if (got.Hint == "") != (c.severity == OK || c.word == "NotEstablished") {
			t.Errorf("%s: hint %q", name, got.Hint)
		}
	}
}

func TestDefinitionProblems(t *testing.T) {
	d := definition(func(d *apiextensionsv1.CustomResourceDefinition) {
		set(d, "NamesAccepted", "False", "PluralConflict", `"things" is already in use`)
		set(d, "NonStructuralSchema", "True", "Violations", "[spec.versions[0].schema.openAPIV3Schema.properties[a, b].type: Required value: must not be empty for specified object fields, spec.preserveUnknownFields: Invalid value: true: must be false]")
		d.Spec.PreserveUnknownFields = true
		d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: "v2"})
	})
	want := []string{
		`names: "things" is already in use (PluralConflict)`,
		"spec.versions[0].schema.openAPIV3Schema.properties[a, b].type: Required value: must not be empty for specified object fields",
		"spec.preserveUnknownFields: Invalid value: true: must be false",
		"spec.versions[1].schema: v2 has none, so nothing is validated",
	}
	if got := JoinDefinition(DefinitionParts{Definition: d}, noon).Problems; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	one := definition(func(d *apiextensionsv1.CustomResourceDefinition) {
		set(d, "NonStructuralSchema", "True", "Violations", "spec.versions[0].schema.openAPIV3Schema.type: Required value, spec. says so")
		d.Spec.PreserveUnknownFields = true
	})
	if got := JoinDefinition(DefinitionParts{Definition: one}, noon).Problems; len(got) != 2 {
		t.Errorf("a message that is no list, and fields that are kept: %q", got)
	}
	if got := JoinDefinition(DefinitionParts{Definition: definition(nil)}, noon).Problems; len(got) != 0 {
		t.Errorf("nothing is wrong: %q", got)
	}
}

// What was stored by other versions, or by versions that are gone, is to be migrated.
func TestDefinitionToMigrate(t *testing.T) {
	d := JoinDefinition(DefinitionParts{Definition: definition(func(d *apiextensionsv1.CustomResourceDefinition) {
		d.Status.StoredVersions = []string{"v1alpha1", "v1", "v1beta1"}
	})}, noon)
	if want := []string{"v1alpha1", "v1beta1"}; !slices.Equal(d.ToMigrate, want) || d.StorageVersion != "v1" {
		t.Errorf("%v besides %s, want %v", d.ToMigrate, d.StorageVersion, want)
	}
}

func transition(uid, kind, to string, at time.Time, established *metav1.Duration) *v1alpha1.ConditionTransition {
	return &v1alpha1.ConditionTransition{Spec: v1alpha1.ConditionTransitionSpec{
		Object: v1alpha1.ObservedObject{Kind: kindDefinition, Name: "things.example.com", UID: uid},
		Type:   kind, To: to, At: metav1.NewMicroTime(at), TimeToEstablished: established,
	}}
}

// Times count from the first transition of this object, and not of one of the same
// name before it; without any there is a bound.
func TestDefinitionTimes(t *testing.T) {
	took := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	history := []*v1alpha1.ConditionTransition{
		transition("1", "Established", "False", noon.Add(-time.Minute), nil),
		transition("0", "Established", "True", born.Add(-time.Hour), took(time.Second)),
		transition("1", "Established", "True", born.Add(time.Millisecond), took(5*time.Millisecond)),
		transition("1", "Established", "True", noon, took(time.Hour+1)),
	}
	d := JoinDefinition(DefinitionParts{Definition: definition(nil), Transitions: history}, noon)
	if d.TimeToEstablished == nil || d.TimeToEstablished.AtMost || d.TimeToEstablished.Duration.Duration != 5*time.Millisecond {
		t.Errorf("established after %+v", d.TimeToEstablished)
	}
	if len(d.Transitions) != 3 || d.Earlier != 1 || d.Transitions[0].To != "True" || !d.LastChange.Equal(noon) {
		t.Errorf("%d transitions, %d earlier, last change %v", len(d.Transitions), d.Earlier, d.LastChange)
	}
	bound := JoinDefinition(DefinitionParts{Definition: definition(nil)}, noon).TimeToEstablished
	if bound == nil || !bound.AtMost || bound.Duration.Duration != 3*time.Second {
		t.Errorf("bound %+v, want less than 3s", bound)
	}
	whole := JoinDefinition(DefinitionParts{Definition: definition(nil), Transitions: []*v1alpha1.ConditionTransition{
		transition("1", "Established", "True", born, took(0)),
	}}, noon).TimeToEstablished
	if whole == nil || !whole.AtMost || whole.Duration.Duration != time.Second {
		t.Errorf("whole seconds %+v, want less than 1s", whole)
	}
	never := definition(func(d *apiextensionsv1.CustomResourceDefinition) { set(d, "Established", "False", "X", "") })
	if got := JoinDefinition(DefinitionParts{Definition: never}, noon).TimeToEstablished; got != nil {
		t.Errorf("never established, but after %+v", got)
	}
}

func TestDefinitionConversion(t *testing.T) {
	url, path, port := "https://user:secret@hooks.example.com:8443/convert?token=secret", "/convert", int32(9443)
	webhook := func(c *apiextensionsv1.WebhookClientConfig) *apiextensionsv1.CustomResourceConversion {
		return &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{ClientConfig: c},
		}
	}
	for want, c := range map[string]*apiextensionsv1.CustomResourceConversion{
		"None":    nil,
		"Webhook": {Strategy: apiextensionsv1.WebhookConverter},
		"Webhook https://hooks.example.com:8443/convert": webhook(&apiextensionsv1.WebhookClientConfig{URL: &url}),
		"Webhook a/b:443": webhook(&apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "a", Name: "b"}}),
		"Webhook a/b:9443/convert": webhook(&apiextensionsv1.WebhookClientConfig{
			Service: &apiextensionsv1.ServiceReference{Namespace: "a", Name: "b", Port: &port, Path: &path},
		}),
	} {
		d := definition(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Conversion = c })
		if got := JoinDefinition(DefinitionParts{Definition: d}, noon).Conversion; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
