package conditions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Kinds of the objects that are observed.
const (
	KindDefinition = "CustomResourceDefinition"
	KindAPIService = "APIService"
	KindNamespace  = "Namespace"
)

// DefaultCapacity is how many transitions are kept.
const DefaultCapacity = 1000

// TransitionsConfig is what Transitions need.
type TransitionsConfig struct {
	// ServerID is the identity of the API server.
	ServerID string
	// Started is when the server started: what is older was not seen to become
	// what it is.
	Started time.Time
	// Definitions, APIServices and Namespaces are informers for the three kinds; nil
	// leaves one out. They may be started before or after Run.
	Definitions, APIServices, Namespaces cache.SharedIndexInformer
	// Append adds an entry to the history (store.Log.Append).
	Append func(store.Entry)
	// Served tells whether discovery lists a resource; it is asked in the process,
	// and only after a definition has been established. Nil: it is never known.
	Served func(ctx context.Context, group, version, plural string) bool
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// Transitions sees conditions change. It is safe for use by many goroutines.
type Transitions struct {
	config TransitionsConfig
	wake   chan struct{}
	ready  chan struct{} // closed when Run observes

	lock    sync.Mutex
	objects map[objectKey]*observed
	count   uint64
	waiting []*serving
}

type objectKey struct{ kind, name string }

// observed is an object as it was last seen.
type observed struct {
	uid string
	// seen is when it was created; zero if that was before the server started.
	seen       time.Time
	conditions map[string]condition
}

type condition struct {
	status, reason, message string
	since                   time.Time
}

// state is what an event says of an object.
type state struct {
	key        objectKey
	meta       *metav1.ObjectMeta
	conditions map[string]condition
	initial    bool // it was there before the informer
	// good is the status of all conditions that is worth no entry when a condition
	// comes or goes in it; empty if there is none.
	good       string
	definition *apiextensionsv1.CustomResourceDefinition
}

// NewTransitions returns Transitions that have seen nothing yet.
func NewTransitions(config TransitionsConfig) *Transitions {
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Transitions{config: config, objects: map[objectKey]*observed{}, wake: make(chan struct{}, 1), ready: make(chan struct{})}
}

// Run observes until ctx is done; it can run once. What has happened before counts
// as having been there, so it should begin before the informers do.
func (t *Transitions) Run(ctx context.Context) error {
	var failed error
	var stop []func()
	for _, source := range []struct {
		informer cache.SharedIndexInformer
		read     func(any) (state, bool)
	}{
		{t.config.Definitions, readDefinition},
		{t.config.APIServices, readAPIService},
		{t.config.Namespaces, readNamespace},
	} {
		if source.informer == nil {
			continue
		}
		handle, err := source.informer.AddEventHandler(t.handler(source.read))
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("observing conditions: %w", err))
			continue
		}
		// It fails if the informer has stopped, which is as good.
		stop = append(stop, func() { _ = source.informer.RemoveEventHandler(handle) })
	}
	close(t.ready)
	t.waitServed(ctx)
	for _, end := range stop {
		end()
	}
	return failed
}

func (t *Transitions) handler(read func(any) (state, bool)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if s, ok := read(object); ok {
				s.initial = initial
				t.observe(s)
			}
		},
		UpdateFunc: func(_, object any) {
			if s, ok := read(object); ok {
				t.observe(s)
			}
		},
		DeleteFunc: func(object any) {
			if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = last.Obj
			}
			if s, ok := read(object); ok {
				t.lock.Lock()
				defer t.lock.Unlock()
				t.gone(s, t.config.Now())
			}
		},
	}
}

// observe compares with what was seen before.
func (t *Transitions) observe(s state) {
	t.lock.Lock()
	defer t.lock.Unlock()
	now := t.config.Now()
	known := t.objects[s.key]
	if known != nil && known.uid != string(s.meta.UID) { // deleted and created again unseen
		t.gone(s, now)
		known = nil
	}
	if known == nil && s.good != "" && len(s.conditions) == 0 {
		return // there can be very many of them, and nearly all stay like that
	}
	if known == nil {
		known = &observed{uid: string(s.meta.UID), conditions: map[string]condition{}}
		t.objects[s.key] = known
		if s.initial && s.meta.CreationTimestamp.Time.Before(t.config.Started.Truncate(time.Second)) {
			known.conditions = s.conditions // how they came about was not seen
			return
		}
		if known.seen = now; s.initial {
			known.seen = s.meta.CreationTimestamp.Time
		}
	}
	for _, kind := range sortedKeys(s.conditions) {
		t.change(known, s, kind, now)
	}
	for _, kind := range sortedKeys(known.conditions) {
		if _, ok := s.conditions[kind]; !ok {
			t.end(known, s, kind, now)
		}
	}
}

// change notes the state of one condition, and a transition if its status differs.
func (t *Transitions) change(known *observed, s state, kind string, now time.Time) {
	before, had := known.conditions[kind]
	next := s.conditions[kind]
	at := now
	if s.initial && !next.since.IsZero() { // it had changed before it was seen
		at = next.since
	}
	if next.since = at; had && before.status == next.status {
		next.since = before.since
	}
	known.conditions[kind] = next
	if before.status == next.status || (!had && next.status == s.good) {
		return
	}
	e := t.entry(s.key, known.uid, kind, at)
	e.spec.From, e.spec.To, e.spec.Reason, e.spec.Message = before.status, next.status, next.reason, cut(next.message)
	e.spec.HeldFor = heldFor(before, at)
	if established(s, kind, next) && !known.seen.IsZero() {
		e.spec.TimeToEstablished = &metav1.Duration{Duration: max(0, at.Sub(known.seen))}
		if !s.initial {
			t.expect(e, known, s)
		}
	}
	t.config.Append(e)
}

func established(s state, kind string, c condition) bool {
	return s.definition != nil && kind == string(apiextensionsv1.Established) && c.status == string(apiextensionsv1.ConditionTrue)
}

// end notes that a condition is gone.
func (t *Transitions) end(known *observed, s state, kind string, now time.Time) {
	before := known.conditions[kind]
	delete(known.conditions, kind)
	if before.status == s.good {
		return
	}
	e := t.entry(s.key, known.uid, kind, now)
	e.spec.From, e.spec.HeldFor = before.status, heldFor(before, now)
	t.config.Append(e)
}

// gone notes that an object is.
func (t *Transitions) gone(s state, now time.Time) {
	known := t.objects[s.key]
	if known == nil {
		return
	}
	delete(t.objects, s.key)
	for _, kind := range sortedKeys(known.conditions) {
		t.end(known, s, kind, now)
	}
}

func heldFor(before condition, at time.Time) *metav1.Duration {
	if before.status == "" || before.since.IsZero() {
		return nil
	}
	return &metav1.Duration{Duration: max(0, at.Sub(before.since))}
}

// Current is a condition as it is now.
type Current struct {
	// Kind and Name are those of the object.
	Kind, Name string
	// Type, Status and Reason are the condition's.
	Type, Status, Reason string
	// Since is when the status was last seen to change, or says that it has.
	Since time.Time
}

// Current returns all conditions of all observed objects, ordered by kind, name
// and type.
func (t *Transitions) Current() []Current {
	t.lock.Lock()
	defer t.lock.Unlock()
	var all []Current
	for key, known := range t.objects {
		for kind, c := range known.conditions {
			all = append(all, Current{key.kind, key.name, kind, c.status, c.reason, c.since})
		}
	}
	slices.SortFunc(all, func(a, b Current) int {
		return strings.Compare(a.Kind+"/"+a.Name+"/"+a.Type, b.Kind+"/"+b.Name+"/"+b.Type)
	})
	return all
}

func object(key objectKey, uid string) v1alpha1.ObservedObject {
	return v1alpha1.ObservedObject{Kind: key.kind, Name: key.name, UID: uid}
}
