package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// allLayers are the layers of the server chain, outermost first.
var allLayers = []string{"aggregator", "kube-apiserver", "inspect", "apiextensions", "not-found"}

// through are the layers that a request comes through which the last of them answers.
func through(layer string) []string { return allLayers[:slices.Index(allLayers, layer)+1] }

// TestLayers asks for what each layer answers: traces name the layer and the way to
// it, and the counts of the layers agree with each other.
func TestLayers(t *testing.T) {
	t.Parallel()
	listener, ca := listen(t, "127.0.0.1"), newAuthority(t)
	serveTLS(t, listener, ca, remoteGroup("remote.layers.e2e.test"), "api.lid.svc")
	server := kapitest.Start(t, "--map-service", "lid/api:443="+listener.Addr().String())
	registerAPIService(t, server, "remote.layers.e2e.test", "v1", ca, serviceOf("api"))
	defineThings(t, server, "layers.e2e.test")
	awaitAvailable(t, server, "v1.remote.layers.e2e.test", apiregistrationv1.ConditionTrue, "Passed")
	l := newLid(t, server.Config(t))
	remote := &v1alpha1.ProxiedTo{APIService: "v1.remote.layers.e2e.test", Address: listener.Addr().String()}

	before := l.layers(t)
	asked := map[string]int64{}
	for _, test := range []struct {
		method, path string
		code         int32
		layer        string
		proxied      *v1alpha1.ProxiedTo
	}{
		{"GET", "/", 200, "aggregator", nil},
		{"GET", "/api", 200, "kube-apiserver", nil},
		{"GET", "/api/v1", 200, "kube-apiserver", nil},
		{"GET", "/apis", 200, "aggregator", nil},
		{"GET", "/apis/apps", 200, "aggregator", nil},
		{"GET", "/apis/apps/v1", 200, "kube-apiserver", nil},
		{"GET", "/api/v1/namespaces", 200, "kube-apiserver", nil},
		{"GET", "/apis/apps/v1/deployments", 200, "kube-apiserver", nil},
		{"GET", "/apis/apiregistration.k8s.io/v1/apiservices", 200, "aggregator", nil},
		{"GET", "/apis/inspect.kapi.dev/v1alpha1", 200, "inspect", nil},
		{"GET", "/apis/inspect.kapi.dev/v1alpha1/filters", 200, "inspect", nil},
		{"GET", "/apis/inspect.kapi.dev/v1alpha1/filters/nothing", 404, "inspect", nil},
		{"GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", 200, "apiextensions", nil},
		{"GET", "/apis/layers.e2e.test/v1", 200, "apiextensions", nil},
		{"GET", "/apis/layers.e2e.test/v1/things", 200, "apiextensions", nil},
		{"GET", "/apis/layers.e2e.test/v1/things/none", 404, "apiextensions", nil},
		{"GET", "/apis/remote.layers.e2e.test/v1", 200, "aggregator", remote},
		{"GET", "/apis/remote.layers.e2e.test/v1/things", 200, "aggregator", remote},
		{"GET", "/apis/layers.e2e.test/v1/unknowns", 404, "not-found", nil},
		{"GET", "/apis/unknown.e2e.test/v1/things", 404, "not-found", nil},
		{"GET", "/apis/unknown.e2e.test", 404, "not-found", nil},
		{"GET", "/no/such/path", 404, "not-found", nil},
		{"GET", "/api/v1/unknowns", 404, "kube-apiserver", nil},
		{"GET", "/healthz", 200, "aggregator", nil},
		{"GET", "/livez/ping", 200, "aggregator", nil},
		{"GET", "/readyz", 200, "aggregator", nil},
		{"GET", "/metrics", 200, "aggregator", nil},
		{"GET", "/version", 200, "aggregator", nil},
		{"GET", "/openapi/v3", 200, "aggregator", nil},
		{"GET", "/api/v1/namespaces?watch=1&timeoutSeconds=1", 200, "kube-apiserver", nil},
		{"POST", "/api/v1/namespaces/default/pods/none/exec?command=true", 404, "kube-apiserver", nil},
	} {
		auditID, status := raw{method: test.method, path: test.path}.send(t, server.Config(t))
		trace := l.trace(t, auditID)
		checkLayers(t, trace, test.layer, test.code, test.proxied)
		if status != int(test.code) {
			t.Errorf("%s %s: the client got %d", test.method, test.path, status)
		}
		asked[test.layer]++
	}
	t.Run("watch that the client ends", func(t *testing.T) {
		trace := l.trace(t, watchAndGo(t, server.Config(t), "/api/v1/namespaces?watch=1"))
		checkLayers(t, trace, "kube-apiserver", 200, nil)
		if !trace.Spec.LongRunning || trace.Status.Slow || trace.Status.Failed {
			t.Errorf("longRunning %v, slow %v, failed %v", trace.Spec.LongRunning, trace.Status.Slow, trace.Status.Failed)
		}
	})
	t.Run("upgrade", func(t *testing.T) {
		trace := l.trace(t, upgradeAndEcho(t, server.Config(t), "/apis/remote.layers.e2e.test/v1/echo"))
		checkLayers(t, trace, "aggregator", 101, remote)
		if !trace.Status.Upgraded {
			t.Error("the trace does not say that it was upgraded")
		}
	})
	asked["kube-apiserver"]++
	asked["aggregator"]++
	l.layersAgree(t, before, asked)
}

// checkLayers holds a trace to the layer that answers.
func checkLayers(t *testing.T, trace *v1alpha1.RequestTrace, layer string, code int32, proxied *v1alpha1.ProxiedTo) {
	t.Helper()
	name, status := trace.Spec.Method+" "+trace.Spec.Path, trace.Status
	var hops []string
	for i, hop := range status.Hops {
		hops = append(hops, hop.Layer)
		if hop.PassedOn != (i < len(status.Hops)-1) {
			t.Errorf("%s: hop into %s: passedOn %v", name, hop.Layer, hop.PassedOn)
		}
	}
	if status.AnsweredBy != layer || !slices.Equal(hops, through(layer)) {
		t.Errorf("%s: answered by %q after %q, want %q after %q", name, status.AnsweredBy, hops, layer, through(layer))
	}
	if want := (v1alpha1.EndedBy{Kind: v1alpha1.EndedByLayer, Name: layer}); status.Code != code || status.TerminatedBy != want {
		t.Errorf("%s: %d by %+v, want %d by %+v", name, status.Code, status.TerminatedBy, code, want)
	}
	if (status.ProxiedTo == nil) != (proxied == nil) || proxied != nil && *status.ProxiedTo != *proxied {
		t.Errorf("%s: proxied to %+v, want %+v", name, status.ProxiedTo, proxied)
	}
}

// watchAndGo watches until something comes, goes away, and returns the audit ID.
func watchAndGo(t *testing.T, config *rest.Config, path string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, id := prepared(ctx, t, config.Host+path)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if line, err := bufio.NewReader(response.Body).ReadString('\n'); err != nil {
		t.Fatalf("watch: %v %s", err, line)
	}
	return id
}

// upgradeAndEcho takes the connection over for another protocol, and returns the audit ID.
func upgradeAndEcho(t *testing.T, config *rest.Config, path string) string {
	t.Helper()
	config = rest.CopyConfig(config)
	config.NextProtos = []string{"http/1.1"} // HTTP/2 has no upgrade
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, id := prepared(t.Context(), t, config.Host+path)
	request.Header.Set("Connection", "Upgrade")
	request.Header.Set("Upgrade", "echo")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	conn, ok := response.Body.(io.ReadWriter)
	if response.StatusCode != http.StatusSwitchingProtocols || !ok {
		t.Fatalf("upgrade: %s", response.Status)
	}
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("echo: %v %q", err, line)
	}
	return id
}

func prepared(ctx context.Context, t *testing.T, url string) (request *http.Request, auditID string) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	auditID = uuid.NewString()
	request.Header.Set("Audit-ID", auditID)
	return request, auditID
}

// layers returns what each layer has counted, outermost first.
func (l lid) layers(t testing.TB) []v1alpha1.ServerLayer {
	t.Helper()
	layers, err := l.listLayers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return layers
}

func (l lid) listLayers(ctx context.Context) ([]v1alpha1.ServerLayer, error) {
	list, err := l.resource("serverlayers").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	layers := make([]v1alpha1.ServerLayer, len(list.Items))
	for i, item := range list.Items {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &layers[i]); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(layers, func(a, b v1alpha1.ServerLayer) int { return int(a.Spec.Order - b.Spec.Order) })
	return layers, nil
}

// layersAgree waits for a moment at which nothing changes: then what a layer has
// passed on is what the next one has got, and each has answered at least what was
// asked since before; the last one, which nobody else asks, exactly that.
func (l lid) layersAgree(t *testing.T, before []v1alpha1.ServerLayer, asked map[string]int64) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		layers, err := l.listLayers(ctx)
		if err != nil {
			return err
		}
		var names []string
		for i, layer := range layers {
			names = append(names, layer.Name)
			s := layer.Status
			if s.RequestsReceived != s.RequestsAnswered+s.RequestsPassedOn+s.RequestsAbandoned+s.RequestsInFlight || s.RequestsInFlight < 0 {
				t.Errorf("layer %s: the parts do not add up: %+v", layer.Name, s)
			}
			var answers int64
			for _, one := range s.Answers {
				answers += one.Count
			}
			if answers != s.RequestsAnswered {
				t.Errorf("layer %s: %d answers by code, %d in all", layer.Name, answers, s.RequestsAnswered)
			}
			if i > 0 && layers[i-1].Status.RequestsPassedOn+s.RequestsInFlight != s.RequestsReceived {
				return fmt.Errorf("layer %s received %d, %d of them are in flight, and was passed on %d", layer.Name, s.RequestsReceived, s.RequestsInFlight, layers[i-1].Status.RequestsPassedOn)
			}
			more := s.RequestsAnswered - before[i].Status.RequestsAnswered
			if more < asked[layer.Name] || layer.Name == "not-found" && more != asked[layer.Name] {
				return fmt.Errorf("layer %s has answered %d more, %d were asked for", layer.Name, more, asked[layer.Name])
			}
			if delegate := strings.Join(allLayers[i+1:min(i+2, len(allLayers))], ""); layer.Spec.Delegate != delegate {
				t.Errorf("layer %s has delegate %q, want %q", layer.Name, layer.Spec.Delegate, delegate)
			}
		}
		if !slices.Equal(names, allLayers) {
			t.Errorf("layers %q, want %q", names, allLayers)
		}
		return nil
	})
	if proxied := l.layers(t)[0].Status.RequestsProxied - before[0].Status.RequestsProxied; proxied < 3 {
		t.Errorf("%d requests were proxied, at least 3 were asked for", proxied)
	}
}
