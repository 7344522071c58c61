package rest

import (
	"testing"
	"time"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// initialized notes that a watch has told priority and fairness that it only waits
// from now on.
type initialized struct{ told chan struct{} }

func (i initialized) Signal() { close(i.told) } // a second time would be a panic

func (i initialized) Wait() { <-i.told }

// The seats of a watch are given back once what it begins with is sent: else each
// console that looks at an idle server would keep a part of it for as long as it
// does.
func TestSeatsAreGivenBack(t *testing.T) {
	f := newFixture(t)
	f.set("ping", v1alpha1.HealthOK)
	f.set("etcd", v1alpha1.HealthOK)
	kind, _ := kinds.ByName("healthchecks")
	yes := true
	for name, test := range map[string]struct {
		options metainternalversion.ListOptions
		events  []watch.EventType
	}{
		"from all":  {metainternalversion.ListOptions{}, []watch.EventType{watch.Added, watch.Added}},
		"streamed":  {metainternalversion.ListOptions{SendInitialEvents: &yes, AllowWatchBookmarks: true}, []watch.EventType{watch.Added, watch.Added, watch.Bookmark}},
		"from here": {metainternalversion.ListOptions{ResourceVersion: "now"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if test.options.ResourceVersion != "" {
				_, revision, err := f.table.List(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				test.options.ResourceVersion = store.Format(revision)
			}
			signal := initialized{make(chan struct{})}
			w, err := New(kind, f.table).Watch(utilflowcontrol.WithInitializationSignal(t.Context(), signal), &test.options)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			for i, want := range test.events {
				select {
				case <-signal.told:
					t.Fatalf("it is told before event %d", i)
				default:
				}
				if got := <-w.ResultChan(); got.Type != want {
					t.Fatalf("event %d is %s, want %s", i, got.Type, want)
				}
			}
			select { // it still watches: nothing has ended it
			case <-signal.told:
			case <-time.After(time.Minute):
				t.Fatal("it keeps its seats")
			}
			f.set("log", v1alpha1.HealthOK)
			if got := <-w.ResultChan(); got.Type != watch.Added {
				t.Errorf("the event afterwards is %s", got.Type)
			}
			f.set("log", "")
			if got := <-w.ResultChan(); got.Type != watch.Deleted {
				t.Errorf("the event afterwards is %s", got.Type)
			}
		})
	}
}
