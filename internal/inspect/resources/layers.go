package resources

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	restful "github.com/emicklei/go-restful/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
)

// layerTTL is how long a layer's answer is kept: its web services are installed
// before it serves, and change no more.
const layerTTL = 10 * time.Second

// DiscoveryOf returns a function for Layer.Discovery that asks the web services
// of one server, in process. Its delegate has a container of its own, so what is
// answered here is the server's own.
func DiscoveryOf(server *genericapiserver.GenericAPIServer) func(ctx context.Context) ([]*metav1.APIResourceList, error) {
	container := server.Handler.GoRestfulContainer
	return discoveryOf(func() []string { return rootPaths(container) }, http.HandlerFunc(container.Dispatch))
}

func rootPaths(container *restful.Container) []string {
	var paths []string
	for _, service := range container.RegisteredWebServices() {
		paths = append(paths, service.RootPath())
	}
	return paths
}

func discoveryOf(roots func() []string, handler http.Handler) func(ctx context.Context) ([]*metav1.APIResourceList, error) {
	var (
		lock  sync.Mutex
		until time.Time
		known []*metav1.APIResourceList
	)
	return func(ctx context.Context) ([]*metav1.APIResourceList, error) {
		lock.Lock()
		defer lock.Unlock()
		if time.Now().Before(until) {
			return known, nil
		}
		lists, err := askGroupVersions(ctx, roots(), handler)
		if err != nil {
			return nil, err
		}
		known, until = lists, time.Now().Add(layerTTL)
		return known, nil
	}
}

func askGroupVersions(ctx context.Context, roots []string, handler http.Handler) ([]*metav1.APIResourceList, error) {
	var lists []*metav1.APIResourceList
	for _, root := range roots {
		if !isGroupVersion(root) {
			continue
		}
		answer, err := ask(ctx, handler, root, runtime.ContentTypeJSON, "")
		if err != nil {
			return nil, err
		}
		list := &metav1.APIResourceList{}
		if err := json.Unmarshal(answer.Body.Bytes(), list); err != nil {
			return nil, fmt.Errorf("reading the resources of %s: %w", root, err)
		}
		lists = append(lists, list)
	}
	return lists, nil
}

// isGroupVersion is true for /api/VERSION and /apis/GROUP/VERSION.
func isGroupVersion(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	return (len(parts) == 2 && parts[0] == "api") || (len(parts) == 3 && parts[0] == "apis")
}
