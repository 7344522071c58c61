package inspect

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/requests"
)

// layers describes the layers for the observer of requests, by functions that
// look at the finished server when they are asked.
func (i *Inspector) layers() []requests.Layer {
	var all []requests.Layer
	for _, name := range i.cfg.Layers {
		all = append(all, requests.Layer{
			Name:          name,
			GroupVersions: func() []string { return groupVersions(i.built.Load().webServices(name)) },
			WebServices:   func() []string { return i.built.Load().webServices(name) },
			ListedPaths:   func() []string { return i.built.Load().listedPaths(name) },
			Conditions:    func() []metav1.Condition { return i.layerConditions(name) },
		})
	}
	return all
}

// layerConditions says whether the hooks of a layer went well.
func (i *Inspector) layerConditions(layer string) []metav1.Condition {
	healthy := metav1.Condition{
		Type: v1alpha1.ConditionHealthy, Status: metav1.ConditionTrue, Reason: "HooksWell",
		LastTransitionTime: metav1.NewTime(i.started),
	}
	if trouble := i.cfg.Start.Hooks.Trouble(layer); trouble != "" {
		healthy.Status, healthy.Reason, healthy.Message = metav1.ConditionFalse, "HookTrouble", trouble
	}
	return []metav1.Condition{healthy}
}

// server returns a layer's server; nil for the end of the chain.
func (b *built) server(name string) *genericapiserver.GenericAPIServer {
	for _, layer := range b.target.Layers {
		if layer.Name == name {
			return layer.Server
		}
	}
	return nil
}

func (b *built) outermost() *genericapiserver.GenericAPIServer {
	if len(b.target.Layers) == 0 {
		return nil
	}
	return b.target.Layers[0].Server
}

// webServices are the root paths of a layer's REST services.
func (b *built) webServices(layer string) []string {
	server := b.server(layer)
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
func (b *built) listedPaths(layer string) []string {
	server := b.server(layer)
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
	slices.Sort(all)
	return all
}
