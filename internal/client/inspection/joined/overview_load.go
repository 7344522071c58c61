package joined

import (
	"context"
	"sync"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// LoadOverview asks a server for everything on its overview, side by side. A part
// that says nothing for 10 s is missing: it may be what hangs. It fails only where
// the server does not say what it is, or ctx has ended.
func LoadOverview(ctx context.Context, server inspection.Server) (Overview, error) {
	about, err := server.About(ctx)
	if err != nil {
		return Overview{}, err
	}
	l := loading{server: server}
	parts := OverviewParts{About: about}
	load(ctx, &l, partLayers, inspection.Query{}, &parts.Layers)
	load(ctx, &l, partFilters, inspection.Query{}, &parts.Filters)
	load(ctx, &l, partHooks, inspection.Query{}, &parts.Hooks)
	load(ctx, &l, partHealth, inspection.Query{}, &parts.Health)
	load(ctx, &l, partDiscovery, inspection.Query{}, &parts.Discovery)
	load(ctx, &l, partFlows, inspection.Query{}, &parts.Flows)
	load(ctx, &l, partEtcd, inspection.Query{}, &parts.Etcd)
	load(ctx, &l, partControllers, inspection.Query{}, &parts.Controllers)
	var traces [3][]*v1alpha1.RequestTrace
	for i, query := range []inspection.Query{
		where("status.failed", "true"), where("status.slow", "true"), where("status.code", "429"),
	} {
		load(ctx, &l, partTraces, query, &traces[i])
	}
	l.work.Go(func() { l.definitions(ctx, &parts) })
	l.work.Go(func() { l.apiServices(ctx, &parts) })
	l.work.Go(func() { l.namespaces(ctx, &parts) })
	l.work.Wait()
	if err := ctx.Err(); err != nil {
		return Overview{}, err
	}
	for _, some := range traces {
		parts.Traces = append(parts.Traces, some...)
	}
	parts.Missing = l.inOrder()
	return JoinOverview(parts), nil
}

// loading is the questions that are under way.
type loading struct {
	server  inspection.Server
	work    sync.WaitGroup
	lock    sync.Mutex
	missing []Missing
}

// load begins to ask for one kind. The result may be read when the work is done.
func load[T kinds.Object](ctx context.Context, l *loading, resource string, query inspection.Query, into *[]T) {
	l.work.Go(func() {
		ctx, _, done := patient(ctx)
		defer done()
		objects, missing := list[T](ctx, l.server, resource, query)
		*into = objects
		l.lost(missing...)
	})
}

func (l *loading) lost(missing ...Missing) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for _, one := range missing {
		if Why(l.missing, one.Part) == "" { // three questions are about traces
			l.missing = append(l.missing, one)
		}
	}
}

// definitions counts all definitions and keeps those that are not fine.
func (l *loading) definitions(ctx context.Context, parts *OverviewParts) {
	ctx, heard, done := patient(ctx)
	defer done()
	var index DefinitionIndex
	for object, err := range l.server.Definitions(ctx) {
		heard()
		if err != nil {
			l.lost(Missing{partDefinitions, reason(explained(ctx, err), partDefinitions)})
			parts.DefinitionCount = Count{}
			return
		}
		line := index.Line(object, parts.About.At)
		parts.DefinitionCount.add(line.State.Severity)
		if line.State.Severity != OK {
			parts.Definitions = append(parts.Definitions, line)
		}
	}
}

// probes returns what is known of the servers behind APIServices. Without it the
// conditions tell.
func (l *loading) probes(ctx context.Context) []*v1alpha1.APIServiceProbe {
	ctx, _, done := patient(ctx)
	defer done()
	probes, _ := list[*v1alpha1.APIServiceProbe](ctx, l.server, partProbes, inspection.Query{})
	return probes
}

// apiServices counts all APIServices and keeps those that are not fine.
func (l *loading) apiServices(ctx context.Context, parts *OverviewParts) {
	probes := l.probes(ctx)
	ctx, heard, done := patient(ctx)
	defer done()
	index := NewAPIServiceIndex(probes, nil)
	for object, err := range l.server.APIServices(ctx) {
		heard()
		if err != nil {
			l.lost(Missing{partAPIServices, reason(explained(ctx, err), partAPIServices)})
			parts.APIServiceCount = Count{}
			return
		}
		line := index.Line(object)
		parts.APIServiceCount.add(line.State.Severity)
		if line.State.Severity != OK {
			parts.APIServices = append(parts.APIServices, line)
		}
	}
}

// namespaces keeps those that are being deleted.
func (l *loading) namespaces(ctx context.Context, parts *OverviewParts) {
	ctx, heard, done := patient(ctx)
	defer done()
	for object, err := range l.server.TerminatingNamespaces(ctx) {
		heard()
		if err != nil {
			l.lost(Missing{partNamespaces, reason(explained(ctx, err), partNamespaces)})
			return
		}
		parts.Namespaces = append(parts.Namespaces, JoinNamespace(object, parts.About.At))
	}
}

// inOrder returns what is missing in the order in which kinds are listed, whichever
// answer came first.
func (l *loading) inOrder() []Missing {
	place := map[string]int{}
	for i, kind := range kinds.All() {
		place[kind.Resource] = i
	}
	return sortMissing(l.missing, place)
}
