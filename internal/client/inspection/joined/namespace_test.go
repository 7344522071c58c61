package joined

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined/joinedtest"
)

// deletedFor returns a namespace that was deleted a while before noon. Conditions
// are "Type: message", or "Type" for one that is as wanted.
func deletedFor(before time.Duration, conditions ...string) *corev1.Namespace {
	at := metav1.NewTime(noon.Add(-before))
	n := &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", DeletionTimestamp: &at},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating},
	}
	for _, c := range conditions {
		kind, message, bad := strings.Cut(c, ": ")
		status := corev1.ConditionFalse
		if bad {
			status = corev1.ConditionTrue
		}
		n.Status.Conditions = append(n.Status.Conditions, corev1.NamespaceCondition{
			Type: corev1.NamespaceConditionType(kind), Status: status, Reason: "Test", Message: message, LastTransitionTime: at,
		})
	}
	return n
}

// The messages are as the namespace controller of 1.37 writes them.
const (
	undiscovered = "NamespaceDeletionDiscoveryFailure: Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: " +
		"custom.metrics.k8s.io/v1beta1: the server is currently unable to handle the request, metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1"
	refused    = "NamespaceDeletionContentFailure: Failed to delete all resource types, 1 remaining: admission webhook \"guard.example.com\" denied the request: no"
	remaining  = "NamespaceContentRemaining: Some resources are remaining: pods. has 1 resource instances, widgets.example.com has 3 resource instances"
	finalizing = "NamespaceFinalizersRemaining: Some content in the namespace has finalizers remaining: example.com/keep in 3 resource instances"
)

// allGone are the conditions of a namespace that nothing keeps.
func allGone() []string {
	return []string{
		"NamespaceDeletionDiscoveryFailure", "NamespaceDeletionGroupVersionParsingFailure", "NamespaceDeletionContentFailure",
		"NamespaceContentRemaining", "NamespaceFinalizersRemaining",
	}
}

func TestNamespaces(t *testing.T) {
	own := deletedFor(time.Hour, allGone()...)
	own.Finalizers = []string{"example.com/own"}
	other := deletedFor(time.Hour, allGone()...)
	other.Spec.Finalizers = []corev1.FinalizerName{"example.com/spec"}
	for name, c := range map[string]struct {
		object       *corev1.Namespace
		severity     Severity
		blocked, why string
		groups, look string
	}{
		"just deleted":  {object: deletedFor(time.Second), severity: OK, look: "kapi kubectl describe namespace shop"},
		"on its way":    {object: deletedFor(time.Second, remaining), severity: OK, blocked: "NamespaceContentRemaining", why: "Some resources are remaining"},
		"no controller": {object: deletedFor(time.Hour), severity: Bad, why: "the namespace controller does not run", look: "kapi inspect controllers"},
		"dead APIService, at once": {
			object: deletedFor(time.Second, undiscovered), severity: Warning, blocked: "NamespaceDeletionDiscoveryFailure",
			why: "stale GroupVersion discovery", groups: "custom.metrics.k8s.io/v1beta1 metrics.k8s.io/v1beta1",
		},
		"dead APIService": {
			object: deletedFor(2*time.Minute, remaining, undiscovered, finalizing), severity: Bad, blocked: "NamespaceDeletionDiscoveryFailure",
			why: "Discovery failed for some groups, 2 failing", groups: "custom.metrics.k8s.io/v1beta1 metrics.k8s.io/v1beta1",
			look: "kapi inspect apiservices v1beta1.custom.metrics.k8s.io",
		},
		"no discovery at all": {
			object: deletedFor(time.Hour, "NamespaceDeletionDiscoveryFailure: Get https://127.0.0.1:6443/api/v1: EOF"), severity: Bad,
			blocked: "NamespaceDeletionDiscoveryFailure", why: "EOF", look: "kapi inspect discovery",
		},
		"refused": {
			object: deletedFor(time.Hour, refused), severity: Bad, blocked: "NamespaceDeletionContentFailure", why: "guard.example.com",
			look: "kapi kubectl describe namespace shop",
		},
		"finalizers": {
			object: deletedFor(time.Hour, remaining, finalizing), severity: Bad, blocked: "NamespaceFinalizersRemaining", why: "example.com/keep in 3",
			look: "kapi kubectl get pods,widgets.example.com -n shop",
		},
		"hostile": {
			object:   deletedFor(time.Hour, "NamespaceContentRemaining: Some resources are remaining: $(reboot) has 1 resource instances, -x has 1, a;b. has 2"),
			severity: Bad, blocked: "NamespaceContentRemaining", why: "$(reboot)", look: "kapi kubectl describe namespace shop",
		},
		"finalizer of its own": {object: own, severity: Bad, why: "it waits for example.com/own"},
		"finalizer in spec":    {object: other, severity: Bad, why: "it waits for example.com/spec"},
		"nothing":              {object: deletedFor(time.Hour, allGone()...), severity: Bad, why: "most likely pods are left", look: "kapi kubectl get pods -n shop"},
	} {
		got := JoinNamespace(c.object, noon)
		if got.State.Severity != c.severity || got.Blocked != c.blocked || !strings.Contains(got.State.Why, c.why) || (c.why == "") != (got.State.Why == "") {
			t.Errorf("%s: %+v", name, got)
		}
		if groups := strings.Join(got.GroupVersions, " "); groups != c.groups {
			t.Errorf("%s: group versions %q", name, groups)
		}
		if c.look != "" && got.look() != c.look {
			t.Errorf("%s: look at %q", name, got.look())
		}
		if !got.State.Since.Equal(c.object.DeletionTimestamp.Time) || got.State.Word != "Terminating" {
			t.Errorf("%s: %+v", name, got.State)
		}
	}
}

func TestNamespaceProblems(t *testing.T) {
	parts := OverviewParts{About: inspection.About{At: noon}}
	add := func(n int, conditions ...string) {
		for range n {
			object := deletedFor(90*time.Second, conditions...)
			object.Name = fmt.Sprintf("shop%d", len(parts.Namespaces))
			parts.Namespaces = append(parts.Namespaces, JoinNamespace(object, noon))
		}
	}
	add(1, undiscovered)
	if got := namespaceProblems(parts)[0].Why; !strings.HasPrefix(got, "discovery failed for custom.metrics.k8s.io/v1beta1: the server") {
		t.Errorf("one: %s", got)
	}
	if got := summary(namespaceProblems(parts)); got != "bad namespace shop0 has been Terminating for 90s: kapi inspect apiservices v1beta1.custom.metrics.k8s.io" {
		t.Errorf("one: %s", got)
	}
	add(2, undiscovered)
	if got := summary(namespaceProblems(parts)); got != "bad 3 namespaces do not end: kapi inspect apiservices v1beta1.custom.metrics.k8s.io" {
		t.Errorf("three for one reason: %s", got)
	}
	add(1, refused)
	got := namespaceProblems(parts)
	if len(got) != 1 || got[0].Look != "kapi kubectl get namespaces --field-selector status.phase=Terminating" || got[0].Why != "shop0, shop1, shop2, shop3" {
		t.Errorf("for two reasons: %+v", got)
	}
}

// Conditions that an earlier server has written say nothing of one without the controller.
func TestNamespaceWithoutController(t *testing.T) {
	parts := OverviewParts{About: inspection.About{At: noon}, Namespaces: []NamespaceLine{JoinNamespace(deletedFor(time.Hour, allGone()...), noon)}}
	for name, c := range map[string]struct {
		controllers []bool
		why, look   string
	}{
		"not known":      {nil, podsRemain, "kapi kubectl get pods -n shop"},
		"off":            {[]bool{false}, noNamespaceController, "kapi inspect controllers"},
		"on":             {[]bool{true}, podsRemain, "kapi kubectl get pods -n shop"},
		"on in a second": {[]bool{false, true}, podsRemain, "kapi kubectl get pods -n shop"},
	} {
		parts.Controllers = []*v1alpha1.Controller{{ObjectMeta: metav1.ObjectMeta{Name: "job"}, Spec: v1alpha1.ControllerSpec{Enabled: true}}}
		for _, enabled := range c.controllers {
			parts.Controllers = append(parts.Controllers, &v1alpha1.Controller{ObjectMeta: metav1.ObjectMeta{Name: "namespace"}, Spec: v1alpha1.ControllerSpec{Enabled: enabled}})
		}
		if got := namespaceProblems(parts)[0]; got.Why != c.why || got.Look != c.look {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAPIServiceKeepsNamespaces(t *testing.T) {
	s := joinedtest.Lab(t)
	for name, want := range map[string]string{"v1.refused.lab.example": "shop", "v1.missing.lab.example": ""} {
		a, err := LoadAPIService(t.Context(), s, name)
		if got := strings.Join(a.Namespaces, " "); err != nil || got != want {
			t.Errorf("%s keeps %q, %v", name, got, err)
		}
	}
	s.Errors[partNamespaces] = forbidden(partNamespaces)
	for name, missing := range map[string]bool{"v1.refused.lab.example": true, "v1.ok.lab.example": false} {
		a, err := LoadAPIService(t.Context(), s, name)
		if err != nil || (Why(a.Missing, partNamespaces) != "") != missing {
			t.Errorf("%s lacks %+v, %v", name, a.Missing, err)
		}
	}
}
