package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestAdmissionWebhooks lets a server outside decide about ConfigMaps: one of a
// service that exists only in the service map.
func TestAdmissionWebhooks(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	webhook := serveTLS(t, listen(t, "127.0.0.1"), ca, http.HandlerFunc(admit), "hooks.e2e.svc")
	server := kapitest.Start(t, "--map-service", "e2e/hooks:8443="+webhook.Listener.Addr().String())
	client := server.Client(t)
	namespace := newNamespace(t, client)
	registerWebhooks(t, client, namespace, ca)
	create := func(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
		return client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}},
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	}

	// Registrations are in force a moment later.
	await(t, "the mutating webhook is in force", func(ctx context.Context) bool {
		o, err := create(ctx, namespace, "fine")
		return err == nil && o.Labels["mutated"] == "yes"
	})
	await(t, "the validating webhook is in force", func(ctx context.Context) bool {
		_, err := create(ctx, namespace, "bad")
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), `admission webhook "validate.e2e.test" denied the request: bad is bad`)
	})
	if o, err := create(t.Context(), "default", "bad"); err != nil || o.Labels != nil {
		t.Errorf("in another namespace: %v %v", err, o)
	}

	webhook.Close()
	if _, err := create(t.Context(), namespace, "fine"); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), `failed calling webhook "validate.e2e.test"`) {
		t.Errorf("down, with failurePolicy Fail: %v", err)
	}
	validating := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	config, err := validating.Get(t.Context(), "e2e", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ignore := admissionregistrationv1.Ignore
	config.Webhooks[0].FailurePolicy = &ignore
	if _, err := validating.Update(t.Context(), config, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "down, with failurePolicy Ignore, objects pass as they are", func(ctx context.Context) bool {
		o, err := create(ctx, namespace, "bad")
		return err == nil && o.Labels == nil
	})
}

// registerWebhooks sends ConfigMaps of a namespace to a mutating webhook that
// may be away, and to a validating one that may not.
func registerWebhooks(t *testing.T, client kubernetes.Interface, namespace string, ca *authority) {
	t.Helper()
	var (
		port, none   = int32(8443), admissionregistrationv1.SideEffectClassNone
		fail, ignore = admissionregistrationv1.Fail, admissionregistrationv1.Ignore
		versions     = []string{"v1"}
		selector     = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
		rules        = []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
		}}
		clientConfig = func(path string) admissionregistrationv1.WebhookClientConfig {
			return admissionregistrationv1.WebhookClientConfig{CABundle: ca.PEM, Service: &admissionregistrationv1.ServiceReference{
				Namespace: "e2e", Name: "hooks", Port: &port, Path: &path,
			}}
		}
	)
	meta := metav1.ObjectMeta{Name: "e2e"}
	_, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: meta, Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "mutate.e2e.test", ClientConfig: clientConfig("/mutate"), Rules: rules, NamespaceSelector: selector,
			FailurePolicy: &ignore, SideEffects: &none, AdmissionReviewVersions: versions,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: meta, Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "validate.e2e.test", ClientConfig: clientConfig("/validate"), Rules: rules, NamespaceSelector: selector,
			FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: versions,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// admit is the server of both webhooks.
func admit(w http.ResponseWriter, r *http.Request) {
	review := &admissionv1.AdmissionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil || review.Request == nil {
		http.Error(w, "not an admission review", http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	switch r.URL.Path {
	case "/mutate":
		patch := admissionv1.PatchTypeJSONPatch
		review.Response.PatchType, review.Response.Patch = &patch, []byte(`[{"op": "add", "path": "/metadata/labels", "value": {"mutated": "yes"}}]`)
	case "/validate":
		if review.Request.Name == "bad" {
			review.Response.Allowed = false
			review.Response.Result = &metav1.Status{Message: "bad is bad", Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}
		}
	default:
		http.NotFound(w, r)
		return
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}
