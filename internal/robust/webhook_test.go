package robust

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// slowLabel marks the objects that the webhook is asked about.
const slowLabel = "slow"

// slowWebhook is a mutating webhook that answers when it is told to.
type slowWebhook struct {
	called  chan struct{} // one for each call
	release func()
}

// newSlowWebhook starts the webhook and makes it known to the running server.
func newSlowWebhook(t testing.TB, s *server) *slowWebhook {
	t.Helper()
	released := make(chan struct{})
	w := &slowWebhook{called: make(chan struct{}, 100), release: sync.OnceFunc(func() { close(released) })}
	hook := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("reading an admission review: %v", err)
			return
		}
		w.called <- struct{}{}
		select {
		case <-released:
		case <-r.Context().Done():
			return
		}
		var review admissionv1.AdmissionReview
		if err := json.Unmarshal(body, &review); err != nil {
			t.Errorf("reading an admission review: %v", err)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		_ = json.NewEncoder(rw).Encode(review) // the server may be gone
	}))
	t.Cleanup(func() {
		w.release()
		hook.CloseClientConnections()
		hook.Close()
	})
	register(t, s, hook)
	return w
}

func register(t testing.TB, s *server, hook *httptest.Server) {
	t.Helper()
	const longest = int32(30) // seconds, that the API allows
	timeout, fail, none := longest, admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone
	_, err := s.client().AdmissionregistrationV1().MutatingWebhookConfigurations().Create(deadline(t),
		&admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "slow"},
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "slow.kapi.dev",
				ClientConfig: admissionregistrationv1.WebhookClientConfig{
					URL:      &hook.URL,
					CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw}),
				},
				Rules: []admissionregistrationv1.RuleWithOperations{{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"},
					},
				}},
				ObjectSelector:          &metav1.LabelSelector{MatchLabels: map[string]string{slowLabel: "yes"}},
				FailurePolicy:           &fail,
				SideEffects:             &none,
				AdmissionReviewVersions: []string{"v1"},
				TimeoutSeconds:          &timeout,
			}},
		}, metav1.CreateOptions{})
	must(t, err)
}

// create begins to create an object, and returns when the webhook has been
// asked about it. The result comes when the server has answered.
func (w *slowWebhook) create(t testing.TB, s *server, name string) <-chan error {
	t.Helper()
	ctx, client := deadline(t), s.client()
	for {
		object := configMap(name, name)
		object.Labels = map[string]string{slowLabel: "yes"}
		result := make(chan error, 1)
		go func() {
			_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, object, metav1.CreateOptions{})
			result <- err
		}()
		select {
		case <-w.called:
			return result
		case err := <-result:
			// The server has not noticed the new webhook yet.
			must(t, err)
			must(t, client.CoreV1().ConfigMaps(namespace).Delete(ctx, name, metav1.DeleteOptions{}))
		case <-ctx.Done():
			t.Fatal("the webhook is not asked")
		}
	}
}
