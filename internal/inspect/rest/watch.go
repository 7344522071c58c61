package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"

	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// LeftOutAnnotation stands on bookmarks of a watch that delivers only some of
// the events: how many were left out so far.
const LeftOutAnnotation = "inspect.kapi.dev/left-out"

// bookmarkPeriod is how often a watch that asks for bookmarks gets one. It is shorter
// than the 10 s after which a console asks whether a server is there: one that only
// waits must not be seen in the counters.
const bookmarkPeriod = 8 * time.Second

// Watch implements rest.Watcher.
func (s *Storage) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	from, err := store.Parse(options.ResourceVersion)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	initial := options.SendInitialEvents != nil && *options.SendInitialEvents
	want := store.WatchOptions{From: from, Initial: initial, Match: s.match(ctx, options)}
	if s.limit != nil {
		want.Limit = s.limit()
	}
	source, err := s.table.Watch(ctx, want)
	switch {
	case errors.Is(err, store.ErrGone):
		return nil, gone(options.ResourceVersion)
	case err != nil:
		return nil, apierrors.NewInternalError(err)
	}
	w := &watcher{
		new: s.kind.New, source: source, bookmarks: options.AllowWatchBookmarks,
		initial: initial && options.AllowWatchBookmarks, results: make(chan watch.Event), stop: make(chan struct{}), abort: aborter(ctx),
	}
	go w.run(ctx)
	return w, nil
}

func gone(resourceVersion string) *apierrors.StatusError {
	return apierrors.NewResourceExpired("too old resource version: " + resourceVersion +
		" (what has changed since is not known, or it is of another server: list again)")
}

// watcher carries the events of a store.Watcher to one client. It implements
// watch.Interface; the handler of the generic server reads it.
type watcher struct {
	new       func() runtime.Object
	source    *store.Watcher
	bookmarks bool
	initial   bool // the end of initial events is to be marked
	results   chan watch.Event
	stop      chan struct{}
	once      sync.Once
	abort     func()
	// woken says that send has used up a signal that run has yet to follow.
	woken bool
}

// ResultChan implements watch.Interface.
func (w *watcher) ResultChan() <-chan watch.Event { return w.results }

// Stop implements watch.Interface.
func (w *watcher) Stop() { w.once.Do(func() { close(w.stop) }) }

// run ends when the request does, when it is stopped, or when the client has
// fallen so far behind that the store has dropped it.
func (w *watcher) run(ctx context.Context) {
	defer close(w.results)
	defer w.source.Stop()
	ticker := time.NewTicker(bookmarkPeriod)
	defer ticker.Stop()
	due := false
	for first := true; ; first = false {
		batch := w.source.Next()
		if !w.sendAll(ctx, batch.Events) {
			return
		}
		if batch.Ended {
			w.send(ctx, watch.Event{Type: watch.Error, Object: ended(batch.Dropped)})
			return
		}
		if first && w.initial || due && w.bookmarks {
			if !w.send(ctx, w.bookmark(batch, first)) {
				return
			}
			due = false
		}
		if first { // from now on it only waits: its seats are free for others
			utilflowcontrol.WatchInitialized(ctx)
		}
		if w.woken {
			w.woken = false
			continue
		}
		select {
		case <-w.source.Wake():
		case <-ticker.C:
			due = true
		case <-w.stop:
			return
		case <-ctx.Done():
			return
		}
	}
}

func ended(dropped bool) *metav1.Status {
	message := "the server stops watching"
	if dropped {
		message = "too many events waited for this watch: list again"
	}
	status := apierrors.NewResourceExpired(message).Status()
	return &status
}

func (w *watcher) bookmark(batch store.Batch, first bool) watch.Event {
	revision := batch.Revision
	annotations := map[string]string{}
	if first {
		revision = w.source.Start()
		annotations[metav1.InitialEventsAnnotationKey] = "true"
	}
	if batch.LeftOut > 0 {
		annotations[LeftOutAnnotation] = strconv.FormatInt(batch.LeftOut, 10)
	}
	object := w.new()
	if accessor, err := meta.Accessor(object); err == nil { // all kinds have metadata
		accessor.SetResourceVersion(store.Format(revision))
		if len(annotations) > 0 {
			accessor.SetAnnotations(annotations)
		}
	}
	return watch.Event{Type: watch.Bookmark, Object: object}
}

func (w *watcher) sendAll(ctx context.Context, events []store.Event) bool {
	for _, event := range events {
		object := store.Copy(event.Object) // the encoder writes to it
		if !w.send(ctx, watch.Event{Type: event.Type, Object: object}) {
			return false
		}
	}
	return true
}

// send hands one event to the handler. While the handler can't take it, since the
// client does not read, the store's patience decides: when it drops the watcher,
// the connection is told to give up too.
func (w *watcher) send(ctx context.Context, event watch.Event) bool {
	for {
		select {
		case w.results <- event:
			return true
		case <-w.stop:
			return false
		case <-ctx.Done():
			return false
		case <-w.source.Wake():
			w.woken = true
			if w.source.Dropped() {
				w.abort()
				return false
			}
		}
	}
}

type aborterKey struct{}

// Abortable lets watches that next serves end the writing of their answer: a
// client that has stopped reading would keep the handler in a write for ever.
func Abortable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			controller := http.NewResponseController(w)
			abort := func() { _ = controller.SetWriteDeadline(time.Now()) }
			r = r.WithContext(context.WithValue(r.Context(), aborterKey{}, abort))
		}
		next.ServeHTTP(w, r)
	})
}

func aborter(ctx context.Context) func() {
	if abort, ok := ctx.Value(aborterKey{}).(func()); ok {
		return abort
	}
	return func() {}
}
