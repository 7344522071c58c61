package informers

import (
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

const (
	// askAgain is how old an answer about the served APIs may be when nothing has
	// changed that this server knows of: an aggregated server may have changed.
	askAgain = 30 * time.Second
	// unsettled is for how long after a change discovery may still say something new.
	unsettled = 15 * time.Second
	// FollowEvery is how often the garbage collector and quotas look for new
	// resources. As a rule they get the answer of the time before, so looking costs
	// next to nothing; kube-controller-manager asks every 30 s and pays each time.
	// For both it is also the time after which they say that new informers are slow
	// to fill; they go on all the same.
	FollowEvery = 5 * time.Second
)

// Served are the resources that the server serves, as discovery says. Its answers
// are kept until something has changed, and shared: nobody may change them.
type Served struct {
	discovery.CachedDiscoveryInterface
	answered func(now map[schema.GroupVersionResource]bool, changed bool)

	// refreshing lets one ask at a time.
	refreshing sync.Mutex

	mu        sync.Mutex
	lists     []*metav1.APIResourceList
	err       error
	all       map[schema.GroupVersionResource]bool
	asked     time.Time
	changedAt time.Time
	stopped   bool
}

// NewServed returns what is served, for a client whose cache becomes that of the
// answers. answered is told of each answer, and whether it is another than the one
// before; it is called by those who ask.
func NewServed(client discovery.CachedDiscoveryInterface, answered func(now map[schema.GroupVersionResource]bool, changed bool)) *Served {
	return &Served{CachedDiscoveryInterface: client, answered: answered}
}

// Changed is called when the served APIs may have changed.
func (s *Served) Changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changedAt = time.Now()
}

// Stop makes the last answer the last one.
func (s *Served) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
}

// ServerPreferredResources returns the resources in the version that the server
// prefers. As in client-go, there may be resources beside an error.
func (s *Served) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	if lists, err, fresh := s.known(); fresh {
		return lists, err
	}
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	if lists, err, fresh := s.known(); fresh {
		return lists, err // somebody has asked meanwhile
	}
	if err := s.ask(); err != nil {
		return nil, err
	}
	lists, err, _ := s.known()
	return lists, err
}

// known returns the last answer, and whether it can stand for a new one.
func (s *Served) known() (lists []*metav1.APIResourceList, err error, fresh bool) { //nolint:revive // the error is a part of the answer
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh = s.stopped || time.Since(s.asked) < askAgain && time.Since(s.changedAt) > unsettled
	return s.lists, s.err, fresh
}

// ServerPreferredNamespacedResources returns those that are in namespaces.
func (s *Served) ServerPreferredNamespacedResources() ([]*metav1.APIResourceList, error) {
	lists, err := s.ServerPreferredResources()
	return discovery.FilteredBy(discovery.ResourcePredicateFunc(func(_ string, r *metav1.APIResource) bool {
		return r.Namespaced
	}), lists), err
}

// Has tells whether a resource is served, in any version.
func (s *Served) Has(r schema.GroupVersionResource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[r]
}

// Refresh asks. It returns an error if there is no answer at all.
func (s *Served) Refresh() error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	return s.ask()
}

// ask asks, with refreshing locked.
func (s *Served) ask() error {
	asked := time.Now()
	s.Invalidate()
	_, every, err := s.ServerGroupsAndResources()
	failed, partly := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partly {
		// Not kept: whoever looks next asks again.
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = time.Time{}
		return err
	}
	lists, err := s.CachedDiscoveryInterface.ServerPreferredResources()
	all := resourcesOf(every)
	s.mu.Lock()
	for r := range s.all {
		if _, unknown := failed[r.GroupVersion()]; unknown {
			all[r] = true // it may be there still
		}
	}
	changed := !maps.Equal(all, s.all)
	s.mu.Unlock()
	// First this: who sees a resource that is back must get a new informer of it.
	s.answered(all, changed)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists, s.err, s.asked, s.all = lists, err, asked, all
	return nil
}

func resourcesOf(lists []*metav1.APIResourceList) map[schema.GroupVersionResource]bool {
	all := map[schema.GroupVersionResource]bool{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range list.APIResources {
			all[version.WithResource(r.Name)] = true
		}
	}
	return all
}
