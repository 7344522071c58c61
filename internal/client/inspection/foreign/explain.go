package foreign

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/fault"
)

// unseen is what an explanation can't tell of a foreign server.
const unseen = "This server does not tell which filters, admission plugins and keys in etcd that involves."

// Explain implements inspection.Server: who asks and whether that is allowed is
// what the server answers to reviews, who would answer is read from APIServices and
// discovery. It has no filters, flow schema, admission plugins or storage key.
func (s *Server) Explain(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error) {
	info, path, err := parseRequest(spec.Verb, spec.Path)
	if err != nil {
		return nil, err
	}
	if spec.User == "" && len(spec.Groups) > 0 {
		return nil, fault.WithHint(fault.Usagef("groups are given without a user"), "name the user too")
	}
	explanation := &v1alpha1.RouteExplanation{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "RouteExplanation"},
		ServerID: s.serverID(ctx), Spec: spec,
	}
	status := &explanation.Status
	status.RequestInfo = info
	if status.User, err = s.userOf(ctx, spec); err != nil {
		return nil, err
	}
	if status.Authorization, err = s.authorize(ctx, spec.User == "", reviewOf(status.User, info, path)); err != nil {
		return nil, err
	}
	if !status.Authorization.Allowed {
		status.Code = http.StatusForbidden
		status.TerminatedBy = &v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: "authorization"}
		status.Outcome = "The authorization filter would answer 403. " + unseen
		return explanation, nil
	}
	s.answer(ctx, status, path)
	return explanation, nil
}

// userOf is who the request would be authorized as: who asks now, or whom the
// spec names, with the group that authentication would add.
func (s *Server) userOf(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RequestUser, error) {
	if spec.User == "" {
		review, err := s.client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		return &v1alpha1.RequestUser{Name: review.Status.UserInfo.Username, Groups: review.Status.UserInfo.Groups}, nil
	}
	added := "system:authenticated"
	if spec.User == "system:anonymous" {
		added = "system:unauthenticated"
	}
	groups := slices.Clone(spec.Groups)
	if parts := strings.Split(spec.User, ":"); len(groups) == 0 && len(parts) == 4 && parts[0] == "system" && parts[1] == "serviceaccount" {
		groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + parts[2]}
	}
	if !slices.Contains(groups, added) {
		groups = append(groups, added)
	}
	return &v1alpha1.RequestUser{Name: spec.User, Groups: groups}, nil
}

// authorize asks the server's authorizers: about whoever asks, or about another
// user by a review that not everybody may make.
func (s *Server) authorize(ctx context.Context, self bool, about authorizationv1.SubjectAccessReviewSpec) (*v1alpha1.ExplainedAuthorization, error) {
	reviews := s.client.AuthorizationV1()
	var status authorizationv1.SubjectAccessReviewStatus
	if self {
		review, err := reviews.SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: about.ResourceAttributes, NonResourceAttributes: about.NonResourceAttributes,
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		status = review.Status
	} else {
		review, err := reviews.SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: about}, metav1.CreateOptions{})
		if err != nil {
			return nil, allowing(err, "needs create on subjectaccessreviews.authorization.k8s.io, which ClusterRole system:auth-delegator gives")
		}
		status = review.Status
	}
	return &v1alpha1.ExplainedAuthorization{Allowed: status.Allowed, Reason: status.Reason, Error: status.EvaluationError}, nil
}

// reviewOf is what authorizers see of a request.
func reviewOf(user *v1alpha1.RequestUser, info *v1alpha1.RequestInfo, path string) authorizationv1.SubjectAccessReviewSpec {
	review := authorizationv1.SubjectAccessReviewSpec{User: user.Name, Groups: user.Groups}
	if !info.IsResourceRequest {
		review.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: info.Verb, Path: path}
		return review
	}
	review.ResourceAttributes = &authorizationv1.ResourceAttributes{
		Verb: info.Verb, Group: info.APIGroup, Version: info.APIVersion, Namespace: info.Namespace,
		Resource: info.Resource, Subresource: info.Subresource, Name: info.Name,
	}
	return review
}

// answer tells who would answer a request that is allowed.
func (s *Server) answer(ctx context.Context, status *v1alpha1.RouteExplanationStatus, path string) {
	info := status.RequestInfo
	if !info.IsResourceRequest {
		status.Outcome = fmt.Sprintf("It would be allowed; whether the server has anything at %s is not known without asking. %s", path, unseen)
		return
	}
	gv := schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
	service, noService := s.APIService(ctx, gv.Version+"."+gv.Group)
	if noService == nil {
		status.APIService, status.Service = service.Name, serviceOf(service)
	} else if notFound(noService) {
		noService = nil
	}
	if status.Service != "" {
		proxied(status, service)
		return
	}
	layer, noDefinition := s.layerOf(ctx, info)
	versions, noDiscovery := s.discovery(ctx)
	switch found := served(versions, gv, info); {
	case noDiscovery != nil:
		status.Outcome = fmt.Sprintf("It would be allowed; whether it is served is not known: %s. %s", why(noDiscovery, "/apis"), unseen)
	case !found && noService != nil:
		status.Outcome = fmt.Sprintf("Discovery does not have %s; whether another server does is not known: %s. %s",
			what(info), whyNot(noService, "get", servicesResource), unseen)
	case !found:
		status.Code = http.StatusNotFound
		status.Outcome = fmt.Sprintf("No layer serves %s: the answer would be 404.", what(info))
	case layer != "":
		status.Layer = layer
		status.TerminatedBy = &v1alpha1.EndedBy{Kind: v1alpha1.EndedByLayer, Name: layer}
		status.Outcome = fmt.Sprintf("The %s layer would answer. %s", layer, unseen)
	case noDefinition != nil:
		status.Outcome = fmt.Sprintf("It would be answered; by which layer is not known: %s. %s", whyNot(noDefinition, "get", definitionsResource), unseen)
	default:
		status.Outcome = "It would be answered by a layer for built-in resources; this server does not say which. " + unseen
	}
}

// layerOf is the layer that serves a resource, if it can be told.
func (s *Server) layerOf(ctx context.Context, info *v1alpha1.RequestInfo) (string, error) {
	if layer := ownLayer(info.APIGroup); layer != "" || info.APIGroup == "" {
		return layer, nil
	}
	_, err := s.Definition(ctx, info.Resource+"."+info.APIGroup)
	switch {
	case err == nil:
		return layerAPIExtensions, nil
	case notFound(err):
		return "", nil
	}
	return "", err
}

// proxied tells what the aggregator does with a request for another server.
func proxied(status *v1alpha1.RouteExplanationStatus, service *apiregistrationv1.APIService) {
	status.Layer = layerAggregator
	status.TerminatedBy = &v1alpha1.EndedBy{Kind: v1alpha1.EndedByLayer, Name: layerAggregator}
	available := slices.ContainsFunc(service.Status.Conditions, func(c apiregistrationv1.APIServiceCondition) bool {
		return c.Type == apiregistrationv1.Available && c.Status == apiregistrationv1.ConditionTrue
	})
	if !available {
		status.Code = http.StatusServiceUnavailable
		status.Outcome = fmt.Sprintf("The aggregator layer would answer 503: APIService %s is not available. %s", service.Name, unseen)
		return
	}
	status.Outcome = fmt.Sprintf("The aggregator layer would send it on to service %s, for APIService %s. %s", status.Service, service.Name, unseen)
}

// served tells whether discovery has the resource, and the subresource if one is named.
func served(versions []discovered, gv schema.GroupVersion, info *v1alpha1.RequestInfo) bool {
	for _, version := range versions {
		if version.GroupVersion != gv {
			continue
		}
		for _, resource := range version.Resources {
			if resource.Resource != info.Resource {
				continue
			}
			if info.Subresource == "" {
				return true
			}
			for _, sub := range resource.Subresources {
				if sub.Subresource == info.Subresource {
					return true
				}
			}
		}
	}
	return false
}

// what names the resource of a request.
func what(info *v1alpha1.RequestInfo) string {
	name := info.Resource
	if info.Subresource != "" {
		name += "/" + info.Subresource
	}
	return fmt.Sprintf("%s in %s", name, schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion})
}
