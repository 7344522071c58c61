package metrics

import (
	"time"

	"github.com/kapi-dev/kapi/internal/histogram"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Sources are where the values come from: most are the collectors of API objects.
// What is nil has no series.
type Sources struct {
	// Filters returns the filters that are part of the handler chain.
	Filters func() []Filter
	// Layers collects ServerLayers.
	Layers store.Collect
	// Hooks collects PostStartHooks.
	Hooks store.Collect
	// BootSteps collects BootSteps; those of the newest start are shown.
	BootSteps store.Collect
	// Conditions returns the conditions of all objects that are watched for them.
	Conditions func() []Condition
	// EtcdMembers collects EtcdMembers.
	EtcdMembers store.Collect
	// Controllers collects Controllers.
	Controllers store.Collect
	// Traces counts request traces.
	Traces func() Traces
}

// Filter is what one filter has done.
type Filter struct {
	Name                          string
	Requests, InFlight, Abandoned int64
	Terminated                    map[int]int64 // status → count
	In, Back                      histogram.Snapshot
}

// Condition is one condition of one object.
type Condition struct {
	Kind, Name   string // of the object: "CustomResourceDefinition", "foos.example.com"
	Type, Status string // "Established", "True"
	// Good says that the status is the one that is wanted.
	Good bool
	// Since is when it came into this status.
	Since time.Time
}

// Traces counts request traces since the start, and those that are kept.
type Traces struct{ Requests, Slow, Failed, Kept int64 }
