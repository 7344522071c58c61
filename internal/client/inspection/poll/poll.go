// Package poll makes a watch out of lists, for servers that have none: it lists
// again and again and reports what is different. It does not know what it lists.
// It may import apimachinery and the API types.
package poll

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
)

// Snapshot is a list, as the next one is compared with it.
type Snapshot struct {
	order   []string // names, in the order of the list
	entries map[string]entry
}

// entry has the digest of an object beside it, since whoever was given the object
// may have changed it.
type entry struct {
	object kinds.Object
	digest [sha256.Size]byte
}

// Of makes a snapshot of objects, which have names of their own.
func Of(objects []kinds.Object) (Snapshot, error) {
	s := Snapshot{order: make([]string, 0, len(objects)), entries: make(map[string]entry, len(objects))}
	for _, object := range objects {
		data, err := json.Marshal(object)
		if err != nil {
			return Snapshot{}, fmt.Errorf("comparing %s: %w", object.GetName(), err)
		}
		name := object.GetName()
		if _, twice := s.entries[name]; !twice {
			s.order = append(s.order, name)
		}
		s.entries[name] = entry{object: object, digest: sha256.Sum256(data)}
	}
	return s, nil
}

// Changes returns the events that lead from one snapshot to another: what is new
// or different in the order of the second, then what is gone in that of the first.
func Changes(from, to Snapshot) []watch.Event {
	var events []watch.Event
	for _, name := range to.order {
		after := to.entries[name]
		switch before, known := from.entries[name]; {
		case !known:
			events = append(events, watch.Event{Type: watch.Added, Object: after.object})
		case before.digest != after.digest:
			events = append(events, watch.Event{Type: watch.Modified, Object: after.object})
		}
	}
	for _, name := range from.order {
		if _, still := to.entries[name]; !still {
			events = append(events, watch.Event{Type: watch.Deleted, Object: from.entries[name].object})
		}
	}
	return events
}

// Watch lists at once and then each period, and reports what has changed since
// from. An error of list ends it, with an Error event that holds a *metav1.Status.
// It also ends with ctx, without one.
func Watch(ctx context.Context, period time.Duration, from Snapshot, list func(context.Context) ([]kinds.Object, error)) watch.Interface {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{cancel: cancel, events: make(chan watch.Event), done: make(chan struct{})}
	go w.run(ctx, period, from, list)
	return w
}

type watcher struct {
	cancel context.CancelFunc
	events chan watch.Event
	done   chan struct{} // closed when run has returned
}

// ResultChan implements watch.Interface.
func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface. It returns when the last list has ended.
func (w *watcher) Stop() {
	w.cancel()
	<-w.done
}

func (w *watcher) run(ctx context.Context, period time.Duration, last Snapshot, list func(context.Context) ([]kinds.Object, error)) {
	defer close(w.done)
	defer close(w.events)
	defer w.cancel()
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		next, err := look(ctx, list)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			w.send(ctx, watch.Event{Type: watch.Error, Object: statusOf(err)})
			return
		}
		for _, event := range Changes(last, next) {
			if !w.send(ctx, event) {
				return
			}
		}
		last = next
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func look(ctx context.Context, list func(context.Context) ([]kinds.Object, error)) (Snapshot, error) {
	objects, err := list(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	return Of(objects)
}

// send tells whether there was somebody to take the event.
func (w *watcher) send(ctx context.Context, event watch.Event) bool {
	select {
	case w.events <- event:
		return true
	case <-ctx.Done():
		return false
	}
}

// statusOf keeps the server's own status; any other error is that of a server
// which can't be reached.
func statusOf(err error) *metav1.Status {
	if api := apierrors.APIStatus(nil); errors.As(err, &api) {
		status := api.Status()
		return &status
	}
	return &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable,
		Reason: metav1.StatusReasonServiceUnavailable, Message: err.Error(),
	}
}
