package inspect

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	flowcontrollisters "k8s.io/client-go/listers/flowcontrol/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics/legacyregistry"
	apiregistrationlisters "k8s.io/kube-aggregator/pkg/client/listers/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/auth"
	"github.com/kapi-dev/kapi/internal/inspect/boot"
	"github.com/kapi-dev/kapi/internal/inspect/conditions"
	"github.com/kapi-dev/kapi/internal/inspect/controllers"
	"github.com/kapi-dev/kapi/internal/inspect/resources"
	"github.com/kapi-dev/kapi/internal/inspect/route"
	"github.com/kapi-dev/kapi/internal/inspect/store"
	"github.com/kapi-dev/kapi/internal/inspect/stored"
)

// Layer is one server of the finished chain.
type Layer = boot.Layer

// Target is the finished server. Where a field is the configuration of an
// observer, it holds what only the builder of the server knows; Attach adds the
// rest.
type Target struct {
	// Layers are the servers, outermost first.
	Layers []Layer
	// Definitions and APIServices are the informers of the layers that own them.
	Definitions, APIServices cache.SharedIndexInformer
	// Namespaces is an informer that runs anyway; nil leaves out their conditions.
	Namespaces cache.SharedIndexInformer
	// APIServiceLister reads what the informer has.
	APIServiceLister apiregistrationlisters.APIServiceLister
	// FlowSchemas and PriorityLevels are nil without priority and fairness.
	FlowSchemas    flowcontrollisters.FlowSchemaLister
	PriorityLevels flowcontrollisters.PriorityLevelConfigurationLister
	// Controllers returns the controllers of the process; nil means that it has none.
	Controllers func() []*v1alpha1.Controller

	Resources resources.Config
	Probes    conditions.ProbesConfig
	Route     route.Config
	Stored    stored.Config
}

// built is what there is once the server is finished.
type built struct {
	target      Target
	resources   *resources.Resources
	transitions *conditions.Transitions
	probes      *conditions.Probes
	checks      *boot.Checks
	explainer   *route.Explainer
	stored      *stored.Reader
	controllers *controllers.Controllers
	collectors  map[string]store.Collect
	// release takes the metrics back.
	release func()
}

// Attach takes over the finished server; the tables fill from then on, and
// /metrics shows the same. Run must follow, which lets go of both.
func (i *Inspector) Attach(target Target) error {
	b := &built{target: target}
	target.Resources.ServerID = i.cfg.ServerID
	b.resources = resources.New(target.Resources)
	b.transitions = conditions.NewTransitions(conditions.TransitionsConfig{
		ServerID: i.cfg.ServerID, Started: i.started, Definitions: target.Definitions, APIServices: target.APIServices,
		Namespaces: target.Namespaces,
		Append:     i.transitions.Append, Served: b.resources.Served,
	})
	target.Probes.ServerID, target.Probes.APIServices = i.cfg.ServerID, target.APIServices
	target.Probes.UnavailableAnswers = i.requests.UnavailableAnswers
	target.Probes.Changed = func() { i.snapshots[probes].Changed() }
	b.probes = conditions.NewProbes(target.Probes)
	b.checks = boot.NewChecks(boot.ChecksConfig{ServerID: i.serverID, Server: b.outermost})
	b.explainer = i.newExplainer(b)
	b.stored = stored.New(target.Stored)
	b.controllers = controllers.New(controllers.Config{
		ServerID: i.cfg.ServerID, Controllers: target.Controllers, Metrics: target.Resources.Metrics,
		Register: legacyregistry.Register,
	})
	flow := auth.NewFlow(auth.FlowConfig{
		ServerID: i.cfg.ServerID, FlowSchemas: target.FlowSchemas, PriorityLevels: target.PriorityLevels, Users: i.requests.FlowUsers,
	})
	b.collectors = map[string]store.Collect{
		"serverlayers":             i.requests.Layers,
		"filters":                  i.requests.Filters,
		"authenticators":           i.authenticators.Collect,
		"authorizers":              i.authorizers.Collect,
		"admissionplugins":         i.admission.Collect,
		postStartHooks:             i.cfg.Start.Hooks.Collect,
		bootSteps:                  i.cfg.Start.Boots.Collect,
		"healthchecks":             b.checks.Collect,
		"apiresourceregistrations": b.resources.Registrations,
		"resourcestorages":         b.resources.Storage,
		discoveryStates:            b.resources.DiscoveryStates,
		"etcdmembers":              b.resources.EtcdMembers,
		probes:                     b.probes.Collect,
		"flowstates":               flow.Collect,
		"controllers":              b.controllers.Collect,
	}
	i.built.Store(b)
	var err error
	b.release, err = i.register(b)
	return err
}

func (i *Inspector) serverID() string { return i.cfg.ServerID }

// newExplainer adds to what the builder knows what the observers know.
func (i *Inspector) newExplainer(b *built) *route.Explainer {
	cfg := b.target.Route
	cfg.Authorization = i.authorizers.Explain
	cfg.Anonymous = i.cfg.Authentication.Anonymous
	cfg.Filters = i.filters
	cfg.FlowSchemas = b.target.FlowSchemas
	cfg.APIServices = b.target.APIServiceLister
	cfg.Admission = i.admission.Handling
	cfg.StorageKey = b.storageKey
	return route.New(cfg)
}

func (i *Inspector) filters() []route.Filter {
	var all []route.Filter
	if chain := i.chain.Load(); chain != nil {
		for _, filter := range chain.Filters() {
			all = append(all, route.Filter{Name: filter.Name, Enabled: filter.Enabled})
		}
	}
	return all
}

// explain answers a route explanation.
func (i *Inspector) explain(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (v1alpha1.RouteExplanationStatus, error) {
	b := i.built.Load()
	if b.explainer == nil {
		return v1alpha1.RouteExplanationStatus{}, errUnfinished()
	}
	return b.explainer.Explain(ctx, spec)
}

// lookUp answers a stored key query.
func (i *Inspector) lookUp(ctx context.Context, spec v1alpha1.StoredKeyQuerySpec) (v1alpha1.StoredKeyQueryStatus, error) {
	b := i.built.Load()
	if b.stored == nil {
		return v1alpha1.StoredKeyQueryStatus{}, errUnfinished()
	}
	return b.stored.Query(ctx, spec)
}

func errUnfinished() error { return apierrors.NewServiceUnavailable("the server is not finished") }

// proxied names the APIService of a group version that an aggregated server serves.
func (i *Inspector) proxied(group, version string) (string, bool) {
	lister := i.built.Load().target.APIServiceLister
	if lister == nil {
		return "", false
	}
	name := version + "." + group
	service, err := lister.Get(name)
	return name, err == nil && service.Spec.Service != nil
}

// storageKey returns the key in etcd of an object or, without a name, of a collection.
func (b *built) storageKey(group, resource, namespace, name string) string {
	registrations, err := b.resources.Registrations(context.Background())
	if err != nil {
		return ""
	}
	for _, object := range registrations {
		registration, ok := object.(*v1alpha1.APIResourceRegistration)
		if !ok {
			continue
		}
		spec := registration.Spec
		if spec.Group != group || spec.Resource != resource || spec.EtcdPrefix == "" {
			continue
		}
		key := spec.EtcdPrefix + "/"
		if namespace != "" {
			key += namespace + "/"
		}
		return key + name
	}
	return ""
}
