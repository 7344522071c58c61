package informers

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// api answers lists of config maps and pods, and holds watches open.
type api struct {
	mu       sync.Mutex
	requests []string
	watching int
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	watch := r.URL.Query().Get("watch") != ""
	a.mu.Lock()
	a.requests = append(a.requests, r.URL.Path+" "+r.URL.Query().Get("fieldSelector"))
	a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if watch {
		if r.URL.Query().Get("sendInitialEvents") != "" {
			w.WriteHeader(http.StatusUnprocessableEntity) // as a server without it: list instead
			return
		}
		a.mu.Lock()
		a.watching++
		a.mu.Unlock()
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.watching--
		return
	}
	meta := metav1.ObjectMeta{Name: "one", Namespace: "ns", UID: "1", Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "1"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}, OwnerReferences: []metav1.OwnerReference{{Name: "o"}}}
	var list any
	switch {
	case strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList"):
		list = metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
			ListMeta: metav1.ListMeta{ResourceVersion: "1"},
			Items:    []metav1.PartialObjectMetadata{{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}, ObjectMeta: meta}}}
	default:
		list = corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{ResourceVersion: "1"},
			Items: []corev1.Pod{{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: "n"}}}}
	}
	_ = json.NewEncoder(w).Encode(list)
}

func (a *api) watches() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.watching
}

func newSet(t *testing.T) (*Set, *api) {
	t.Helper()
	a := &api{}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	set, err := New(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return set, a
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !is() {
		select {
		case <-deadline:
			t.Fatal("waited in vain until " + what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func core(name string) schema.GroupVersionResource {
	return corev1.SchemeGroupVersion.WithResource(name)
}

// TestWholeAndPartial: pods are whole since a controller asked for them by type, and
// Endpoints since they were required; all others are metadata.
func TestWholeAndPartial(t *testing.T) {
	set, a := newSet(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pods := set.Typed.Core().V1().Pods().Informer()
	if err := set.Require(core("endpoints")); err != nil {
		t.Fatal(err)
	}
	if set.whole[core("pods")] || !set.whole[core("endpoints")] {
		t.Error("whole before the start: ", set.whole)
	}
	set.Start(ctx.Done())
	if !set.whole[core("pods")] || !set.whole[core("endpoints")] || set.whole[core("configmaps")] {
		t.Error("whole: ", set.whole)
	}
	got, err := set.ForResource(core("pods"))
	if err != nil || got.Informer().GetStore() != pods.GetStore() {
		t.Error("pods are watched twice, ", err)
	}
	maps, err := set.ForResource(core("configmaps"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := set.ForResource(core("configmaps"))
	if err != nil || again.Informer() != maps.Informer() {
		t.Error("config maps are watched twice, ", err)
	}
	set.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), pods.HasSynced, maps.Informer().HasSynced) {
		t.Fatal("not synced")
	}
	pod, ok := pods.GetStore().List()[0].(*corev1.Pod)
	if !ok || pod.Spec.NodeName != "n" || pod.Labels["l"] != "1" || pod.ManagedFields != nil {
		t.Errorf("pod %+v", pod)
	}
	object, ok := maps.Informer().GetStore().List()[0].(*metav1.PartialObjectMetadata)
	if !ok || object.Name != "one" || len(object.OwnerReferences) != 1 {
		t.Fatalf("config map %+v", object)
	}
	if object.Labels != nil || object.Annotations != nil || object.ManagedFields != nil {
		t.Errorf("kept what nobody reads: %+v", object)
	}
	if found, err := maps.Lister().ByNamespace("ns").Get("one"); err != nil || found == nil {
		t.Error(err)
	}
	cancel()
	set.Close()
	eventually(t, "all watches have ended", func() bool { return a.watches() == 0 })
}

// TestSelected: who needs some objects gets those only, once.
func TestSelected(t *testing.T) {
	set, a := newSet(t)
	ctx, cancel := context.WithCancel(t.Context())
	pods := set.Selected("metadata.name=one").Core().V1().Pods()
	if again := set.Selected("metadata.name=one").Core().V1().Pods(); again.Informer().GetStore() != pods.Informer().GetStore() {
		t.Error("the same is watched twice")
	}
	set.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), pods.Informer().HasSynced) {
		t.Fatal("not synced")
	}
	a.mu.Lock()
	for _, request := range a.requests {
		if request != "/api/v1/pods metadata.name=one" {
			t.Errorf("asked for %q", request)
		}
	}
	a.mu.Unlock()
	if set.whole[core("pods")] {
		t.Error("some pods are taken for all")
	}
	cancel()
	set.Close()
	eventually(t, "all watches have ended", func() bool { return a.watches() == 0 })
}

// TestPrune: what is not served any more is watched no longer, after a while.
func TestPrune(t *testing.T) {
	set, a := newSet(t)
	ctx, cancel := context.WithCancel(t.Context())
	first, err := set.ForResource(core("configmaps"))
	if err != nil {
		t.Fatal(err)
	}
	set.Start(ctx.Done())
	eventually(t, "it is watched", func() bool { return a.watches() == 1 })
	gone := map[schema.GroupVersionResource]bool{}
	back := map[schema.GroupVersionResource]bool{core("configmaps"): true}

	set.Prune(gone)
	set.Prune(gone)
	if !set.partial[core("configmaps")].started || a.watches() != 1 {
		t.Fatal("it was stopped at once")
	}
	set.Prune(back)
	set.partial[core("configmaps")].unserved = time.Time{}
	set.Prune(gone)
	set.partial[core("configmaps")].unserved = time.Now().Add(-pruneAfter - time.Second)
	set.Prune(gone)
	eventually(t, "it is not watched any more", func() bool { return a.watches() == 0 })
	stopped, err := set.ForResource(core("configmaps"))
	if err != nil || stopped.Informer() != first.Informer() {
		t.Error("who counts what is gone has nothing to read, ", err)
	}
	set.Prune(back)
	second, err := set.ForResource(core("configmaps"))
	if err != nil || second.Informer() == first.Informer() {
		t.Error("the stopped informer was given out again, ", err)
	}
	set.Start(ctx.Done())
	eventually(t, "it is watched again", func() bool { return a.watches() == 1 })
	cancel()
	set.Close()
}

// TestSetTwice: after the end of a term there is another.
func TestSetTwice(t *testing.T) {
	for range 2 {
		set, _ := newSet(t)
		ctx, cancel := context.WithCancel(t.Context())
		set.Typed.Core().V1().Pods().Informer()
		set.Start(ctx.Done())
		if _, err := New(&rest.Config{Host: "http://127.0.0.1:1"}); err == nil {
			t.Error("two sets have the same name at a time")
		}
		cancel()
		set.Close()
	}
}
