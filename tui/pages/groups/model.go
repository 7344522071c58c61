package groups

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/data"
)

// group is an API group with its versions, the preferred one first.
type group struct {
	name     string
	versions []*groupVersion
}

// groupVersion is a version of a group.
type groupVersion struct {
	schema.GroupVersion
	// service is the APIService, discovery what discovery knows; nil where there is none.
	service   *joined.APIServiceLine
	discovery *v1alpha1.DiscoveryState
	resources []resource
}

// resource is a resource in a version.
type resource struct {
	*v1alpha1.APIResourceRegistration
	// storage is what is stored of it; nil where that is not known.
	storage *v1alpha1.ResourceStorage
}

// state is how far a version can be used.
func (v *groupVersion) state() (joined.Severity, string) {
	if v.service != nil && v.service.State.Severity == joined.Bad {
		return joined.Bad, "unavailable"
	}
	if v.discovery != nil {
		switch v.discovery.Status.Freshness {
		case v1alpha1.DiscoveryStale:
			return joined.Warning, "stale"
		case v1alpha1.DiscoveryMissing:
			return joined.Warning, "missing"
		case v1alpha1.DiscoveryCurrent:
		}
	}
	if v.service != nil && v.service.State.Severity != joined.OK {
		return joined.Warning, "not sure"
	}
	return joined.OK, "served"
}

// why is the reason of a state that is not well, in a clause.
func (v *groupVersion) why() string {
	switch severity, _ := v.state(); {
	case severity == joined.OK:
		return ""
	case v.service != nil && v.service.State.Severity != joined.OK:
		return v.service.State.Why
	case v.discovery != nil:
		return v.discovery.Status.Error
	}
	return ""
}

// off tells whether nothing of a version is served, and that it is meant to be so.
func (v *groupVersion) off() bool {
	return v.service == nil && len(v.resources) > 0 &&
		!slices.ContainsFunc(v.resources, func(r resource) bool { return r.Spec.Served })
}

// severity is that of the worst version.
func (g *group) severity() joined.Severity {
	worst := joined.OK
	for _, v := range g.versions {
		severity, _ := v.state()
		worst = max(worst, severity)
	}
	return worst
}

// collect puts groups together, those with trouble first and then by name.
func collect(frame data.Frame) []*group {
	c := collector{
		groups:   map[string]*group{},
		versions: map[schema.GroupVersion]*groupVersion{},
		storages: map[schema.GroupResource]*v1alpha1.ResourceStorage{},
	}
	for _, s := range data.Objects[*v1alpha1.ResourceStorage](frame, data.Of("resourcestorages")) {
		c.storages[schema.GroupResource{Group: s.Spec.Group, Resource: s.Spec.Resource}] = s
	}
	index := joined.NewAPIServiceIndex(data.Objects[*v1alpha1.APIServiceProbe](frame, data.Of("apiserviceprobes")), nil)
	for _, s := range data.Objects[*apiregistrationv1.APIService](frame, data.APIServices) {
		line := index.Line(s)
		c.version(s.Spec.Group, s.Spec.Version).service = &line
	}
	for _, d := range data.Objects[*v1alpha1.DiscoveryState](frame, data.Of("discoverystates")) {
		c.version(d.Spec.Group, d.Spec.Version).discovery = d
	}
	for _, r := range data.Objects[*v1alpha1.APIResourceRegistration](frame, data.Of("apiresourceregistrations")) {
		v := c.version(r.Spec.Group, r.Spec.Version)
		v.resources = append(v.resources, resource{r, c.storages[schema.GroupResource{Group: r.Spec.Group, Resource: r.Spec.Resource}]})
	}
	return c.sorted()
}

// collector collects versions in any order.
type collector struct {
	groups   map[string]*group
	versions map[schema.GroupVersion]*groupVersion
	storages map[schema.GroupResource]*v1alpha1.ResourceStorage
}

func (c *collector) version(name, version string) *groupVersion {
	gv := schema.GroupVersion{Group: name, Version: version}
	if v := c.versions[gv]; v != nil {
		return v
	}
	v := &groupVersion{GroupVersion: gv}
	c.versions[gv] = v
	if c.groups[name] == nil {
		c.groups[name] = &group{name: name}
	}
	c.groups[name].versions = append(c.groups[name].versions, v)
	return v
}

func (c *collector) sorted() []*group {
	groups := make([]*group, 0, len(c.groups))
	for _, g := range c.groups {
		slices.SortFunc(g.versions, func(a, b *groupVersion) int {
			return version.CompareKubeAwareVersionStrings(b.Version, a.Version)
		})
		for _, v := range g.versions {
			slices.SortStableFunc(v.resources, func(a, b resource) int { return cmp.Compare(a.Spec.Resource, b.Spec.Resource) })
		}
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.severity(), a.severity()), cmp.Compare(a.name, b.name))
	})
	return groups
}

// coreName is what the group without a name is called.
func coreName(group string) string { return cmp.Or(group, "core") }
