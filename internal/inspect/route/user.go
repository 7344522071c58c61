package route

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// user returns who the request would be from: who asks, or whom the spec names if
// the one who asks may know what that one may do.
func (e *Explainer) user(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (user.Info, error) {
	asker, ok := request.UserFrom(ctx)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("finding out who asks: no user in the context"))
	}
	switch {
	case spec.User == "" && len(spec.Groups) > 0:
		return nil, badRequest("spec.groups are given without spec.user")
	case len(spec.Groups) > maxGroups:
		return nil, badRequest("spec.groups has %d entries, more than %d", len(spec.Groups), maxGroups)
	case len(spec.User) > maxUser || strings.ContainsFunc(spec.User, unicode.IsControl):
		return nil, badRequest("spec.user must be a name of at most %d bytes without control characters", maxUser)
	case slices.ContainsFunc(spec.Groups, func(group string) bool {
		return group == "" || len(group) > maxUser || strings.ContainsFunc(group, unicode.IsControl)
	}):
		return nil, badRequest("spec.groups must hold names of 1 to %d bytes without control characters", maxUser)
	case spec.User == "", spec.User == asker.GetName() && len(spec.Groups) == 0:
		return asker, nil
	}
	if err := e.mayAskFor(ctx, asker, spec); err != nil {
		return nil, err
	}
	return named(spec), nil
}

// maxUser bounds names of users and groups, in bytes.
const maxUser = 1024

// named makes the user as authentication would: with the groups that it adds.
func named(spec v1alpha1.RouteExplanationSpec) user.Info {
	groups := slices.Clone(spec.Groups)
	if namespace, _, err := serviceaccount.SplitUsername(spec.User); err == nil && len(groups) == 0 {
		groups = serviceaccount.MakeGroupNames(namespace)
	}
	added := user.AllAuthenticated
	if spec.User == user.Anonymous {
		added = user.AllUnauthenticated
	}
	if !slices.Contains(groups, added) {
		groups = append(groups, added)
	}
	return &user.DefaultInfo{Name: spec.User, Groups: groups}
}

// mayAskFor returns Forbidden unless asker may create SubjectAccessReviews, which
// tell the same, or may impersonate the user with all the groups.
func (e *Explainer) mayAskFor(ctx context.Context, asker user.Info, spec v1alpha1.RouteExplanationSpec) error {
	review := authorizer.AttributesRecord{
		User: asker, Verb: "create", APIGroup: "authorization.k8s.io", APIVersion: "v1",
		Resource: "subjectaccessreviews", ResourceRequest: true,
	}
	allowed, err := e.allows(ctx, review)
	if err != nil {
		return err
	}
	if allowed {
		return nil
	}
	for _, one := range impersonations(asker, spec) {
		allowed, err := e.allows(ctx, one)
		if err != nil {
			return err
		}
		if !allowed {
			return apierrors.NewForbidden(v1alpha1.Resource("routeexplanations"), "", fmt.Errorf(
				"user %q may not have a request of user %q explained: that needs \"create\" on subjectaccessreviews.authorization.k8s.io, "+
					"or \"impersonate\" on the user and all groups that are named", asker.GetName(), short(spec.User)))
		}
	}
	return nil
}

// impersonations are what must be allowed for taking the user's place, as the
// impersonation filter asks for it.
func impersonations(asker user.Info, spec v1alpha1.RouteExplanationSpec) []authorizer.AttributesRecord {
	one := authorizer.AttributesRecord{
		User: asker, Verb: "impersonate", APIVersion: "v1", Resource: "users", Name: spec.User, ResourceRequest: true,
	}
	if namespace, name, err := serviceaccount.SplitUsername(spec.User); err == nil {
		one.Resource, one.Namespace, one.Name = "serviceaccounts", namespace, name
	}
	all := []authorizer.AttributesRecord{one}
	for _, group := range spec.Groups {
		one := authorizer.AttributesRecord{
			User: asker, Verb: "impersonate", APIVersion: "v1", Resource: "groups", Name: group, ResourceRequest: true,
		}
		all = append(all, one)
	}
	return all
}

func (e *Explainer) allows(ctx context.Context, attributes authorizer.AttributesRecord) (bool, error) {
	decision, _, err := e.cfg.Authorizer.Authorize(ctx, attributes)
	if decision == authorizer.DecisionAllow {
		return true, nil
	}
	if err != nil {
		return false, apierrors.NewInternalError(fmt.Errorf("finding out whether user %q may ask: %w", attributes.User.GetName(), err))
	}
	return false, nil
}
