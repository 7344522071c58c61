// Package store keeps the objects of inspect.kapi.dev in memory and lets them be
// listed and watched the way Kubernetes clients expect: with resourceVersions, a
// bounded history that a watch can be resumed from, and watchers that are dropped
// when they are too slow, never waited for.
//
// There are two kinds of tables. A Snapshot holds what a function collects, and
// publishes differences; a Log holds what was appended last. The package knows
// nothing of what the objects mean. It imports apimachinery only.
package store

import (
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Object is an API object. What is in a table is never changed: a new state is
// a new object.
type Object interface {
	runtime.Object
	metav1.Object
}

// Copy returns a copy of an object, for whoever is going to change it.
func Copy(object Object) Object {
	copied, ok := object.DeepCopyObject().(Object)
	if !ok {
		return object // it never is: a copy is of the type of the original
	}
	return copied
}

// Event is one change of a table.
type Event struct {
	Type watch.EventType
	// Object is the state after the change; of a deletion the last state.
	Object Object
	// Previous is the state before; nil for an object that is new.
	Previous Object
	// Revision is the resourceVersion of the change.
	Revision uint64
}

// ErrGone says that a watch can't begin at a revision: what has changed since is
// no longer known.
var ErrGone = errors.New("revision is too old, or of another server")

// Revision is the counter that resourceVersions are taken from. All tables of a
// server share one.
type Revision struct{ n atomic.Uint64 }

// NewRevision begins to count at the microseconds of now: a server that has been
// restarted is always ahead of what it counted before, as less than a million
// changes are made in a second.
func NewRevision(now time.Time) *Revision {
	r := &Revision{}
	r.n.Store(uint64(now.UnixMicro()))
	return r
}

// Current returns the revision of the last change.
func (r *Revision) Current() uint64 { return r.n.Load() }

func (r *Revision) next() uint64 { return r.n.Add(1) }

// Format writes a revision as a resourceVersion.
func Format(revision uint64) string { return strconv.FormatUint(revision, 10) }

// Parse reads a resourceVersion; empty and "0" are 0: any revision will do.
func Parse(resourceVersion string) (uint64, error) {
	if resourceVersion == "" {
		return 0, nil
	}
	revision, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading resourceVersion %q: it is not a number", resourceVersion)
	}
	return revision, nil
}
