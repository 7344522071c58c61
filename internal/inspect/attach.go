package inspect

import (
	"cmp"
	"slices"
	"strings"

	genericapiserver "k8s.io/apiserver/pkg/server"
	flowcontrollisters "k8s.io/client-go/listers/flowcontrol/v1"

	"github.com/kapi-dev/kapi/internal/inspect/auth"
	"github.com/kapi-dev/kapi/internal/inspect/requests"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Layer is one server of the finished chain.
type Layer struct {
	Name   string
	Server *genericapiserver.GenericAPIServer
}

// Target is the finished server.
type Target struct {
	// Layers are its layers, outermost first.
	Layers []Layer
	// FlowSchemas and PriorityLevels are nil without priority and fairness.
	FlowSchemas    flowcontrollisters.FlowSchemaLister
	PriorityLevels flowcontrollisters.PriorityLevelConfigurationLister
}

// built is what there is once the server is finished.
type built struct {
	target     Target
	collectors map[string]store.Collect
}

// Attach takes over the finished server; the tables fill from then on.
func (i *Inspector) Attach(target Target) {
	flow := auth.NewFlow(auth.FlowConfig{
		ServerID: i.cfg.ServerID, FlowSchemas: target.FlowSchemas, PriorityLevels: target.PriorityLevels, Users: i.requests.FlowUsers,
	})
	b := &built{target: target, collectors: map[string]store.Collect{
		"serverlayers":     i.requests.Layers,
		"filters":          i.requests.Filters,
		"authenticators":   i.authenticators.Collect,
		"authorizers":      i.authorizers.Collect,
		"admissionplugins": i.admission.Collect,
		"flowstates":       flow.Collect,
	}}
	i.built.Store(b)
}

// layers describes the layers for the observer of requests, by functions that
// look at the finished server when they are asked.
func (i *Inspector) layers() []requests.Layer {
	var all []requests.Layer
	for _, name := range i.cfg.Layers {
		all = append(all, requests.Layer{
			Name:          name,
			GroupVersions: func() []string { return groupVersions(i.webServices(name)) },
			WebServices:   func() []string { return i.webServices(name) },
			ListedPaths:   func() []string { return i.listedPaths(name) },
		})
	}
	return all
}

func (b *built) server(name string) *genericapiserver.GenericAPIServer {
	for _, layer := range b.target.Layers {
		if layer.Name == name {
			return layer.Server
		}
	}
	return nil
}

// webServices are the root paths of a layer's REST services.
func (i *Inspector) webServices(layer string) []string {
	server := i.built.Load().server(layer)
	if server == nil {
		return nil
	}
	var roots []string
	for _, service := range server.Handler.GoRestfulContainer.RegisteredWebServices() {
		roots = append(roots, service.RootPath())
	}
	slices.Sort(roots)
	return roots
}

// listedPaths are the paths of a layer's own, without its delegate's.
func (i *Inspector) listedPaths(layer string) []string {
	server := i.built.Load().server(layer)
	if server == nil {
		return nil
	}
	paths := slices.Clone(server.Handler.ListedPaths())
	slices.Sort(paths)
	return slices.Compact(paths)
}

// groupVersions reads the group versions from the roots of REST services.
func groupVersions(roots []string) []string {
	var all []string
	for _, root := range roots {
		parts := strings.Split(strings.Trim(root, "/"), "/")
		switch {
		case len(parts) == 2 && parts[0] == "api":
			all = append(all, parts[1])
		case len(parts) == 3 && parts[0] == "apis":
			all = append(all, parts[1]+"/"+parts[2])
		}
	}
	slices.SortFunc(all, cmp.Compare)
	return all
}
