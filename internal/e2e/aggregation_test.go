package e2e_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregatorclient "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	wardlev1alpha1 "k8s.io/sample-apiserver/pkg/apis/wardle/v1alpha1"
	wardleclient "k8s.io/sample-apiserver/pkg/generated/clientset/versioned"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestAggregation puts upstream's example server behind kapi, as a process
// beside it that a service map leads to: there is no Service object.
func TestAggregation(t *testing.T) {
	t.Parallel()
	host, port := fixedAddress(t)
	ca := newAuthority(t)
	server := kapitest.Start(t, append(wardleManifests(t), "--map-service", "wardle/api:443="+net.JoinHostPort(host, port))...)
	allowEverywhere(t, server.Client(t), "system:serviceaccount:wardle:apiserver", rbacv1.PolicyRule{
		// Its own files know these of older versions only.
		Verbs: []string{"list", "watch"}, APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"*"},
	})
	remote := newWardle(t, server, ca, host, port)
	remote.start(t)
	registerAPIService(t, server, "wardle.example.com", "v1alpha1", ca, apiregistrationv1.ServiceReference{Namespace: "wardle", Name: "api"})
	awaitAvailable(t, server, wardleAPI, apiregistrationv1.ConditionTrue, "Passed")
	if _, err := server.Client(t).CoreV1().Services("wardle").Get(t.Context(), "api", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Fatalf("there is a Service: %v", err)
	}

	t.Run("configuration for extension servers", func(t *testing.T) { extensionConfig(t, server) })
	t.Run("flunders", func(t *testing.T) { flunders(t, server) })
	t.Run("kubectl", func(t *testing.T) { flundersByKubectl(t, server) })
	t.Run("delegated", func(t *testing.T) { delegated(t, server, remote, ca) })
	t.Run("stop and start", func(t *testing.T) { stopAndStart(t, server, remote) })
}

const wardleAPI = "v1alpha1.wardle.example.com"

// registerAPIService makes the APIService of a group version, verified by ca.
func registerAPIService(t testing.TB, server *kapitest.Server, group, version string, ca *authority, service apiregistrationv1.ServiceReference) {
	t.Helper()
	_, err := apiServices(t, server).ApiregistrationV1().APIServices().Create(t.Context(), &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: version + "." + group},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: group, Version: version, Service: &service, CABundle: ca.PEM,
			GroupPriorityMinimum: 1000, VersionPriority: 15,
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func apiServices(t testing.TB, server *kapitest.Server) aggregatorclient.Interface {
	t.Helper()
	client, err := aggregatorclient.NewForConfig(server.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// awaitAvailable waits for a condition of an APIService, and returns its
// message. The controller looks again after 30 s at the latest. One that is
// available may still be answered 503 until the proxy has seen that too: that is
// waited for.
func awaitAvailable(t testing.TB, server *kapitest.Server, name string, status apiregistrationv1.ConditionStatus, reason string) (message string) {
	t.Helper()
	services := apiServices(t, server).ApiregistrationV1().APIServices()
	eventually(t, func(ctx context.Context) error {
		service, err := services.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range service.Status.Conditions {
			if c.Type == apiregistrationv1.Available && c.Status == status && c.Reason == reason {
				message = c.Message
				return nil
			}
		}
		return fmt.Errorf("APIService %s: want Available=%s because of %s: %+v", name, status, reason, service.Status.Conditions)
	})
	if version, group, _ := strings.Cut(name, "."); status == apiregistrationv1.ConditionTrue {
		await(t, "APIService "+name+" is proxied", func(context.Context) bool {
			code, _, _ := get(t, server.Config(t), "/apis/"+group+"/"+version)
			return code != http.StatusServiceUnavailable
		})
	}
	return message
}

// extensionConfig is what an extension server reads to know its callers.
func extensionConfig(t *testing.T, server *kapitest.Server) {
	config, err := server.Client(t).CoreV1().ConfigMaps("kube-system").Get(t.Context(), "extension-apiserver-authentication", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"client-ca-file":                     "BEGIN CERTIFICATE",
		"requestheader-client-ca-file":       "BEGIN CERTIFICATE",
		"requestheader-allowed-names":        `["front-proxy-client"]`,
		"requestheader-username-headers":     `["X-Remote-User"]`,
		"requestheader-group-headers":        `["X-Remote-Group"]`,
		"requestheader-extra-headers-prefix": `["X-Remote-Extra-"]`,
	} {
		if !strings.Contains(config.Data[key], want) {
			t.Errorf("%s: %q", key, config.Data[key])
		}
	}
}

func flunders(t *testing.T, server *kapitest.Server) {
	client, err := wardleclient.NewForConfig(server.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	api := client.WardleV1alpha1().Flunders(newNamespace(t, server.Client(t)))
	list, err := api.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	events, err := api.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	created, err := api.Create(t.Context(), &wardlev1alpha1.Flunder{
		ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Spec: wardlev1alpha1.FlunderSpec{Reference: "a-fischer"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if event, ok := <-events.ResultChan(); !ok || event.Type != watch.Added {
		t.Errorf("watch: %v %+v", ok, event)
	}
	if list, err = api.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 1 || list.Items[0].UID != created.UID {
		t.Errorf("list: %v %+v", err, list)
	}

	// Its own admission still decides, with an object of another of its kinds.
	if _, err := client.WardleV1alpha1().Fischers().Create(t.Context(), &wardlev1alpha1.Fischer{
		ObjectMeta: metav1.ObjectMeta{Name: "strict"}, DisallowedFlunders: []string{"banned"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "a banned flunder is refused", func(ctx context.Context) bool {
		_, err := api.Create(ctx, &wardlev1alpha1.Flunder{ObjectMeta: metav1.ObjectMeta{Name: "banned"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "this name may not be used")
	})
}

// flundersByKubectl: discovery and OpenAPI of the remote server are merged in.
func flundersByKubectl(t *testing.T, server *kapitest.Server) {
	flunder := "apiVersion: wardle.example.com/v1alpha1\nkind: Flunder\nmetadata: {name: by-kubectl}\n"
	eventually(t, func(context.Context) error {
		_, stderr, err := server.Try(t, flunder, "kubectl", "apply", "--server-side", "-f", "-")
		if err != nil {
			err = fmt.Errorf("%w: %s", err, stderr)
		}
		return err
	})
	if out := server.Run(t, "kubectl", "get", "flunders", "-o", "name"); out != "flunder.wardle.example.com/by-kubectl\n" {
		t.Error(out)
	}
	if out := server.Run(t, "kubectl", "api-resources", "--api-group", "wardle.example.com"); !strings.Contains(out, "Fischer") {
		t.Error(out)
	}
	eventually(t, func(context.Context) error {
		out, stderr, err := server.Try(t, "", "kubectl", "explain", "flunder.spec.reference")
		if err == nil && !strings.Contains(out, "FIELD: reference <string>") {
			err = fmt.Errorf("explain: %s%s", out, stderr)
		}
		return err
	})
}

// delegated calls the remote server itself: it asks kapi who the caller is and
// what it may do, and believes no header of somebody who is not kapi.
func delegated(t *testing.T, server *kapitest.Server, remote *wardle, ca *authority) {
	client := server.Client(t)
	if _, err := client.CoreV1().ServiceAccounts("wardle").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "caller"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	direct := &rest.Config{Host: "https://" + remote.address, TLSClientConfig: rest.TLSClientConfig{CAData: ca.PEM}}
	const path = "/apis/wardle.example.com/v1alpha1/namespaces/wardle/flunders"
	if code, body, _ := get(t, direct, path, "X-Remote-User", "kapi-admin", "X-Remote-Group", "system:masters"); code != http.StatusForbidden || !strings.Contains(body, "system:anonymous") {
		t.Errorf("forged headers: %d %s", code, body)
	}
	caller := rest.CopyConfig(direct)
	caller.BearerToken = "wrong"
	if code, body, _ := get(t, caller, path); code != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d %s", code, body)
	}
	caller.BearerToken = newToken(t, server, "wardle", "caller")
	if code, body, _ := get(t, caller, path); code != http.StatusForbidden || !strings.Contains(body, "system:serviceaccount:wardle:caller") {
		t.Errorf("a caller without a role: %d %s", code, body)
	}
	allow(t, client, "wardle", "system:serviceaccount:wardle:caller", rbacv1.PolicyRule{
		Verbs: []string{"list"}, APIGroups: []string{"wardle.example.com"}, Resources: []string{"flunders"},
	})
	// Refusals are remembered by the remote server for some seconds.
	await(t, "a caller with a role may list", func(context.Context) bool {
		code, _, _ := get(t, caller, path)
		return code == http.StatusOK
	})
	// The same caller through kapi: here it is the header that says who it is.
	if code, body, _ := get(t, withToken(t, server, caller.BearerToken), path); code != http.StatusOK {
		t.Errorf("through kapi: %d %s", code, body)
	}
}

// stopAndStart: a server that is away is a 503 with a reason, and comes back.
func stopAndStart(t *testing.T, server *kapitest.Server, remote *wardle) {
	config := server.Config(t)
	const path = "/apis/wardle.example.com/v1alpha1/flunders"
	remote.stop()
	code, body, _ := get(t, config, path)
	if code != http.StatusServiceUnavailable {
		t.Errorf("right after the stop: %d %s", code, body)
	}
	message := awaitAvailable(t, server, wardleAPI, apiregistrationv1.ConditionFalse, "FailedDiscoveryCheck")
	if !strings.Contains(message, "connection refused") || !strings.Contains(message, remote.address) {
		t.Errorf("message: %s", message)
	}
	if code, body, _ := get(t, config, path); code != http.StatusServiceUnavailable {
		t.Errorf("while it is not available: %d %s", code, body)
	}
	// It takes nothing else along.
	if code, body, _ := get(t, config, "/readyz"); code != http.StatusOK {
		t.Errorf("/readyz: %d %s", code, body)
	}
	remote.start(t)
	awaitAvailable(t, server, wardleAPI, apiregistrationv1.ConditionTrue, "Passed")
	if code, body, _ := get(t, config, path); code != http.StatusOK || !strings.Contains(body, `"by-kubectl"`) {
		t.Errorf("after the start: %d %s", code, body)
	}
}
