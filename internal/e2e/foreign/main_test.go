package foreign_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/client/inspection/foreign"
	"github.com/kapi-dev/kapi/internal/kapitest/peer"
)

func TestMain(m *testing.M) { peer.Main(m) }

// wait is for what the server does in its own time.
const wait = 90 * time.Second

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	bindings    = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}
	widgets     = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
)

// lab is the one server of this package.
type lab struct {
	config  *rest.Config
	dynamic dynamic.Interface
	server  *foreign.Server
}

// newLab starts the server with a definition, an object of it, an APIService whose
// service does not exist, and mona, who may read metrics.
func newLab(t *testing.T) *lab {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and starts etcd and kube-apiserver")
	}
	l := &lab{config: peer.Start(t).Config(t)}
	var err error
	if l.dynamic, err = dynamic.NewForConfig(l.config); err != nil {
		t.Fatal(err)
	}
	l.server = newServer(t, l.config)
	l.create(t, definitions, "", map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": []any{"wd"}},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	})
	l.create(t, apiServices, "", map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": "v1.broken.example.com"},
		"spec": map[string]any{
			"group": "broken.example.com", "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": "default", "name": "none"},
		},
	})
	l.create(t, widgets, "default", map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "one"},
	})
	l.create(t, bindings, "", map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": "mona"},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:monitoring"},
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "mona"}},
	})
	return l
}

func newServer(t *testing.T, config *rest.Config) *foreign.Server {
	t.Helper()
	server, err := foreign.New(config)
	if err != nil {
		t.Fatal(err)
	}
	server.Period = 50 * time.Millisecond
	return server
}

// as is the same server for somebody else.
func (l *lab) as(t *testing.T, user string, groups ...string) *foreign.Server {
	t.Helper()
	config := rest.CopyConfig(l.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return newServer(t, config)
}

// create tries until the server knows the resource.
func (l *lab) create(t *testing.T, resource schema.GroupVersionResource, namespace string, object map[string]any) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		_, err := l.dynamic.Resource(resource).Namespace(namespace).Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
		return err
	})
}

// eventually tries until there is no error.
func eventually(t *testing.T, try func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-poll.C:
		}
	}
}

// fetch returns the body of an answer of 200.
func fetch(ctx context.Context, client *http.Client, url, accept string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}
