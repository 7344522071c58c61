package controllers_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// whoAmI returns the user that the server takes config's bearer for.
func whoAmI(t testing.TB, config *rest.Config) (authenticationv1.UserInfo, error) {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.UserInfo{}, err
	}
	return review.Status.UserInfo, nil
}

// withToken is a configuration whose only credential is a bearer token.
func withToken(t testing.TB, server *kapitest.Server, token string) *rest.Config {
	t.Helper()
	config := rest.AnonymousClientConfig(server.Config(t))
	config.BearerToken = token
	return config
}

// TestDefaultServiceAccount: each namespace has one, with which a pod is created and
// a token is got.
func TestDefaultServiceAccount(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	client := server.Client(t)
	namespace := newHome(t, client)
	created, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod("p"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if created.Spec.ServiceAccountName != "default" || len(created.Spec.Volumes) != 1 || created.Spec.Volumes[0].Projected == nil {
		t.Errorf("a pod that names no account gets %+v", created.Spec)
	}

	token := strings.TrimSpace(server.Run(t, "kubectl", "create", "token", "default", "-n", namespace))
	want := "system:serviceaccount:" + namespace + ":default"
	if user, err := whoAmI(t, withToken(t, server, token)); err != nil || user.Username != want {
		t.Errorf("with the token: %v %+v", err, user)
	}
	review, err := client.AuthenticationV1().TokenReviews().Create(t.Context(),
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil || !review.Status.Authenticated || review.Status.User.Username != want {
		t.Errorf("a review of the token: %v %+v", err, review)
	}

	account, err := client.CoreV1().ServiceAccounts(namespace).Get(t.Context(), "default", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().ServiceAccounts(namespace).Delete(t.Context(), "default", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "the deleted account is made anew", func(ctx context.Context) bool {
		next, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil && next.UID != account.UID
	})
	for _, namespace := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		eventually(t, func(ctx context.Context) error {
			_, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
			return err
		})
	}
}

// TestTokenSecret: a Secret that asks for a token of an account is filled, and goes
// with the account.
func TestTokenSecret(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	client := server.Client(t)
	namespace := newNamespace(t, client)
	accounts, secrets := client.CoreV1().ServiceAccounts(namespace), client.CoreV1().Secrets(namespace)
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{Type: corev1.SecretTypeServiceAccountToken, ObjectMeta: metav1.ObjectMeta{
		Name: "robot", Annotations: map[string]string{corev1.ServiceAccountNameKey: "robot"},
	}}
	if _, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var data map[string][]byte
	eventually(t, func(ctx context.Context) error {
		current, err := secrets.Get(ctx, "robot", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if data = current.Data; len(data[corev1.ServiceAccountTokenKey]) == 0 {
			return errors.New("the Secret has no token")
		}
		return nil
	})
	if string(data[corev1.ServiceAccountNamespaceKey]) != namespace {
		t.Errorf("namespace: %q", data[corev1.ServiceAccountNamespaceKey])
	}
	handshake(t, server, data[corev1.ServiceAccountRootCAKey])
	token := withToken(t, server, string(data[corev1.ServiceAccountTokenKey]))
	if user, err := whoAmI(t, token); err != nil || user.Username != "system:serviceaccount:"+namespace+":robot" {
		t.Errorf("with the Secret's token: %v %+v", err, user)
	}
	if err := accounts.Delete(t.Context(), "robot", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "the Secret is gone with its account", func(ctx context.Context) bool {
		_, err := secrets.Get(ctx, "robot", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	eventually(t, func(context.Context) error { // who it was is remembered for ten seconds
		if user, err := whoAmI(t, token); !apierrors.IsUnauthorized(err) {
			return fmt.Errorf("with the token of a deleted account: %v %+v", err, user) //nolint:errorlint // there may be none
		}
		return nil
	})
}

// TestRootCertificate: each namespace has the authority of the serving certificate,
// and has it back when somebody changes or deletes it.
func TestRootCertificate(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	client := server.Client(t)
	maps := client.CoreV1().ConfigMaps(newNamespace(t, client))
	const name, key = "kube-root-ca.crt", "ca.crt"
	published := func(ctx context.Context) (*corev1.ConfigMap, error) {
		found, err := maps.Get(ctx, name, metav1.GetOptions{})
		if err == nil && !strings.Contains(found.Data[key], "BEGIN CERTIFICATE") {
			err = fmt.Errorf("%s holds %q", name, found.Data[key])
		}
		return found, err
	}
	var found *corev1.ConfigMap
	eventually(t, func(ctx context.Context) (err error) {
		found, err = published(ctx)
		return err
	})
	handshake(t, server, []byte(found.Data[key]))

	first := found.UID
	found.Data = map[string]string{key: "something else"}
	if _, err := maps.Update(t.Context(), found, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		_, err := published(ctx)
		return err
	})
	if err := maps.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		again, err := published(ctx)
		if err == nil && again.UID == first {
			err = errors.New("the deleted one is there")
		}
		return err
	})
}

// handshake connects to the server as somebody who trusts these authorities only.
func handshake(t testing.TB, server *kapitest.Server, authorities []byte) {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authorities) {
		t.Fatalf("no certificates: %q", authorities)
	}
	address, err := url.Parse(server.Config(t).Host)
	if err != nil {
		t.Fatal(err)
	}
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	connection, err := dialer.DialContext(t.Context(), "tcp", address.Host)
	if err != nil {
		t.Errorf("the server's certificate: %v", err)
		return
	}
	if err := connection.Close(); err != nil {
		t.Error(err)
	}
}
