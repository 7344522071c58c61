package dashboard

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/pages/chain/rates"
	"github.com/kapi-dev/kapi/tui/pages/hooks/start"
	"github.com/kapi-dev/kapi/tui/pages/requests/trace"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// The names of parts, which are those of resources.
const (
	partLayers      = "serverlayers"
	partFilters     = "filters"
	partHooks       = "poststarthooks"
	partHealth      = "healthchecks"
	partProbes      = "apiserviceprobes"
	partDiscovery   = "discoverystates"
	partFlows       = "flowstates"
	partEtcd        = "etcdmembers"
	partStorages    = "resourcestorages"
	partTraces      = "requesttraces"
	partBoot        = "bootsteps"
	partDefinitions = "customresourcedefinitions"
	partServices    = "apiservices"
	partControllers = "controllers"
)

// needs are the feeds of the page.
func needs() []data.Key {
	keys := []data.Key{data.Definitions, data.APIServices, data.Terminating}
	for _, part := range []string{
		partFilters, partLayers, partHooks, partBoot, partHealth, partDiscovery, partFlows, partEtcd, partStorages, partTraces, partProbes, partControllers,
	} {
		keys = append(keys, data.Of(part))
	}
	return keys
}

// facts are what the page shows of a frame.
type facts struct {
	frame    data.Frame
	overview joined.Overview
	ends     []rates.End
	requests rates.Rate
	// slowest are the enabled filters, those with the largest p99 of their own first.
	slowest []rates.Filter
	// errors are the newest requests that failed or were refused.
	errors []*v1alpha1.RequestTrace
	users  []v1alpha1.FlowUser
	// storages are what is stored, the largest first.
	storages []*v1alpha1.ResourceStorage
	hooks    []start.Run
	starts   []start.Start
}

// errorsKept is how many of the last errors are looked at.
const errorsKept = 20

func gather(frame data.Frame, lines *cache) facts {
	f := facts{
		frame: frame, ends: rates.Ends(frame), hooks: start.Hooks(frame), starts: start.Starts(frame),
		errors: trace.Newest(frame, errorsKept, news), users: usersOf(frame),
	}
	f.overview = joined.JoinOverview(parts(frame, lines))
	for _, filter := range rates.Filters(frame) {
		if filter.Spec.Enabled && filter.Status.In.Count > 0 {
			f.slowest = append(f.slowest, filter)
		}
	}
	slices.SortStableFunc(f.slowest, func(a, b rates.Filter) int {
		return cmp.Compare(b.Status.In.P99.Duration, a.Status.In.P99.Duration)
	})
	if layers := rates.Layers(frame); len(layers) > 0 {
		f.requests = layers[0].Received
	}
	for _, s := range data.Objects[*v1alpha1.ResourceStorage](frame, data.Of(partStorages)) {
		if s.Status.Bytes > 0 {
			f.storages = append(f.storages, s)
		}
	}
	slices.SortStableFunc(f.storages, func(a, b *v1alpha1.ResourceStorage) int { return cmp.Compare(b.Status.Bytes, a.Status.Bytes) })
	return f
}

// news tells whether a request is an error that somebody should see. A bad answer to
// a question for the health is a good one.
func news(t *v1alpha1.RequestTrace) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(t.Spec.Path, "/"), "/")
	return trace.Refused(t) && !ours(t) && first != "livez" && first != "readyz" && first != "healthz"
}

// lost tells whether a connection is in a state in which nothing new comes.
func lost(state data.State) bool {
	return state == data.Stale || state == data.Failed || state == data.Forbidden
}

// heard is when the server was last heard of: now, unless the connection is lost.
func heard(frame data.Frame) time.Time {
	if !lost(frame.State) {
		return frame.Now
	}
	var last time.Time
	for _, key := range needs() {
		if at := frame.View(key).At; at.After(last) {
			last = at
		}
	}
	if last.IsZero() || last.After(frame.Now) {
		return frame.Now
	}
	return last
}

// ours tells whether a request is one of those that show the server, as this page
// makes them: how they end says nothing about its clients.
func ours(t *v1alpha1.RequestTrace) bool {
	return strings.HasPrefix(t.Spec.Path, "/apis/"+v1alpha1.GroupName+"/") || t.Spec.Path == "/apis/"+v1alpha1.GroupName
}

// parts are what an overview is joined from.
func parts(frame data.Frame, lines *cache) joined.OverviewParts {
	about := frame.About
	about.At = heard(frame)
	p := joined.OverviewParts{
		About:     about,
		Layers:    objects[*v1alpha1.ServerLayer](frame, partLayers),
		Filters:   objects[*v1alpha1.Filter](frame, partFilters),
		Hooks:     objects[*v1alpha1.PostStartHook](frame, partHooks),
		Health:    objects[*v1alpha1.HealthCheck](frame, partHealth),
		Discovery: objects[*v1alpha1.DiscoveryState](frame, partDiscovery),
		Flows:     objects[*v1alpha1.FlowState](frame, partFlows),
		Etcd:      objects[*v1alpha1.EtcdMember](frame, partEtcd),
		Missing:   missing(frame),

		Controllers: objects[*v1alpha1.Controller](frame, partControllers),
	}
	for _, namespace := range data.Objects[*corev1.Namespace](frame, data.Terminating) {
		p.Namespaces = append(p.Namespaces, joined.JoinNamespace(namespace, about.At))
	}
	slices.SortStableFunc(p.Filters, func(a, b *v1alpha1.Filter) int { return cmp.Compare(a.Spec.Order, b.Spec.Order) })
	slices.SortStableFunc(p.Layers, func(a, b *v1alpha1.ServerLayer) int { return cmp.Compare(a.Spec.Order, b.Spec.Order) })
	for _, object := range frame.View(data.Of(partTraces)).Objects {
		if t, ok := object.(*v1alpha1.RequestTrace); ok && !ours(t) && (t.Status.Failed || t.Status.Slow || t.Status.Code == tooMany) {
			p.Traces = append(p.Traces, t)
		}
	}
	p.Definitions, p.DefinitionCount = lines.definitions(frame)
	p.APIServices, p.APIServiceCount = lines.services(frame)
	return p
}

const tooMany = 429

func objects[T kinds.Object](frame data.Frame, part string) []T {
	return data.Objects[T](frame, data.Of(part))
}

// missing are the parts that are not there, and why.
func missing(frame data.Frame) []joined.Missing {
	var all []joined.Missing
	for _, key := range needs() {
		part := key.Inspect
		if part == "" {
			part = key.Resource.Resource
		}
		view := frame.View(key)
		for _, gap := range view.Gaps {
			name := part
			if gap.Column != "" {
				name += "." + gap.Column
			}
			all = append(all, joined.Missing{Part: name, Reason: gap.Reason})
		}
		if view.State == data.Live || len(view.Objects) > 0 || joined.Why(all, part) != "" {
			continue
		}
		all = append(all, joined.Missing{Part: part, Reason: whyNot(view)})
	}
	return all
}

func whyNot(view data.View) string {
	if view.Err != nil {
		return view.Err.Error()
	}
	switch view.State {
	case data.Loading:
		return loading
	case data.Absent:
		return "this server does not have it"
	case data.Live, data.Stale, data.Forbidden, data.Failed:
	}
	return "it can't be read"
}

// loading is the reason of a part that has not come yet.
const loading = "loading"

// usersOf are who asks, the most first: as flow control counts them, or by the
// requests that are kept.
func usersOf(frame data.Frame) []v1alpha1.FlowUser {
	count := map[string]int64{}
	for _, f := range objects[*v1alpha1.FlowState](frame, partFlows) {
		for _, user := range f.Status.Users {
			count[user.Name] += user.Requests
		}
	}
	if len(count) == 0 {
		for _, t := range objects[*v1alpha1.RequestTrace](frame, partTraces) {
			if name := trace.UserName(t); name != "" {
				count[name]++
			}
		}
	}
	users := make([]v1alpha1.FlowUser, 0, len(count))
	for name, n := range count {
		users = append(users, v1alpha1.FlowUser{Name: name, Requests: n})
	}
	slices.SortFunc(users, func(a, b v1alpha1.FlowUser) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	return users
}

// cache keeps what was joined of large lists while these have not changed.
type cache struct {
	definitionsOf revisions
	broken        []joined.DefinitionLine
	definitionsOK joined.Count
	servicesOf    revisions
	failing       []joined.APIServiceLine
	servicesOK    joined.Count
}

// revisions are those of the views that something was joined from.
type revisions struct {
	known         bool
	first, second uint64
	objects       int
}

func count(counts *joined.Count, severity joined.Severity) {
	counts.Total++
	if severity == joined.OK {
		counts.OK++
	}
}

// definitions are the definitions that are not fine, and how many are.
func (c *cache) definitions(frame data.Frame) ([]joined.DefinitionLine, joined.Count) {
	view := frame.View(data.Definitions)
	of := revisions{true, view.Revision, 0, len(view.Objects)}
	if of == c.definitionsOf {
		return c.broken, c.definitionsOK
	}
	c.definitionsOf, c.broken, c.definitionsOK = of, nil, joined.Count{}
	var index joined.DefinitionIndex
	for _, object := range data.Objects[*apiextensionsv1.CustomResourceDefinition](frame, data.Definitions) {
		line := index.Line(object, frame.Now)
		count(&c.definitionsOK, line.State.Severity)
		if line.State.Severity != joined.OK {
			c.broken = append(c.broken, line)
		}
	}
	return c.broken, c.definitionsOK
}

// services are the APIServices that are not fine, and how many are.
func (c *cache) services(frame data.Frame) ([]joined.APIServiceLine, joined.Count) {
	view, probes := frame.View(data.APIServices), frame.View(data.Of(partProbes))
	of := revisions{true, view.Revision, probes.Revision, len(view.Objects)}
	if of == c.servicesOf {
		return c.failing, c.servicesOK
	}
	c.servicesOf, c.failing, c.servicesOK = of, nil, joined.Count{}
	index := joined.NewAPIServiceIndex(objects[*v1alpha1.APIServiceProbe](frame, partProbes), nil)
	for _, object := range data.Objects[*apiregistrationv1.APIService](frame, data.APIServices) {
		line := index.Line(object)
		count(&c.servicesOK, line.State.Severity)
		if line.State.Severity != joined.OK {
			c.failing = append(c.failing, line)
		}
	}
	return c.failing, c.servicesOK
}
