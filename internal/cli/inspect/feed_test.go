package inspect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// step is what a scripted server does next: it answers a list, or a watch.
type step struct {
	list    []runtime.Object
	events  []watch.Event
	version string
	err     error
	// last keeps a watch open after its events.
	last bool
}

// script is a server that answers each list and each watch from a list of steps.
// After the last of them the context ends.
type script struct {
	t       *testing.T
	steps   []step
	done    func()
	watched []string
}

func (s *script) next() step {
	if len(s.steps) == 0 {
		s.done()
		return step{err: context.Canceled}
	}
	first := s.steps[0]
	s.steps = s.steps[1:]
	return first
}

func (s *script) feed(log bool, notices *strings.Builder) *feed {
	return &feed{
		list: func(context.Context) ([]runtime.Object, string, error) {
			next := s.next()
			return next.list, next.version, next.err
		},
		watch: func(_ context.Context, version string) (watch.Interface, error) {
			s.watched = append(s.watched, version)
			next := s.next()
			if next.err != nil {
				return nil, next.err
			}
			changes := watch.NewFakeWithChanSize(len(next.events), false)
			for _, e := range next.events {
				changes.Action(e.Type, e.Object)
			}
			if !next.last {
				changes.Stop()
			}
			return changes, nil
		},
		log: log, notices: notices,
	}
}

// layer is an object with a name and a version.
func layer(name, version string) runtime.Object {
	return &v1alpha1.ServerLayer{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "ServerLayer"},
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version},
	}
}

func change(kind watch.EventType, name, version string) watch.Event {
	return watch.Event{Type: kind, Object: layer(name, version)}
}

func statusEvent(err *apierrors.StatusError) watch.Event {
	status := err.Status()
	return watch.Event{Type: watch.Error, Object: &status}
}

// connectionRefused is what client-go returns where no server listens.
func connectionRefused() error {
	return &url.Error{Op: "Get", URL: "https://127.0.0.1:1/", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
}

// reports runs a feed over a script, and returns what it reported: "ADDED a/1".
func reports(t *testing.T, log bool, steps ...step) (said []string, notices string, watched []string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var b strings.Builder
		s := &script{t: t, steps: steps, done: cancel}
		err = s.feed(log, &b).run(ctx, func(kind watch.EventType, object runtime.Object) error {
			accessor, _ := object.(metav1.Object)
			said = append(said, fmt.Sprintf("%s %s/%s", kind, accessor.GetName(), accessor.GetResourceVersion()))
			return nil
		}, func() error {
			said = append(said, "listed")
			return nil
		})
		notices, watched = b.String(), s.watched
	})
	return said, notices, watched, err
}

func TestFeed(t *testing.T) {
	gone := apierrors.NewResourceExpired("too old")
	for name, test := range map[string]struct {
		log     bool
		steps   []step
		want    []string
		watched []string
		notices string
	}{
		"watches end in good order": {
			steps: []step{
				{list: []runtime.Object{layer("a", "1")}, version: "5"},
				{events: []watch.Event{change(watch.Modified, "a", "6"), change(watch.Added, "b", "7")}},
				{events: []watch.Event{change(watch.Deleted, "a", "8")}},
			},
			want:    []string{"ADDED a/1", "listed", "MODIFIED a/6", "ADDED b/7", "DELETED a/8"},
			watched: []string{"5", "7", "8"},
		},
		"a bookmark is no change, and moves on": {
			steps: []step{
				{version: "5"},
				{events: []watch.Event{change(watch.Bookmark, "", "9")}},
			},
			want:    []string{"listed"},
			watched: []string{"5", "9"},
		},
		"gone: all is listed, and only what changed is reported": {
			steps: []step{
				{list: []runtime.Object{layer("a", "1"), layer("b", "2"), layer("c", "3")}, version: "5"},
				{events: []watch.Event{statusEvent(gone)}},
				{list: []runtime.Object{layer("a", "1"), layer("b", "8"), layer("d", "9")}, version: "9"},
			},
			want:    []string{"ADDED a/1", "ADDED b/2", "ADDED c/3", "listed", "MODIFIED b/8", "ADDED d/9", "DELETED c/3"},
			watched: []string{"5", "9"},
		},
		"the watch is answered 410": {
			steps: []step{
				{list: []runtime.Object{layer("a", "1")}, version: "5"},
				{err: gone},
				{list: []runtime.Object{layer("a", "6")}, version: "6"},
			},
			want:    []string{"ADDED a/1", "listed", "MODIFIED a/6"},
			watched: []string{"5", "6"},
		},
		"the server is away for a while": {
			steps: []step{
				{list: []runtime.Object{layer("a", "1"), layer("b", "1")}, version: "5"},
				{err: connectionRefused()},
				{err: connectionRefused()},
				{err: connectionRefused()},
				{err: apierrors.NewInternalError(errors.New("starting"))},
				{list: []runtime.Object{layer("b", "1"), layer("c", "1")}, version: "2"},
			},
			want:    []string{"ADDED a/1", "ADDED b/1", "listed", "ADDED c/1", "DELETED a/1"},
			watched: []string{"5", "2"},
			notices: "connection lost, waiting for the server: Get \"https://127.0.0.1:1/\": dial: connection refused\nconnected again\n",
		},
		"entries of a log go without a word": {
			log: true,
			steps: []step{
				{list: []runtime.Object{layer("1", "1"), layer("2", "2")}, version: "2"},
				{events: []watch.Event{change(watch.Deleted, "1", "3"), change(watch.Added, "3", "4"), statusEvent(gone)}},
				{list: []runtime.Object{layer("3", "4"), layer("4", "5")}, version: "5"},
			},
			want:    []string{"ADDED 1/1", "ADDED 2/2", "listed", "ADDED 3/4", "ADDED 4/5"},
			watched: []string{"2", "5"},
		},
		"an object that was deleted and made again while nobody looked": {
			steps: []step{
				{list: []runtime.Object{layer("a", "1")}, version: "5"},
				{events: []watch.Event{change(watch.Deleted, "a", "6"), statusEvent(gone)}},
				{list: []runtime.Object{layer("a", "7")}, version: "7"},
			},
			want:    []string{"ADDED a/1", "listed", "DELETED a/6", "ADDED a/7"},
			watched: []string{"5", "7"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			said, notices, watched, err := reports(t, test.log, test.steps...)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("it ends with %v", err)
			}
			if !slices.Equal(said, test.want) {
				t.Errorf("it reports\n%q, want\n%q", said, test.want)
			}
			if !slices.Equal(watched, test.watched) {
				t.Errorf("it watches from %q, want %q", watched, test.watched)
			}
			if notices != test.notices {
				t.Errorf("it says %q, want %q", notices, test.notices)
			}
		})
	}
}

// TestFeedPermanent: what trying again does not mend ends it, wherever it comes.
func TestFeedPermanent(t *testing.T) {
	for name, failure := range map[string]*apierrors.StatusError{
		"forbidden":          forbidden("inspect.kapi.dev", "filters"),
		"unauthorized":       apierrors.NewUnauthorized("who"),
		"method not allowed": apierrors.NewMethodNotSupported(v1alpha1.Resource("filters"), "watch"),
		"not found":          apierrors.NewNotFound(v1alpha1.Resource("filters"), ""),
		"bad request":        apierrors.NewBadRequest("field label not supported"),
	} {
		first := step{list: []runtime.Object{layer("a", "1")}, version: "5"}
		for place, steps := range map[string][]step{
			"first list": {{err: failure}},
			"watch":      {first, {err: failure}},
			"event":      {first, {events: []watch.Event{statusEvent(failure)}}},
			"later list": {first, {err: connectionRefused()}, {err: connectionRefused()}, {err: failure}},
		} {
			t.Run(name+"/"+place, func(t *testing.T) {
				_, _, _, err := reports(t, false, append(steps, step{err: errors.New("it went on")})...)
				if apierrors.ReasonForError(err) != failure.Status().Reason {
					t.Errorf("it ends with %v", err)
				}
			})
		}
	}
}

// TestFeedFirstList: where the first list fails there is nothing to wait for.
func TestFeedFirstList(t *testing.T) {
	said, notices, _, err := reports(t, false, step{err: connectionRefused()}, step{version: "1"})
	if !errors.Is(err, syscall.ECONNREFUSED) || len(said) > 0 || notices != "" {
		t.Errorf("error %v, reports %q, says %q", err, said, notices)
	}
}

// TestFeedCancel: it ends when its context does, whatever it is doing.
func TestFeedCancel(t *testing.T) {
	first := step{list: []runtime.Object{layer("a", "1")}, version: "5"}
	for name, steps := range map[string][]step{
		"in a watch":          {first, {last: true}},
		"waiting for servers": {first, {err: connectionRefused()}, {err: connectionRefused()}, {err: connectionRefused()}, {err: connectionRefused()}},
		"between watches":     {first, {}, {}, {}, {}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				var notices strings.Builder
				s := &script{t: t, steps: steps, done: func() { t.Error("it asked more than it can have had time for") }}
				err := s.feed(false, &notices).run(ctx, func(watch.EventType, runtime.Object) error { return nil }, func() error { return nil })
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("it ends with %v", err)
				}
			})
		})
	}
}

// TestFeedStops: an error of emit or of listed ends it and is returned.
func TestFeedStops(t *testing.T) {
	full := errors.New("disk full")
	first := step{list: []runtime.Object{layer("a", "1")}, version: "5"}
	news := step{events: []watch.Event{change(watch.Added, "b", "6")}}
	again := step{list: []runtime.Object{layer("a", "1"), layer("b", "6")}, version: "6"}
	for name, test := range map[string]struct {
		steps []step
		at    string
	}{
		"first list":       {[]step{first}, "a"},
		"after the list":   {[]step{first}, "listed"},
		"a change":         {[]step{first, news}, "b"},
		"a change at last": {[]step{first, {err: connectionRefused()}, again}, "b"},
		"something gone":   {[]step{again, {err: connectionRefused()}, first}, "DELETED"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var notices strings.Builder
				s := &script{t: t, steps: test.steps, done: func() { t.Error("it goes on") }}
				err := s.feed(false, &notices).run(t.Context(), func(kind watch.EventType, object runtime.Object) error {
					if key(object) == test.at || string(kind) == test.at {
						return full
					}
					return nil
				}, func() error {
					if test.at == "listed" {
						return full
					}
					return nil
				})
				if !errors.Is(err, full) {
					t.Errorf("it ends with %v", err)
				}
			})
		})
	}
}

// TestFeedPatience: a server that ends every watch at once, or refuses it, is not
// asked without a pause.
func TestFeedPatience(t *testing.T) {
	for name, answer := range map[string]step{
		"ends at once":  {},
		"error event":   {events: []watch.Event{statusEvent(apierrors.NewInternalError(errors.New("no")))}},
		"unavailable":   {err: apierrors.NewServiceUnavailable("no")},
		"too many":      {err: apierrors.NewTooManyRequests("later", 1)},
		"gone for ever": {err: &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonExpired, Code: http.StatusGone}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				asked := 0
				var notices strings.Builder
				f := &feed{
					notices: &notices,
					list:    func(context.Context) ([]runtime.Object, string, error) { return nil, "1", nil },
					watch: func(context.Context, string) (watch.Interface, error) {
						if asked++; asked > 200 {
							cancel()
						}
						one := (&script{t: t, steps: []step{answer}}).feed(false, &notices)
						return one.watch(t.Context(), "")
					},
				}
				_ = f.run(ctx, func(watch.EventType, runtime.Object) error { return nil }, func() error { return nil })
				if asked > 200 || asked < 5 {
					t.Errorf("it watches %d times in a minute", asked)
				}
			})
		})
	}
}

// TestMemory: what is remembered of a log does not grow for ever.
func TestMemory(t *testing.T) {
	m := &memory{log: true}
	for i := range rememberedEntries + 10 {
		m.keep(layer(fmt.Sprint(i), "1"))
	}
	if len(m.objects) != rememberedEntries || len(m.order) != rememberedEntries {
		t.Errorf("%d objects, %d names", len(m.objects), len(m.order))
	}
	if m.compare(layer("9", "1")) != watch.Added || m.compare(layer("10", "1")) != "" {
		t.Error("it is not the oldest ones that are forgotten")
	}
}
