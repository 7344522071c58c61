package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// follow runs kapi kubectl until the test ends, or stop is called, and returns
// what it prints.
func follow(t testing.TB, server *kapitest.Server, args ...string) (out *output, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out = &output{}
	cmd := kapitest.Command(ctx, t.TempDir(), append([]string{"kubectl"}, args...)...)
	cmd.Env = append(cmd.Env, "KAPI_DATADIR="+server.Dir)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		_ = cmd.Wait() // killed
	})
	t.Cleanup(stop)
	return out, stop
}

func (o *output) await(t testing.TB, want string) {
	t.Helper()
	eventually(t, func(context.Context) error {
		if text := o.String(); !strings.Contains(text, want) {
			return fmt.Errorf("%q is not in %s", want, text)
		}
		return nil
	})
}

// TestLidKubectl uses the group as a person would.
func TestLidKubectl(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	contains := func(t *testing.T, text string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	}
	t.Run("watching traces", func(t *testing.T) {
		t.Parallel()
		all, _ := follow(t, server, "get", "-w", "requesttraces", "-o", "wide")
		one, _ := follow(t, server, "get", "-w", "requesttraces", "--field-selector", "spec.path=/api/v1/watched")
		all.await(t, "ENDED-BY") // from then on it watches
		eventually(t, func(ctx context.Context) error {
			id, status := raw{method: "GET", path: "/api/v1/watched"}.send(t, server.Config(t))
			raw{method: "GET", path: "/api/v1/overlooked"}.send(t, server.Config(t))
			// Of many at once some are left out.
			if status != http.StatusNotFound || !strings.Contains(all.String(), id[:8]) || !strings.Contains(all.String(), "/api/v1/overlooked") ||
				!strings.Contains(one.String(), "/api/v1/watched") {
				return fmt.Errorf("request %s, or the one after it, is in neither of\n%s\n%s", id, all, one)
			}
			return nil
		})
		if text := one.String(); strings.Contains(text, "overlooked") {
			t.Errorf("the selected watch shows others:\n%s", text)
		}
		for line := range strings.Lines(all.String()) { // of others, which other tests are, it shows them
			if strings.Contains(line, "/apis/inspect.kapi.dev/v1alpha1/requesttraces") && strings.Contains(line, " kapi-admin ") {
				t.Errorf("the watch shows itself: %s", line)
			}
		}
	})
	t.Run("watching filters", func(t *testing.T) {
		t.Parallel()
		out, _ := follow(t, server, "get", "filters", "-w")
		out.await(t, "\nauthorization ")
		// A line more for each change.
		eventually(t, func(context.Context) error {
			raw{method: "GET", path: "/version"}.send(t, server.Config(t))
			if n := strings.Count(out.String(), "\nauthorization "); n < 3 {
				return fmt.Errorf("authorization was shown %d times", n)
			}
			return nil
		})
	})
	t.Run("explain", func(t *testing.T) {
		t.Parallel()
		contains(t, server.Run(t, "kubectl", "explain", "requesttrace.spec"), "KIND:       RequestTrace", "auditID", "<string>", "in audit logs")
		contains(t, server.Run(t, "kubectl", "explain", "routeexplanation.status.authorization"), "allowed", "<boolean>")
	})
	t.Run("describe", func(t *testing.T) {
		t.Parallel()
		contains(t, server.Run(t, "kubectl", "describe", "filter/authorization"), "Name:         authorization", "Pass", "Kind:         Filter")
	})
	t.Run("category", func(t *testing.T) {
		t.Parallel()
		text := server.Run(t, "kubectl", "get", "kapi")
		contains(t, text, "filter.inspect.kapi.dev/authorization", "serverlayer.inspect.kapi.dev/kube-apiserver", "etcdmember.inspect.kapi.dev/")
		if strings.Contains(text, "requesttrace") {
			t.Errorf("the category has what is busy:\n%s", text)
		}
	})
	t.Run("wide", func(t *testing.T) {
		t.Parallel()
		for _, kind := range kinds.All() {
			text := server.Run(t, "kubectl", "get", kind.Resource, "-o", "wide")
			head, rows, _ := strings.Cut(text, "\n")
			if text == "" && (kind.Resource == "controllers" || kind.Resource == "conditiontransitions") {
				continue // there need not be any
			}
			for _, column := range kind.Columns {
				if !strings.Contains(head, strings.ToUpper(column.Name)) {
					t.Errorf("%s has no column %s: %s", kind.Resource, column.Name, head)
				}
			}
			if strings.TrimSpace(rows) == "" {
				t.Errorf("%s is empty", kind.Resource)
			}
		}
	})
	t.Run("waiting", func(t *testing.T) {
		t.Parallel()
		contains(t, server.Run(t, "kubectl", "wait", "--for=condition=Done", "--timeout=30s", "poststarthook/rbac-bootstrap-roles"), "condition met")
		contains(t, server.Run(t, "kubectl", "wait", "--for=jsonpath={.status.state}=OK", "--timeout=30s", "healthcheck/ping"), "condition met")
	})
}

// TestTraceRate has more requests come than a watch of traces delivers: how many were
// left out is said, and the sum is right.
func TestTraceRate(t *testing.T) {
	t.Parallel()
	const clients, each = 8, 250
	const perSecond, atOnce = 20, 50
	server := kapitest.Start(t, fmt.Sprintf("--inspect-watch-rate=%d", perSecond))
	l := newLid(t, server.Config(t))
	// What happened before is delivered whole, so the watch begins now.
	now, err := l.resource("requesttraces").List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	const path = "/version"
	began := time.Now()
	watcher, err := l.resource("requesttraces").Watch(t.Context(), metav1.ListOptions{
		ResourceVersion: now.GetResourceVersion(), AllowWatchBookmarks: true, FieldSelector: "spec.path=" + path,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	host := server.Config(t).Host
	var sending sync.WaitGroup
	for range clients {
		client, err := rest.HTTPClientFor(server.Config(t))
		if err != nil {
			t.Fatal(err)
		}
		sending.Go(func() {
			for range each {
				response, err := client.Get(host + path)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		})
	}
	sending.Wait()
	delivered, leftOut := 0, 0
	for delivered+leftOut < clients*each {
		event, ok := <-watcher.ResultChan()
		if !ok || event.Type == watch.Error {
			t.Fatalf("the watch has ended after %d and %d: %+v", delivered, leftOut, event.Object)
		}
		if event.Type == watch.Added {
			delivered++
			continue
		}
		annotations := event.Object.(metav1.Object).GetAnnotations()
		if leftOut, err = strconv.Atoi(annotations["inspect.kapi.dev/left-out"]); err != nil {
			t.Fatalf("a bookmark has the annotations %v", annotations)
		}
	}
	// A slow machine sends so few in a second that a watch may deliver most of them.
	most := atOnce + 1 + int(perSecond*time.Since(began).Seconds())
	if delivered+leftOut != clients*each || delivered < atOnce || delivered > most {
		t.Errorf("%d were delivered, want %d to %d, and %d left out of %d", delivered, atOnce, most, leftOut, clients*each)
	}
}

// TestWatchAcrossRestart stops the server under a watch: the watch ends cleanly, and
// can't be resumed from the server that comes after it; a new list works.
func TestWatchAcrossRestart(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t)
	l := newLid(t, server.Config(t))
	versions := map[string]string{}
	watches := map[string]watch.Interface{}
	for _, resource := range []string{"requesttraces", "filters", "serverlayers"} {
		found, err := l.resource(resource).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		versions[resource] = found.GetResourceVersion()
		if watches[resource], err = l.resource(resource).Watch(t.Context(), metav1.ListOptions{ResourceVersion: versions[resource]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	for resource, watching := range watches {
		for event := range watching.ResultChan() {
			if event.Type == watch.Error && !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
				t.Errorf("the watch of %s has ended with %+v", resource, event.Object)
			}
		}
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	l = newLid(t, server.Config(t))
	for resource, version := range versions {
		if err := resumed(t.Context(), l, resource, version); err == nil || !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			t.Errorf("a watch of %s from before the restart: %v", resource, err)
		}
		found, err := l.resource(resource).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(found.Items) == 0 {
			t.Errorf("a list of %s: %d objects, %v", resource, len(found.Items), err)
		}
	}
}

// resumed tries to go on with a watch, and returns why it can't.
func resumed(ctx context.Context, l lid, resource, version string) error {
	watching, err := l.resource(resource).Watch(ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return err
	}
	defer watching.Stop()
	event, ok := <-watching.ResultChan()
	if !ok {
		return errors.New("it has ended without a word")
	}
	if event.Type == watch.Error {
		return apierrors.FromObject(event.Object)
	}
	return nil
}
