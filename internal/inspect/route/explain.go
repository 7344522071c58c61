package route

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// dryRun is one explanation while it is made.
type dryRun struct {
	of     *Explainer
	r      *http.Request
	info   *request.RequestInfo
	user   user.Info
	status v1alpha1.RouteExplanationStatus
}

// Explain says what would happen to the request of spec. Whoever asks must be in
// ctx. Errors are API errors: BadRequest for what is no request, Forbidden for the
// request of another user about whom the one who asks may not know.
func (e *Explainer) Explain(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (v1alpha1.RouteExplanationStatus, error) {
	r, info, err := e.newRequest(ctx, spec)
	if err != nil {
		return v1alpha1.RouteExplanationStatus{}, err
	}
	u, err := e.user(ctx, spec)
	if err != nil {
		return v1alpha1.RouteExplanationStatus{}, err
	}
	d := &dryRun{of: e, r: r.WithContext(request.WithUser(r.Context(), u)), info: info, user: u}
	d.status.RequestInfo = infoOf(info)
	d.status.User = &v1alpha1.RequestUser{Name: u.GetName(), Groups: u.GetGroups()}
	ended, err := d.filters()
	if err == nil && !ended {
		err = d.layers()
	}
	if err != nil {
		return v1alpha1.RouteExplanationStatus{}, apierrors.NewInternalError(fmt.Errorf("explaining the request: %w", err))
	}
	return d.status, nil
}

func infoOf(info *request.RequestInfo) *v1alpha1.RequestInfo {
	return &v1alpha1.RequestInfo{
		IsResourceRequest: info.IsResourceRequest, Verb: info.Verb, APIPrefix: info.APIPrefix,
		APIGroup: info.APIGroup, APIVersion: info.APIVersion, Namespace: info.Namespace,
		Resource: info.Resource, Subresource: info.Subresource, Name: info.Name,
	}
}

// layers fills in what is behind the filters.
func (d *dryRun) layers() error {
	a, err := d.of.answer(d.r, d.info)
	if err != nil {
		return err
	}
	s := &d.status
	s.Layer, s.Hops, s.Code = a.layer, a.hops, int32(a.code)
	s.TerminatedBy = &v1alpha1.EndedBy{Kind: v1alpha1.EndedByLayer, Name: a.layer}
	if a.apiService != nil {
		s.APIService = a.apiService.Name
		s.Service = serviceOf(a.apiService)
	}
	if d.info.IsResourceRequest && !a.proxied && a.code == 0 {
		operation := operationOf(d.info.Verb)
		if a.connects {
			operation = admission.Connect
		}
		if operation != "" {
			s.AdmissionPlugins = d.of.cfg.Admission(operation)
		}
		namespace := d.info.Namespace
		if d.info.APIGroup == "" && d.info.Resource == "namespaces" {
			namespace = "" // RequestInfo says that a namespace is in itself
		}
		s.StorageKey = d.of.cfg.StorageKey(d.info.APIGroup, d.info.Resource, namespace, d.info.Name)
	}
	s.Outcome = d.outcome(a)
	return nil
}

// operationOf is what admission calls a verb; empty for verbs that change nothing.
func operationOf(verb string) admission.Operation {
	switch verb {
	case "create":
		return admission.Create
	case "update", "patch":
		return admission.Update
	case "delete", "deletecollection":
		return admission.Delete
	default:
		return ""
	}
}

func serviceOf(s *apiregistrationv1.APIService) string {
	if s.Spec.Service == nil {
		return ""
	}
	port := int32(443)
	if s.Spec.Service.Port != nil {
		port = *s.Spec.Service.Port
	}
	return fmt.Sprintf("%s/%s:%d", s.Spec.Service.Namespace, s.Spec.Service.Name, port)
}

func (d *dryRun) outcome(a answer) string {
	switch {
	case a.proxied && a.code == http.StatusServiceUnavailable:
		return fmt.Sprintf("The %s layer would answer 503: APIService %s is not available.", a.layer, a.apiService.Name)
	case a.proxied:
		return fmt.Sprintf("The %s layer would send it on to service %s, for APIService %s.", a.layer, serviceOf(a.apiService), a.apiService.Name)
	case a.layer == layerNotFound:
		return "No layer serves the path: the answer would be 404."
	case a.code == http.StatusMethodNotAllowed:
		return fmt.Sprintf("The %s layer would answer 405: the path does not take method %s.", a.layer, d.r.Method)
	case a.code != 0:
		return fmt.Sprintf("The %s layer would answer %d.", a.layer, a.code)
	case len(d.status.AdmissionPlugins) > 0:
		return fmt.Sprintf("The %s layer would answer, after %d admission plugins.", a.layer, len(d.status.AdmissionPlugins))
	default:
		return fmt.Sprintf("The %s layer would answer.", a.layer)
	}
}
