// Package data is what the terminal UI knows of a server: feeds that list, watch
// and reconnect for ever, the frames that pages are drawn from, the last fifteen
// minutes of them, and the client for what is asked once. Frames never change
// once they are made, so that a page may keep and compare them.
//
// It draws nothing and knows no page. It may import the client and API packages.
package data

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// Key names a feed. It is comparable.
type Key struct {
	// Inspect is a resource of inspect.kapi.dev ("filters"). Empty for the others.
	Inspect string
	// Resource is any other resource of the server: rows of the server's own table.
	Resource schema.GroupVersionResource
	// Namespace narrows Resource; empty is all.
	Namespace string
	// Name is one object of Resource, in full (*unstructured.Unstructured).
	Name string
	// Logs are the lines of the server's log, where it runs in this process.
	Logs bool
}

// Of is the feed of a resource of inspect.kapi.dev.
func Of(resource string) Key { return Key{Inspect: resource} }

// The feeds of real objects, typed: *apiextensionsv1.CustomResourceDefinition,
// *apiregistrationv1.APIService, and *corev1.Namespace of those that are being deleted.
var (
	Definitions = Key{Resource: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, Name: "*"}
	APIServices = Key{Resource: schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}, Name: "*"}
	Terminating = Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, Name: "*"}
	Logs        = Key{Logs: true}
)

// State is how much can be relied on what a view holds.
type State int

// The states of a view. Objects of an earlier state stay in all of them.
const (
	// Loading: nothing has come yet.
	Loading State = iota
	// Live: it is watched.
	Live
	// Stale: the server can't be reached; what is there is from View.At.
	Stale
	// Forbidden: the server refuses; View.Err says what is needed.
	Forbidden
	// Failed: something else is wrong and will be tried again.
	Failed
	// Absent: this server has no such thing; View.Gaps or View.Err says why.
	Absent
)

// View is what a feed has at a time. Objects never change; a change is another object.
type View struct {
	Key   Key
	State State
	// Objects are in the server's order. What they are depends on the key: types of
	// v1alpha1, definitions, APIServices, namespaces, *Row, *unstructured.Unstructured or *LogLine.
	Objects []kinds.Object
	// Columns are those of the rows of Key.Resource.
	Columns []Column
	// Gaps are what this server does not show, and why.
	Gaps []inspection.Gap
	// Err is why the state is not Live, explained (fault.Hint has the way out).
	Err error
	// At is when the server was last heard of.
	At time.Time
	// Revision changes with the objects.
	Revision uint64
}

// Frame is everything at one time. Take views with View; the zero Frame is empty.
type Frame struct {
	// Revision changes with anything in it.
	Revision uint64
	// Now is the time that it shows; of the past where Past is set.
	Now  time.Time
	Past bool
	// About is what the server is; zero until it is known.
	About inspection.About
	// State is that of the connection as a whole, Err why it is not Live.
	State State
	Err   error
	// Retry is when the server is tried again, where State is Stale.
	Retry time.Time
	// Before is an earlier frame to compute rates from, some 5 s older; nil at first.
	Before *Frame
	// Against is what changes are marked against (time travel: the frame before the
	// one that is shown); nil where none are.
	Against *Frame
	// Series are the samples of the last minutes, oldest first, one a second.
	Series []Sample

	views map[Key]View
}

// Sample is the server at one second.
type Sample struct {
	At time.Time
	// Requests and Failed are per second; Failed are those of 500 and more.
	Requests, Failed float64
	// P99 is the 99th percentile of the durations of requests that ended within the last minute;
	// 0 where none did or traces can't be read.
	P99 time.Duration
	// InFlight are the requests in the chain.
	InFlight int64
}

// View returns what the frame has of a feed; Loading where it has nothing.
func (f Frame) View(key Key) View {
	if view, ok := f.views[key]; ok {
		return view
	}
	return View{Key: key}
}

// With returns the frame with a view more, for tests.
func (f Frame) With(view View) Frame {
	views := make(map[Key]View, len(f.views)+1)
	for key, each := range f.views {
		views[key] = each
	}
	views[view.Key] = view
	f.views = views
	return f
}

// Objects returns the objects of a feed that are of type T.
func Objects[T any](f Frame, key Key) []T {
	view := f.View(key)
	objects := make([]T, 0, len(view.Objects))
	for _, object := range view.Objects {
		if typed, ok := object.(T); ok {
			objects = append(objects, typed)
		}
	}
	return objects
}

// Find returns the object of a feed that has a name.
func Find[T any](f Frame, key Key, name string) (T, bool) {
	for _, object := range f.View(key).Objects {
		if object.GetName() == name {
			typed, ok := object.(T)
			return typed, ok
		}
	}
	var none T
	return none, false
}

// PerSecond is the rate of a counter between the frame before and this one; ok is
// false where there is none yet, or the server was started anew in between.
func (f Frame) PerSecond(counter func(Frame) (int64, bool)) (rate float64, ok bool) {
	if f.Before == nil {
		return 0, false
	}
	now, ok1 := counter(f)
	before, ok2 := counter(*f.Before)
	took := f.Now.Sub(f.Before.Now).Seconds()
	if !ok1 || !ok2 || now < before || took <= 0 {
		return 0, false
	}
	return float64(now-before) / took, true
}
