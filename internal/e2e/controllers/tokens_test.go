package controllers_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// bootstrapToken makes a token with an expiration, or with none where it is zero.
func bootstrapToken(t testing.TB, client kubernetes.Interface, id, secret string, expiration time.Time) {
	t.Helper()
	token := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "bootstrap-token-" + id}, Type: corev1.SecretTypeBootstrapToken,
		StringData: map[string]string{"token-id": id, "token-secret": secret, "usage-bootstrap-signing": "true", "usage-bootstrap-authentication": "true"},
	}
	if !expiration.IsZero() {
		token.StringData["expiration"] = expiration.UTC().Format(time.RFC3339)
	}
	if _, err := client.CoreV1().Secrets(metav1.NamespaceSystem).Create(t.Context(), token, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestExpiredBootstrapTokens: those whose time is over go, at once or when it is.
func TestExpiredBootstrapTokens(t *testing.T) {
	t.Parallel()
	client := kapitest.Shared(t).Client(t)
	bootstrapToken(t, client, "e2ekep", "0123456789abcdef", time.Time{})
	bootstrapToken(t, client, "e2elat", "0123456789abcdef", time.Now().Add(time.Hour))
	bootstrapToken(t, client, "e2eold", "0123456789abcdef", time.Now().Add(-time.Hour))
	bootstrapToken(t, client, "e2esoo", "0123456789abcdef", time.Now().Add(3*time.Second))
	secrets := client.CoreV1().Secrets(metav1.NamespaceSystem)
	for _, id := range []string{"e2eold", "e2esoo"} {
		await(t, "token "+id+" is gone", func(ctx context.Context) bool {
			_, err := secrets.Get(ctx, "bootstrap-token-"+id, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
	for _, id := range []string{"e2ekep", "e2elat"} {
		if _, err := secrets.Get(t.Context(), "bootstrap-token-"+id, metav1.GetOptions{}); err != nil {
			t.Errorf("token %s: %v", id, err)
		}
	}
}

// TestClusterInfo: the public ConfigMap is signed with each token for that, and
// loses the signatures of tokens that are gone.
func TestClusterInfo(t *testing.T) {
	t.Parallel()
	client := kapitest.Shared(t).Client(t)
	maps := client.CoreV1().ConfigMaps(metav1.NamespacePublic)
	const kubeconfig, id, secret = "apiVersion: v1\nkind: Config\n", "e2esig", "abcdef0123456789"
	info := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cluster-info"}, Data: map[string]string{"kubeconfig": kubeconfig}}
	if _, err := maps.Create(t.Context(), info, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	bootstrapToken(t, client, id, secret, time.Time{})
	eventually(t, func(ctx context.Context) error {
		current, err := maps.Get(ctx, "cluster-info", metav1.GetOptions{})
		if err != nil {
			return err
		}
		return checkSignature(current.Data["jws-kubeconfig-"+id], kubeconfig, secret)
	})
	if err := client.CoreV1().Secrets(metav1.NamespaceSystem).Delete(t.Context(), "bootstrap-token-"+id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "the signature of the deleted token is gone", func(ctx context.Context) bool {
		current, err := maps.Get(ctx, "cluster-info", metav1.GetOptions{})
		return err == nil && current.Data["jws-kubeconfig-"+id] == "" && current.Data["kubeconfig"] == kubeconfig
	})
}

// checkSignature verifies a detached JSON web signature: the header, nothing, and
// the HMAC of header and content.
func checkSignature(signature, content, secret string) error {
	parts := strings.Split(signature, ".")
	if len(parts) != 3 || parts[1] != "" {
		return fmt.Errorf("no detached signature: %q", signature)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(content))))
	if want := base64.RawURLEncoding.EncodeToString(mac.Sum(nil)); parts[2] != want {
		return fmt.Errorf("signature %s, want %s", parts[2], want)
	}
	return nil
}
