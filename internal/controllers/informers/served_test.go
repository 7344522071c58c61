package informers

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// server answers discovery, and counts how often it is asked.
type server struct {
	discovery.CachedDiscoveryInterface
	mu    sync.Mutex
	names []string
	err   error
	asked int
}

func (s *server) set(err error, names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names, s.err = names, err
}

func (s *server) Invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
}

func (s *server) lists() ([]*metav1.APIResourceList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.names) == 0 {
		return nil, s.err
	}
	list := &metav1.APIResourceList{GroupVersion: "a.example/v1"}
	for i, name := range s.names {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: name, Namespaced: i%2 == 0})
	}
	return []*metav1.APIResourceList{list}, s.err
}

func (s *server) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	lists, err := s.lists()
	return nil, lists, err
}

func (s *server) ServerPreferredResources() ([]*metav1.APIResourceList, error) { return s.lists() }

func named(lists []*metav1.APIResourceList) []string {
	var names []string
	for _, list := range lists {
		for _, r := range list.APIResources {
			names = append(names, r.Name)
		}
	}
	return names
}

func resource(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "a.example", Version: "v1", Resource: name}
}

func TestServedIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{names: []string{"apples", "pears"}}
		var answers, changes int
		served := NewServed(s, func(_ map[schema.GroupVersionResource]bool, changed bool) {
			answers++
			if changed {
				changes++
			}
		})
		if err := served.Refresh(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		for range 10 {
			lists, err := served.ServerPreferredResources()
			if got := named(lists); err != nil || !slices.Equal(got, []string{"apples", "pears"}) {
				t.Fatal(got, err)
			}
		}
		if s.asked != 1 || answers != 1 || changes != 1 {
			t.Errorf("asked %d times, with %d answers and %d changes", s.asked, answers, changes)
		}
		if lists, err := served.ServerPreferredNamespacedResources(); err != nil || !slices.Equal(named(lists), []string{"apples"}) {
			t.Error(named(lists), err)
		}

		// Something has changed: what is new is seen at the next look, also if
		// discovery was slow to say it.
		served.Changed()
		if _, err := served.ServerPreferredResources(); err != nil || s.asked != 2 {
			t.Fatalf("asked %d times, %v", s.asked, err)
		}
		s.set(nil, "apples", "pears", "plums")
		if lists, _ := served.ServerPreferredResources(); len(named(lists)) != 3 || !served.Has(resource("plums")) {
			t.Fatal("plums were not seen: ", named(lists))
		}
		if changes != 2 {
			t.Errorf("%d changes", changes)
		}

		// Without a change, it is asked again after a while.
		time.Sleep(unsettled + time.Second)
		before := s.asked
		_, _ = served.ServerPreferredResources()
		if s.asked != before {
			t.Error("asked again at once")
		}
		time.Sleep(askAgain)
		_, _ = served.ServerPreferredResources()
		if s.asked != before+1 {
			t.Error("not asked again")
		}

		served.Stop()
		time.Sleep(time.Hour)
		if lists, _ := served.ServerPreferredResources(); len(named(lists)) != 3 || s.asked != before+1 {
			t.Error("asked after the end")
		}
	})
}

// TestServedPartly: a group whose server does not answer is not one that is gone.
func TestServedPartly(t *testing.T) {
	s := &server{names: []string{"apples"}}
	var now map[schema.GroupVersionResource]bool
	served := NewServed(s, func(all map[schema.GroupVersionResource]bool, _ bool) { now = all })
	if err := served.Refresh(); err != nil {
		t.Fatal(err)
	}
	s.set(&discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{resource("").GroupVersion(): errors.New("dead")}}, "pears")
	if err := served.Refresh(); err != nil {
		t.Fatal(err)
	}
	if !now[resource("apples")] || !now[resource("pears")] {
		t.Error(now)
	}
	if _, err := served.ServerPreferredResources(); err == nil {
		t.Error("the failure was not handed on")
	}
	s.set(nil, "pears")
	if err := served.Refresh(); err != nil {
		t.Fatal(err)
	}
	if now[resource("apples")] || served.Has(resource("apples")) {
		t.Error("apples are still there")
	}
	s.set(errors.New("no answer"))
	if err := served.Refresh(); err == nil {
		t.Error("no error without an answer")
	}
	if lists, err := served.ServerPreferredResources(); err == nil || len(lists) > 0 {
		t.Error(lists, err)
	}
	s.set(nil, "pears")
	if lists, err := served.ServerPreferredResources(); err != nil || len(named(lists)) != 1 {
		t.Error("the failure was kept: ", named(lists), err)
	}
}
