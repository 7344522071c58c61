package joined

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// Overview is a server on one screen.
type Overview struct {
	// About is what the server is.
	About inspection.About `json:"about"`
	// Uptime is how long its process runs; 0 if that is not known.
	Uptime metav1.Duration `json:"uptime"`
	// Health counts the health checks.
	Health Health `json:"health"`
	// Filters are the enabled filters, outermost first; Disabled is how many are off.
	Filters  []FilterLine `json:"filters,omitempty"`
	Disabled int          `json:"disabled"`
	// Layers are the layers, outermost first.
	Layers []LayerLine `json:"layers,omitempty"`
	// Groups and GroupVersions count what discovery has.
	Groups        int `json:"groups"`
	GroupVersions int `json:"groupVersions"`
	// Definitions and APIServices count those that are fine, and all.
	Definitions Count `json:"definitions"`
	APIServices Count `json:"apiServices"`
	// Hooks counts the post-start hooks.
	Hooks Hooks `json:"hooks"`
	// Etcd are the members of the store.
	Etcd []EtcdLine `json:"etcd,omitempty"`
	// Namespaces are those that are being deleted and are still there.
	Namespaces []NamespaceLine `json:"namespaces,omitempty"`
	// Controllers counts the controllers of the server.
	Controllers Controllers `json:"controllers"`
	// Problems are what is wrong now, the worst first.
	Problems []Problem `json:"problems"`
	// Missing is what could not be had. Its counts are zero.
	Missing []Missing `json:"missing,omitempty"`
}

// Healthy says whether nothing is Bad, as far as that is known: what is Missing can't
// be a problem, and Blind says when that is too much.
func (o Overview) Healthy() bool { return o.Severity() < Bad }

// Blind says that the health checks are not known, which are what a server says of
// itself as a whole.
func (o Overview) Blind() bool { return Why(o.Missing, partHealth) != "" }

// Severity is that of the worst problem.
func (o Overview) Severity() Severity {
	worst := OK
	for _, p := range o.Problems {
		worst = max(worst, p.Severity)
	}
	return worst
}

// Count is how many there are.
type Count struct {
	// OK is how many are fine, Total how many there are.
	OK    int `json:"ok"`
	Total int `json:"total"`
}

func (c *Count) add(severity Severity) {
	c.Total++
	if severity == OK {
		c.OK++
	}
}

// Health counts health checks by their state.
type Health struct {
	OK      int `json:"ok"`
	Failed  int `json:"failed"`
	Unknown int `json:"unknown"`
	// Failing are the names of those that fail.
	Failing []string `json:"failing,omitempty"`
}

// Hooks counts post-start hooks by their state.
type Hooks struct {
	Pending int `json:"pending"`
	Running int `json:"running"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
	// Total is the time from the start of the first until the end of the last that has
	// ended; 0 if none has.
	Total metav1.Duration `json:"total"`
}

// All is how many there are.
func (h Hooks) All() int { return h.Pending + h.Running + h.Done + h.Failed }

// Controllers counts the controllers in the server by what they do.
type Controllers struct {
	Running int `json:"running"`
	Standby int `json:"standby"`
	// Failing are the names of those that have failed, or whose queue does not get shorter.
	Failing []string `json:"failing,omitempty"`
	Off     int      `json:"off"`
}

// FilterLine is a filter of the handler chain.
type FilterLine struct {
	// Name is the filter's.
	Name string `json:"name"`
	// Requests is how many have entered it, InFlight how many are in it now.
	Requests int64 `json:"requests"`
	InFlight int64 `json:"inFlight"`
	// Terminated counts those that it has ended, by status code.
	Terminated []v1alpha1.StatusCount `json:"terminated,omitempty"`
}

// Ended is how many requests the filter has ended.
func (f FilterLine) Ended() int64 { return sum(f.Terminated, 0) }

// Faults is how many of them with a fault of the server: 500 or more, or no answer.
func (f FilterLine) Faults() int64 { return sum(f.Terminated, 500) }

// sum adds up the counts of codes from least on; 0 is none given, which is a fault.
func sum(counts []v1alpha1.StatusCount, least int32) int64 {
	var n int64
	for _, c := range counts {
		if c.Code >= least || c.Code == 0 {
			n += c.Count
		}
	}
	return n
}

// LayerLine is a layer of the server chain.
type LayerLine struct {
	// Name is the layer's.
	Name string `json:"name"`
	// Received is how many requests have entered it, Answered how many of them it
	// answered itself, PassedOn how many its delegate got; InFlight are in it now.
	Received int64 `json:"received"`
	Answered int64 `json:"answered"`
	PassedOn int64 `json:"passedOn"`
	InFlight int64 `json:"inFlight"`
	// LastError is the last answer with a status of 500 or more.
	LastError *v1alpha1.LayerError `json:"lastError,omitempty"`
}

// EtcdLine is a member of the store.
type EtcdLine struct {
	// Name is the object's.
	Name string `json:"name"`
	// Status is what is known of it.
	Status v1alpha1.EtcdMemberStatus `json:"status"`
}

// OverviewParts is what an Overview is joined from.
type OverviewParts struct {
	About       inspection.About
	Layers      []*v1alpha1.ServerLayer
	Filters     []*v1alpha1.Filter
	Hooks       []*v1alpha1.PostStartHook
	Health      []*v1alpha1.HealthCheck
	Discovery   []*v1alpha1.DiscoveryState
	Flows       []*v1alpha1.FlowState
	Etcd        []*v1alpha1.EtcdMember
	Controllers []*v1alpha1.Controller
	Definitions []DefinitionLine // only those that are not OK are looked at
	APIServices []APIServiceLine // likewise
	// Namespaces are those that are being deleted.
	Namespaces []NamespaceLine
	// DefinitionCount and APIServiceCount count all of them.
	DefinitionCount, APIServiceCount Count
	// Traces are recent requests that have failed, were slow, or were refused with 429.
	Traces []*v1alpha1.RequestTrace
	// Missing is what could not be had.
	Missing []Missing
}

// JoinOverview puts an Overview together, as it is at the time About.At.
func JoinOverview(parts OverviewParts) Overview {
	o := Overview{
		About: parts.About, Definitions: parts.DefinitionCount, APIServices: parts.APIServiceCount,
		Health: joinHealth(parts.Health), Hooks: joinHooks(parts.Hooks), Missing: parts.Missing,
		Namespaces: parts.Namespaces, Controllers: joinControllers(parts.Controllers),
	}
	if !o.About.StartedAt.IsZero() {
		o.Uptime.Duration = max(0, o.About.At.Sub(o.About.StartedAt))
	}
	for _, f := range parts.Filters {
		if !f.Spec.Enabled {
			o.Disabled++
			continue
		}
		o.Filters = append(o.Filters, FilterLine{f.Name, f.Status.Requests, f.Status.InFlight, f.Status.Terminated})
	}
	for _, l := range parts.Layers {
		s := &l.Status
		o.Layers = append(o.Layers, LayerLine{l.Name, s.RequestsReceived, s.RequestsAnswered, s.RequestsPassedOn, s.RequestsInFlight, s.LastError})
	}
	groups := map[string]bool{}
	for _, d := range parts.Discovery {
		groups[d.Spec.Group] = true
	}
	o.Groups, o.GroupVersions = len(groups), len(parts.Discovery)
	for _, m := range parts.Etcd {
		o.Etcd = append(o.Etcd, EtcdLine{m.Name, m.Status})
	}
	o.Problems = problemsOf(parts)
	return o
}

func joinHealth(checks []*v1alpha1.HealthCheck) Health {
	var h Health
	for _, c := range checks {
		switch c.Status.State {
		case v1alpha1.HealthOK:
			h.OK++
		case v1alpha1.HealthFailed:
			h.Failed++
			h.Failing = append(h.Failing, c.Spec.Check)
		case v1alpha1.HealthUnknown:
			h.Unknown++
		}
	}
	slices.SortFunc(h.Failing, strings.Compare)
	return h
}

func joinHooks(hooks []*v1alpha1.PostStartHook) Hooks {
	var (
		h           Hooks
		first, last time.Time
	)
	for _, hook := range hooks {
		switch hook.Status.State {
		case v1alpha1.RunPending:
			h.Pending++
		case v1alpha1.RunRunning:
			h.Running++
		case v1alpha1.RunDone:
			h.Done++
		case v1alpha1.RunFailed:
			h.Failed++
		}
		if at := hook.Status.StartedAt; at != nil && (first.IsZero() || at.Time.Before(first)) {
			first = at.Time
		}
		if at := hook.Status.FinishedAt; at != nil {
			last = later(last, at.Time)
		}
	}
	if !first.IsZero() {
		h.Total.Duration = max(0, last.Sub(first))
	}
	return h
}
