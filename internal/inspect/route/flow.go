package route

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// classify returns the flow schema that a request would be put in: of those that
// match the one of the lowest matchingPrecedence, by name among equals. Upstream
// has no way to ask without queueing; these are the rules in the documentation of
// the types in k8s.io/api/flowcontrol/v1.
func (e *Explainer) classify(u user.Info, info *request.RequestInfo) (*flowcontrolv1.FlowSchema, error) {
	schemas, err := e.cfg.FlowSchemas.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing flow schemas: %w", err)
	}
	var first *flowcontrolv1.FlowSchema
	for _, schema := range schemas {
		if schemaMatches(schema, u, info) && (first == nil || inFrontOf(schema, first)) {
			first = schema
		}
	}
	return first, nil
}

func inFrontOf(a, b *flowcontrolv1.FlowSchema) bool {
	return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), strings.Compare(a.Name, b.Name)) < 0
}

func schemaMatches(schema *flowcontrolv1.FlowSchema, u user.Info, info *request.RequestInfo) bool {
	return slices.ContainsFunc(schema.Spec.Rules, func(rule flowcontrolv1.PolicyRulesWithSubjects) bool {
		if !slices.ContainsFunc(rule.Subjects, func(s flowcontrolv1.Subject) bool { return subjectMatches(s, u) }) {
			return false
		}
		if info.IsResourceRequest {
			return slices.ContainsFunc(rule.ResourceRules, func(r flowcontrolv1.ResourcePolicyRule) bool { return resourceMatches(r, info) })
		}
		return slices.ContainsFunc(rule.NonResourceRules, func(r flowcontrolv1.NonResourcePolicyRule) bool { return pathMatches(r, info) })
	})
}

func subjectMatches(subject flowcontrolv1.Subject, u user.Info) bool {
	switch {
	case subject.Kind == flowcontrolv1.SubjectKindUser && subject.User != nil:
		return among(u.GetName(), []string{subject.User.Name})
	case subject.Kind == flowcontrolv1.SubjectKindGroup && subject.Group != nil:
		return subject.Group.Name == "*" || slices.Contains(u.GetGroups(), subject.Group.Name)
	case subject.Kind == flowcontrolv1.SubjectKindServiceAccount && subject.ServiceAccount != nil:
		namespace, name, err := serviceaccount.SplitUsername(u.GetName())
		return err == nil && namespace == subject.ServiceAccount.Namespace && among(name, []string{subject.ServiceAccount.Name})
	default:
		return false
	}
}

func resourceMatches(rule flowcontrolv1.ResourcePolicyRule, info *request.RequestInfo) bool {
	resource := info.Resource
	if info.Subresource != "" {
		resource += "/" + info.Subresource
	}
	if !among(info.Verb, rule.Verbs) || !among(info.APIGroup, rule.APIGroups) || !among(resource, rule.Resources) {
		return false
	}
	if info.Namespace == "" {
		return rule.ClusterScope
	}
	return among(info.Namespace, rule.Namespaces)
}

func pathMatches(rule flowcontrolv1.NonResourcePolicyRule, info *request.RequestInfo) bool {
	return among(info.Verb, rule.Verbs) && slices.ContainsFunc(rule.NonResourceURLs, func(pattern string) bool {
		// A pattern covers what is below it, with or without "/*" at its end.
		below := strings.TrimSuffix(strings.TrimSuffix(pattern, "*"), "/") + "/"
		return pattern == "*" || pattern == info.Path || strings.HasPrefix(info.Path, below)
	})
}

// among says whether a value is in a list, or the list is the wildcard.
func among(value string, list []string) bool {
	return slices.Contains(list, value) || len(list) == 1 && list[0] == "*"
}
