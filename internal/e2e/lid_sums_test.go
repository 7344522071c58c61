package e2e_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

const (
	sumClients  = 50
	sumRequests = 200 // of each client
)

// sums are the counts of all filters and layers between two requests.
type sums struct {
	filters []v1alpha1.Filter
	layers  map[string]v1alpha1.ServerLayerStatus
}

// atRest reads the counts at a moment at which nothing but the reading happens:
// what the filters have counted is read before and after the layers.
func atRest(t testing.TB, l lid) sums {
	t.Helper()
	var s sums
	eventually(t, func(ctx context.Context) error {
		before, err := listAll[v1alpha1.Filter](ctx, l, "filters", metav1.ListOptions{})
		if err != nil {
			return err
		}
		layers, err := listAll[v1alpha1.ServerLayer](ctx, l, "serverlayers", metav1.ListOptions{})
		if err != nil {
			return err
		}
		if s.filters, err = listAll[v1alpha1.Filter](ctx, l, "filters", metav1.ListOptions{}); err != nil {
			return err
		}
		for i, filter := range s.filters {
			if was := before[i].Status; filter.Spec.Enabled && (filter.Status.Requests != was.Requests+2 || filter.Status.PassedOn != was.PassedOn+2) {
				return fmt.Errorf("filter %s has got %d requests, where it was to be 2", filter.Name, filter.Status.Requests-was.Requests)
			}
		}
		s.layers = map[string]v1alpha1.ServerLayerStatus{}
		for _, layer := range layers {
			s.layers[layer.Name] = layer.Status
		}
		return nil
	})
	return s
}

func (s sums) filter(name string) v1alpha1.FilterStatus {
	for _, filter := range s.filters {
		if filter.Name == name {
			return filter.Status
		}
	}
	return v1alpha1.FilterStatus{}
}

func total(counts []v1alpha1.StatusCount) (sum int64) {
	for _, count := range counts {
		sum += count.Count
	}
	return sum
}

func ofCode(counts []v1alpha1.StatusCount, code int32) int64 {
	for _, count := range counts {
		if count.Code == code {
			return count.Count
		}
	}
	return 0
}

// check adds up: every request has entered the outermost filter, and each that is
// over was ended by one filter, answered by one layer, or given up.
func (s sums) check(t *testing.T) {
	t.Helper()
	var outermost *v1alpha1.FilterStatus
	var terminated, answered int64
	for i := range s.filters {
		filter := &s.filters[i]
		if !filter.Spec.Enabled {
			continue
		}
		status := &filter.Status
		here := total(status.Terminated)
		if status.Requests != status.PassedOn+here+status.Abandoned+status.InFlight {
			t.Errorf("filter %s does not add up: %+v", filter.Name, *status)
		}
		if outermost == nil {
			outermost = status
		}
		terminated += here
	}
	for name, layer := range s.layers {
		if layer.RequestsReceived != layer.RequestsAnswered+layer.RequestsPassedOn+layer.RequestsAbandoned+layer.RequestsInFlight {
			t.Errorf("layer %s does not add up: %+v", name, layer)
		}
		if total(layer.Answers) != layer.RequestsAnswered {
			t.Errorf("layer %s has answered %d, by code %+v", name, layer.RequestsAnswered, layer.Answers)
		}
		answered += layer.RequestsAnswered
	}
	// The filters were read by one request more: the one that has read the layers.
	if over := outermost.Requests - outermost.InFlight - 1; answered+terminated+outermost.Abandoned != over {
		t.Errorf("answered %d + terminated %d + given up %d = %d, but %d requests are over",
			answered, terminated, outermost.Abandoned, answered+terminated+outermost.Abandoned, over)
	}
}

// TestSums sends ten thousand requests of all kinds from many clients at once, and
// adds up what filters and layers say of them: nothing is lost, nothing counted twice.
func TestSums(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t)
	client, l := server.Client(t), newLid(t, server.Config(t))
	define(t, server, decode[apiextensionsv1.CustomResourceDefinition](t, `
metadata: {name: coins.sums.e2e.test}
spec:
  group: sums.e2e.test
  scope: Namespaced
  names: {plural: coins, singular: coin, kind: Coin, listKind: CoinList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`))
	allow(t, client, "default", "adder", rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"", "sums.e2e.test"}, Resources: []string{"configmaps", "coins"}})
	await(t, "rules in force", func(context.Context) bool {
		_, status := raw{method: "GET", path: "/api/v1/namespaces/default/configmaps", as: "adder"}.send(t, server.Config(t))
		return status == http.StatusOK
	})
	before := atRest(t, l)
	before.check(t)

	began := time.Now()
	tally := flood(t, server)
	t.Logf("%d requests in %s: %v", sumClients*sumRequests, time.Since(began).Round(time.Millisecond), tally.statuses)

	after := atRest(t, l)
	after.check(t)
	if outermost := after.filters[0].Status.Requests - before.filters[0].Status.Requests; outermost < sumClients*sumRequests {
		t.Errorf("%d requests have entered the chain", outermost)
	}
	// What only the clients of this test meet is counted as often as they met it.
	for _, one := range []struct {
		filter string
		code   int32
		met    int64
	}{
		{"authentication", 401, tally.statuses[401]}, {"authorization", 403, tally.statuses[403]},
		{"request-deadline", 400, tally.marked["deadline 400"]}, {"timeout", 504, tally.statuses[504]},
	} {
		counted := ofCode(after.filter(one.filter).Terminated, one.code) - ofCode(before.filter(one.filter).Terminated, one.code)
		if one.code == http.StatusGatewayTimeout {
			// Whose time is over at once may also hear it from a layer that is quicker than the filter.
			for name := range after.layers {
				counted += ofCode(after.layers[name].Answers, one.code) - ofCode(before.layers[name].Answers, one.code)
			}
		}
		if counted != one.met || one.met == 0 {
			t.Errorf("filter %s has ended %d with %d, the clients met %d", one.filter, counted, one.code, one.met)
		}
	}
	missing := ofCode(after.layers["not-found"].Answers, 404) - ofCode(before.layers["not-found"].Answers, 404)
	if met := tally.marked["unknown 404"]; missing != met || met == 0 {
		t.Errorf("the end of the chain has answered %d times, %d requests were for unknown paths", missing, met)
	}
	for name, layer := range after.layers {
		if layer.RequestsAnswered <= before.layers[name].RequestsAnswered {
			t.Errorf("layer %s has answered nothing", name)
		}
	}
}

// tally is what all clients together have met.
type tally struct {
	mu       sync.Mutex
	statuses map[int]int64
	marked   map[string]int64 // answers to kinds of requests that are counted on their own
}

func (s *tally) add(status int, mark string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statuses[status]++
	if status != 0 {
		s.marked[mark+" "+strconv.Itoa(status)]++
	}
}

// flood sends all requests: half of the clients by HTTP/1.1, half by HTTP/2.
func flood(t *testing.T, server *kapitest.Server) *tally {
	t.Helper()
	met := &tally{statuses: map[int]int64{}, marked: map[string]int64{}}
	var clients sync.WaitGroup
	for n := range sumClients {
		config := server.Config(t)
		if n%2 == 0 {
			config.NextProtos = []string{"http/1.1"}
		}
		// A connection for each client: clients with equal configurations share one.
		config.Dial = new(net.Dialer).DialContext
		own, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		nobody := &http.Client{Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: n%2 == 1,
		}}
		t.Cleanup(own.CloseIdleConnections)
		t.Cleanup(nobody.CloseIdleConnections)
		clients.Go(func() {
			one := flooder{t: t, host: config.Host, known: own, unknown: nobody, random: rand.New(rand.NewPCG(3, uint64(n))), name: fmt.Sprintf("sum-%d", n), met: met}
			for range sumRequests {
				one.step()
			}
		})
	}
	clients.Wait()
	return met
}

// flooder is one client.
type flooder struct {
	t              *testing.T
	host, name     string
	known, unknown *http.Client
	random         *rand.Rand
	met            *tally
}

const (
	sumMaps  = "/api/v1/namespaces/default/configmaps"
	sumCoins = "/apis/sums.e2e.test/v1/namespaces/default/coins"
)

// step sends a request of some kind.
func (f *flooder) step() {
	configMap := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + f.name + `"}}`
	coin := `{"apiVersion":"sums.e2e.test/v1","kind":"Coin","metadata":{"name":"` + f.name + `"}}`
	kinds := []struct {
		method, path, body string
		as                 string
		token              bool // one of no use in place of the certificate
		watch              bool
		mark               string
	}{
		{method: "GET", path: sumMaps + "/" + f.name, as: "adder"},
		{method: "GET", path: sumMaps + "?limit=5"},
		{method: "POST", path: sumMaps, body: configMap},
		{method: "PUT", path: sumMaps + "/" + f.name, body: configMap, as: "adder"},
		{method: "DELETE", path: sumMaps + "/" + f.name},
		{method: "POST", path: sumMaps, body: `{"metadata":{"name":"Not_A_Name"}}`},
		{method: "POST", path: sumMaps, body: `{`},
		{method: "GET", path: sumMaps + "?watch=true", watch: true},
		{method: "GET", path: sumMaps + "?watch=true&timeoutSeconds=0&resourceVersion=1", watch: true},
		{method: "POST", path: sumCoins, body: coin},
		{method: "GET", path: sumCoins},
		{method: "GET", path: sumCoins + "/" + f.name, as: "adder"},
		{method: "DELETE", path: sumCoins + "/" + f.name},
		{method: "GET", path: "/apis/inspect.kapi.dev/v1alpha1/filters"},
		{method: "GET", path: "/apis/inspect.kapi.dev/v1alpha1/filters/none"},
		{method: "GET", path: "/apis"},
		{method: "GET", path: "/version"},
		{method: "GET", path: "/livez/ping", token: true},
		{method: "GET", path: "/apis/none.e2e.test/v1/things", mark: "unknown"},
		{method: "GET", path: "/nothing/here", mark: "unknown"},
		{method: "GET", path: "/api/v1/none"},
		{method: "GET", path: "/api/v1/secrets", as: "adder"},
		{method: "GET", path: "/nothing", as: "adder"},
		{method: "GET", path: "/api/v1/namespaces", token: true},
		{method: "GET", path: sumMaps + "?timeout=soon", mark: "deadline"},
		{method: "GET", path: sumMaps + "?timeout=1ns"},
		{method: "POST", path: "/apis/none.e2e.test/v1/things", body: "{}", mark: "unknown"},
	}
	kind := kinds[f.random.IntN(len(kinds))]
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, kind.method, f.host+kind.path, strings.NewReader(kind.body))
	if err != nil {
		f.t.Error(err)
		return
	}
	if kind.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	client := f.known
	if kind.token {
		client = f.unknown
		request.Header.Set("Authorization", "Bearer of-no-use")
	}
	if kind.as != "" {
		request.Header.Set("Impersonate-User", kind.as)
	}
	response, err := client.Do(request)
	if err != nil {
		// A time limit may end a request after its answer was begun: then the connection is closed.
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			f.t.Logf("%s %s: %v", kind.method, kind.path, err)
		}
		f.met.add(0, kind.mark)
		return
	}
	defer response.Body.Close()
	f.met.add(response.StatusCode, kind.mark)
	if kind.watch && response.StatusCode == http.StatusOK {
		_, _ = response.Body.Read(make([]byte, 1))
		cancel() // in the middle of it
		return
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		f.t.Logf("%s %s: reading the answer: %v", kind.method, kind.path, err)
	}
}
