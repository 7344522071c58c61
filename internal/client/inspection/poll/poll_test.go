package poll_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/poll"
)

func check(name string, state v1alpha1.HealthState) kinds.Object {
	return &v1alpha1.HealthCheck{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1alpha1.HealthCheckStatus{State: state}}
}

// script lists what it is given, one after the other, and then an error.
type script struct {
	mu    sync.Mutex
	lists [][]kinds.Object
	err   error
}

func (s *script) list(context.Context) ([]kinds.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lists) == 0 {
		return nil, s.err
	}
	next := s.lists[0]
	s.lists = s.lists[1:]
	return next, nil
}

func collect(t *testing.T, w watch.Interface) []string {
	t.Helper()
	var got []string
	for event := range w.ResultChan() {
		switch object := event.Object.(type) {
		case *v1alpha1.HealthCheck:
			got = append(got, fmt.Sprintf("%s %s %s", event.Type, object.Name, object.Status.State))
		case *metav1.Status:
			got = append(got, fmt.Sprintf("%s %d %s", event.Type, object.Code, object.Message))
		}
	}
	return got
}

func TestWatch(t *testing.T) {
	first := []kinds.Object{check("ping", v1alpha1.HealthOK), check("etcd", v1alpha1.HealthOK)}
	from, err := poll.Of(first)
	if err != nil {
		t.Fatal(err)
	}
	first[0].SetName("whoever has the list may change it")
	s := &script{err: errors.New("connection refused"), lists: [][]kinds.Object{
		{check("ping", v1alpha1.HealthOK), check("etcd", v1alpha1.HealthFailed)},
		{check("ping", v1alpha1.HealthOK), check("etcd", v1alpha1.HealthFailed)},
		{check("log", v1alpha1.HealthOK), check("etcd", v1alpha1.HealthOK)},
		{},
	}}
	w := poll.Watch(t.Context(), time.Millisecond, from, s.list)
	defer w.Stop()
	want := []string{
		"MODIFIED etcd Failed",
		"ADDED log OK", "MODIFIED etcd OK", "DELETED ping OK",
		"DELETED log OK", "DELETED etcd OK",
		"ERROR 503 connection refused",
	}
	if got := collect(t, w); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWatchKeepsTheServersStatus(t *testing.T) {
	kind, _ := kinds.ByName("health")
	s := &script{err: fmt.Errorf("listing: %w", apierrors.NewForbidden(inspection.GroupResource(kind), "", errors.New("no")))}
	w := poll.Watch(t.Context(), time.Hour, poll.Snapshot{}, s.list)
	event, ok := <-w.ResultChan()
	if err := apierrors.FromObject(event.Object); !ok || event.Type != watch.Error || !apierrors.IsForbidden(err) {
		t.Errorf("got %v %v, want Forbidden", event.Type, err)
	}
	if _, more := <-w.ResultChan(); more {
		t.Error("the watch goes on after its error")
	}
	w.Stop()
}

// A watch ends although nobody reads it, and Stop may be called twice.
func TestStop(t *testing.T) {
	s := &script{lists: [][]kinds.Object{{check("ping", v1alpha1.HealthOK)}}}
	w := poll.Watch(t.Context(), time.Hour, poll.Snapshot{}, s.list)
	w.Stop()
	w.Stop()
	for event := range w.ResultChan() {
		t.Errorf("got %s after the end", event.Type)
	}
}

func TestMemory(t *testing.T) {
	const checks = "healthchecks"
	var memory poll.Memory
	remember := func(resource string, objects ...kinds.Object) string {
		version, err := memory.Remember(resource, objects)
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	one := remember(checks, check("ping", v1alpha1.HealthOK))
	for range 3 {
		remember(checks)
		for range 10 {
			remember("others") // they take no room from checks
		}
	}
	snapshot, err := memory.Recall(checks, one)
	if err != nil {
		t.Fatal(err)
	}
	if events := poll.Changes(snapshot, poll.Snapshot{}); len(events) != 1 || events[0].Type != watch.Deleted {
		t.Errorf("got %v, want that one object is gone", events)
	}
	other := remember("others")
	remember(checks)
	for _, version := range []string{one, other, "no such version"} {
		if _, err := memory.Recall(checks, version); !apierrors.IsResourceExpired(err) {
			t.Errorf("recalling %q: %v, want Expired", version, err)
		}
	}
	for _, version := range []string{"", "0"} {
		if snapshot, err := memory.Recall(checks, version); err != nil || len(poll.Changes(poll.Snapshot{}, snapshot)) != 0 {
			t.Errorf("recalling %q: %v, want an empty list", version, err)
		}
	}
}
