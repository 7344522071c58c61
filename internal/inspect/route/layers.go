package route

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	restful "github.com/emicklei/go-restful/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/endpoints/request"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// answer is who would answer a request, and how.
type answer struct {
	layer string
	hops  []string // layers that got it, outermost first
	// code is certain, or 0.
	code int
	// apiService is the APIService of the group version, if there is one. proxied
	// says that its server answers.
	apiService *apiregistrationv1.APIService
	proxied    bool
	// connects says that the route is a connection to what is behind an object
	// (exec, proxy), and not a change of it.
	connects bool
}

// answer follows a request from layer to layer.
func (e *Explainer) answer(r *http.Request, info *request.RequestInfo) (answer, error) {
	var a answer
	for i, layer := range e.cfg.Layers {
		a.layer, a.hops = layer.Name, append(a.hops, layer.Name)
		if answered, err := a.webService(layer, r); answered || err != nil {
			return a, err
		}
		if i == 0 && e.cfg.APIServices != nil {
			if answered, err := e.aggregated(&a, info); answered || err != nil {
				return a, err
			}
		}
		if layer.Paths != nil && !belowAPI(info.Path) && listed(layer.Paths(), info.Path) {
			return a, nil
		}
		if layer.CustomResources != nil {
			if answered, err := a.custom(layer.CustomResources, info); answered || err != nil {
				return a, err
			}
		}
	}
	a.layer, a.hops, a.code = layerNotFound, append(a.hops, layerNotFound), http.StatusNotFound
	return a, nil
}

// belowAPI says that a path is decided by web services, APIServices and CRDs: the
// layers' muxes list some of these paths, but pass most of them on.
func belowAPI(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first == "api" || first == "apis"
}

// listed says that a mux has a handler for a path. Upstream's muxes match whole
// paths, and what is below a path that ends in "/".
func listed(paths []string, path string) bool {
	if path == "/" || path == "/index.html" {
		return true // the list itself, which is not on the list
	}
	return slices.ContainsFunc(paths, func(p string) bool {
		return p == path || len(p) > 1 && strings.HasSuffix(p, "/") && strings.HasPrefix(path, p)
	})
}

// webService asks the routes of a layer. A web service takes all that is below its
// root, and the one at /apis only that path.
// Source: director in k8s.io/apiserver/pkg/server/handler.go.
func (a *answer) webService(layer Layer, r *http.Request) (bool, error) {
	if layer.WebServices == nil {
		return false, nil
	}
	services := layer.WebServices()
	path := r.URL.Path
	taken := slices.ContainsFunc(services, func(ws *restful.WebService) bool {
		root := ws.RootPath()
		if root == "/apis" {
			return path == root || path == root+"/"
		}
		return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
	})
	if !taken {
		return false, nil
	}
	_, route, err := restful.CurlyRouter{}.SelectRoute(services, r)
	if refused := (restful.ServiceError{}); errors.As(err, &refused) {
		// Others depend on the headers.
		if refused.Code == http.StatusNotFound || refused.Code == http.StatusMethodNotAllowed {
			a.code = refused.Code
		}
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("finding the route in layer %s: %w", layer.Name, err)
	}
	a.connects = route != nil && route.Metadata["x-kubernetes-action"] == "connect"
	return true, nil
}

// aggregated decides what the aggregator does beside its own group: it answers
// discovery of all groups, and proxies group versions whose APIService has a service.
// Source: AddAPIService in k8s.io/kube-aggregator/pkg/apiserver.
func (e *Explainer) aggregated(a *answer, info *request.RequestInfo) (bool, error) {
	parts := strings.Split(strings.Trim(info.Path, "/"), "/")
	var name string
	switch {
	case parts[0] == "api":
		name = "v1."
	case parts[0] != "apis":
		return false, nil
	case len(parts) == 1:
		return true, nil
	case len(parts) == 2:
		services, err := e.cfg.APIServices.List(labels.Everything())
		if err != nil {
			return false, fmt.Errorf("listing APIServices: %w", err)
		}
		return slices.ContainsFunc(services, func(s *apiregistrationv1.APIService) bool { return s.Spec.Group == parts[1] }), nil
	default:
		name = parts[2] + "." + parts[1]
	}
	service, err := e.cfg.APIServices.Get(name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("getting APIService %s: %w", name, err)
	}
	a.apiService = service
	if service.Spec.Service == nil {
		return false, nil
	}
	a.proxied = true
	if !available(service) {
		a.code = http.StatusServiceUnavailable
	}
	return true, nil
}

func available(service *apiregistrationv1.APIService) bool {
	return slices.ContainsFunc(service.Status.Conditions, func(c apiregistrationv1.APIServiceCondition) bool {
		return c.Type == apiregistrationv1.Available && c.Status == apiregistrationv1.ConditionTrue
	})
}
