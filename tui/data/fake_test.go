package data

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// fake is a server with a switch. It implements Source.
type fake struct {
	lock sync.Mutex
	// err is what every request fails with, errs those of one feed.
	err  error
	errs map[Key]error
	// aboutErr is what only the question what it is fails with.
	aboutErr error
	// still makes watches bad input, as recordings do.
	watchErr error
	about    inspection.About
	objects  map[Key][]kinds.Object
	columns  []Column
	version  int
	watches  map[*fakeWatch]Key
	lists    map[Key]int
	tries    []time.Time
}

func newFake() *fake {
	return &fake{
		about: inspection.About{Type: inspection.Kapi, Address: "https://127.0.0.1:6443"},
		errs:  map[Key]error{}, objects: map[Key][]kinds.Object{}, watches: map[*fakeWatch]Key{}, lists: map[Key]int{}, version: 1,
	}
}

func (f *fake) failing(key Key) error {
	if f.err != nil {
		return f.err
	}
	return f.errs[key]
}

func (f *fake) About(context.Context) (inspection.About, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.aboutErr != nil {
		return inspection.About{}, f.aboutErr
	}
	return f.about, f.err
}

func (f *fake) List(_ context.Context, key Key) (Listed, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.lists[key]++
	f.tries = append(f.tries, time.Now())
	if err := f.failing(key); err != nil {
		return Listed{}, err
	}
	return Listed{Objects: slices.Clone(f.objects[key]), Columns: f.columns, ResourceVersion: strconv.Itoa(f.version)}, nil
}

func (f *fake) Watch(ctx context.Context, key Key, _ string) (watch.Interface, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.watchErr != nil {
		return nil, f.watchErr
	}
	if err := f.failing(key); err != nil {
		return nil, err
	}
	w := &fakeWatch{fake: f, events: make(chan watch.Event, 10_000)}
	f.watches[w] = key
	return w, nil
}

// send changes an object, and tells those who watch.
func (f *fake) send(key Key, kind watch.EventType, object kinds.Object) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.version++
	object.SetResourceVersion(strconv.Itoa(f.version))
	at := slices.IndexFunc(f.objects[key], func(each kinds.Object) bool { return idOf(each) == idOf(object) })
	switch {
	case kind == watch.Deleted:
		f.objects[key] = slices.Delete(f.objects[key], at, at+1)
	case at < 0:
		f.objects[key] = append(f.objects[key], object)
	default:
		f.objects[key][at] = object
	}
	for w, of := range f.watches {
		if of == key {
			w.events <- watch.Event{Type: kind, Object: object}
		}
	}
}

// fail makes everything fail from now on, and ends all watches; nil is that it is back.
func (f *fake) fail(err error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.err = err
	for w := range f.watches {
		close(w.events)
		delete(f.watches, w)
	}
}

func (f *fake) set(key Key, err error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.errs[key] = err
}

func (f *fake) listed(key Key) int {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.lists[key]
}

func (f *fake) watching(key Key) bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, of := range f.watches {
		if of == key {
			return true
		}
	}
	return false
}

type fakeWatch struct {
	fake   *fake
	events chan watch.Event
}

func (w *fakeWatch) ResultChan() <-chan watch.Event { return w.events }

func (w *fakeWatch) Stop() {
	w.fake.lock.Lock()
	defer w.fake.lock.Unlock()
	if _, open := w.fake.watches[w]; open {
		close(w.events)
		delete(w.fake.watches, w)
	}
}

func typeOf(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: kind}
}

func check(name string) *v1alpha1.HealthCheck {
	return &v1alpha1.HealthCheck{TypeMeta: typeOf("HealthCheck"), ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1alpha1.HealthCheckStatus{State: v1alpha1.HealthOK}}
}

func filter(name string, order int32, requests int64) *v1alpha1.Filter {
	return &v1alpha1.Filter{
		TypeMeta:   typeOf("Filter"),
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.FilterSpec{Order: order, Enabled: true},
		Status:     v1alpha1.FilterStatus{Requests: requests},
	}
}

func trace(n int, at time.Time, took time.Duration) *v1alpha1.RequestTrace {
	return &v1alpha1.RequestTrace{
		TypeMeta:   typeOf("RequestTrace"),
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%08d", n)},
		Status:     v1alpha1.RequestTraceStatus{ReceivedAt: metav1.NewMicroTime(at), Duration: metav1.Duration{Duration: took}},
	}
}

var (
	checksKey    = Of("healthchecks")
	podsKey      = Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}
	errRefused   = fmt.Errorf("dialing: %w", syscall.ECONNREFUSED)
	errForbidden = apierrors.NewForbidden(schema.GroupResource{Group: v1alpha1.GroupName, Resource: "healthchecks"}, "", nil)
)

func names(view View) []string {
	all := make([]string, 0, len(view.Objects))
	for _, object := range view.Objects {
		all = append(all, object.GetName())
	}
	return all
}

// until returns the first frame for which something holds.
func until(t *testing.T, h *Hub, what string, holds func(Frame) bool) Frame {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for {
		frame, ok := h.Next(ctx)
		if !ok {
			t.Fatalf("no frame in which %s; the last: %+v", what, h.Frame().views)
		}
		if holds(frame) {
			return frame
		}
	}
}

var healthResource = schema.GroupResource{Group: v1alpha1.GroupName, Resource: "healthchecks"}

func objectsOf[T kinds.Object](typed ...T) []kinds.Object {
	all := make([]kinds.Object, 0, len(typed))
	for _, one := range typed {
		all = append(all, one)
	}
	return all
}
