package inspection

import (
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// TestFilterWatch: what is kept comes, what is not does not, and Stop ends it although
// nobody takes what it holds (synctest fails where a goroutine is left).
func TestFilterWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := watch.NewFake()
		filtered := FilterWatch(from, func(event watch.Event) (watch.Event, bool) { return event, event.Type != watch.Deleted })
		go func() {
			from.Delete(&metav1.Status{})
			from.Add(&metav1.Status{})
			from.Modify(&metav1.Status{})
		}()
		if event := <-filtered.ResultChan(); event.Type != watch.Added {
			t.Errorf("%s came first", event.Type)
		}
		synctest.Wait() // it holds the next one
		filtered.Stop()
		filtered.Stop()
		synctest.Wait()
		if _, open := <-filtered.ResultChan(); open {
			t.Error("it goes on after Stop")
		}
	})
}
