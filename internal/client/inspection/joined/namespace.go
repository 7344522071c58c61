package joined

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// NamespaceLine is a namespace that is being deleted and is still there.
type NamespaceLine struct {
	// Name is the object's.
	Name string `json:"name"`
	// State sums it up: OK while the deletion goes on as it should, Bad once it lasts.
	// Since is when it began, and Why what keeps the namespace.
	State State `json:"state"`
	// Blocked is the type of the condition that says so; empty if none does.
	Blocked string `json:"blocked,omitempty"`
	// GroupVersions are those whose resources could not be found ("metrics.k8s.io/v1beta1").
	GroupVersions []string `json:"groupVersions,omitempty"`
	// Resources are those that objects are left of ("widgets.example.com").
	Resources []string `json:"resources,omitempty"`
}

// blocking are the conditions that say what keeps a namespace, the first reason
// first: without all resources nothing is complete, and what could not be deleted or
// waits for its finalizers remains. All of them are wanted to be False.
// Source: k8s.io/kubernetes/pkg/controller/namespace/deletion.
func blocking() []string {
	return []string{
		string(corev1.NamespaceDeletionDiscoveryFailure), string(corev1.NamespaceDeletionGVParsingFailure),
		string(corev1.NamespaceDeletionContentFailure), string(corev1.NamespaceFinalizersRemaining), string(corev1.NamespaceContentRemaining),
	}
}

// remains tells of a condition that is true for a while in every deletion.
func remains(kind string) bool {
	return kind == string(corev1.NamespaceFinalizersRemaining) || kind == string(corev1.NamespaceContentRemaining)
}

// JoinNamespace puts the line of a namespace together, as it is at the time now.
func JoinNamespace(object *corev1.Namespace, now time.Time) NamespaceLine {
	line := NamespaceLine{Name: object.Name, State: State{Word: stateTerminating}}
	if object.DeletionTimestamp != nil {
		line.State.Since = object.DeletionTimestamp.Time
	}
	conditions := namespaceConditions(object)
	line.GroupVersions = groupVersionsIn(Find(conditions, string(corev1.NamespaceDeletionDiscoveryFailure)))
	line.Resources = resourcesIn(Find(conditions, string(corev1.NamespaceContentRemaining)))
	lasts := !line.State.Since.IsZero() && now.Sub(line.State.Since) > patience
	for _, kind := range blocking() {
		if c := Find(conditions, kind); c.Status == "True" {
			line.Blocked, line.State.Why = kind, because(c)
			if lasts || !remains(kind) {
				line.State.Severity = Warning
			}
			break
		}
	}
	if lasts {
		line.State.Severity = Bad
		if line.Blocked == "" {
			line.State.Why = waits(object)
		}
	}
	return line
}

// waits says what a namespace waits for that has no condition about it.
func waits(object *corev1.Namespace) string {
	finalizers := slices.Clone(object.Finalizers)
	for _, f := range object.Spec.Finalizers {
		if f != corev1.FinalizerKubernetes {
			finalizers = append(finalizers, string(f))
		}
	}
	switch {
	case len(object.Status.Conditions) == 0 && slices.Contains(object.Spec.Finalizers, corev1.FinalizerKubernetes):
		return noNamespaceController
	case len(finalizers) > 0:
		return "it waits for " + strings.Join(finalizers, ", ")
	default:
		return podsRemain
	}
}

// podsRemain is the reason where all conditions say that all is gone. Pods go first,
// and while one is left upstream does not come to writing down what is.
// Source: deleteAllContent of k8s.io/kubernetes/pkg/controller/namespace/deletion.
const podsRemain = "its conditions do not say why: most likely pods are left, with finalizers"

// noNamespaceController is the reason where nothing deletes what is in namespaces.
const noNamespaceController = "nothing has deleted what is in it: the namespace controller does not run"

func namespaceConditions(object *corev1.Namespace) []Condition {
	conditions := make([]Condition, 0, len(object.Status.Conditions))
	for i := range object.Status.Conditions {
		c := &object.Status.Conditions[i]
		conditions = append(conditions, Condition{string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time})
	}
	return conditions
}

// groupVersionsIn finds the group versions that an error of discovery names:
// "… failing: … server APIs: metrics.k8s.io/v1beta1: the server is …, a/v1: …".
func groupVersionsIn(c Condition) []string {
	if c.Status != "True" {
		return nil
	}
	var all []string
	for _, word := range strings.Fields(c.Message) {
		word = strings.TrimRight(word, ":,")
		group, version, ok := strings.Cut(word, "/")
		if ok && isName(group) && isVersion(version) && !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

// resourcesIn finds the resources of "Some resources are remaining: pods. has 1
// resource instances, widgets.example.com has 3 resource instances".
func resourcesIn(c Condition) []string {
	if c.Status != "True" {
		return nil
	}
	var all []string
	_, found, _ := strings.Cut(c.Message, ": ")
	for part := range strings.SplitSeq(found, ", ") {
		name, _, ok := strings.Cut(part, " has ")
		if name = strings.TrimSuffix(name, "."); ok && isName(name) {
			all = append(all, name)
		}
	}
	return all
}

// Anybody who may write the status of a namespace writes these messages, and what is
// found in them becomes part of commands: only names are taken.

func isName(text string) bool {
	return text != "" && !strings.HasPrefix(text, "-") && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '-'
	})
}

func isVersion(text string) bool {
	return len(text) > 1 && text[0] == 'v' && text[1] >= '0' && text[1] <= '9' && isName(text)
}

// look is the command that leads on: to what is the reason, where that is known.
func (n NamespaceLine) look() string {
	switch {
	case len(n.GroupVersions) > 0:
		group, version, _ := strings.Cut(n.GroupVersions[0], "/")
		return "kapi inspect apiservices " + version + "." + group
	case n.Blocked == string(corev1.NamespaceDeletionDiscoveryFailure):
		return "kapi inspect discovery"
	case remains(n.Blocked) && len(n.Resources) > 0:
		return fmt.Sprintf("kapi kubectl get %s -n %s", strings.Join(n.Resources, ","), n.Name)
	case n.State.Why == noNamespaceController:
		return "kapi inspect controllers"
	case n.State.Why == podsRemain:
		return "kapi kubectl get pods -n " + n.Name
	default:
		return "kapi kubectl describe namespace " + n.Name
	}
}

// why is the reason without the words that all messages about discovery begin with:
// there is one line for it, and what can't be discovered should stand there.
func (n NamespaceLine) why() string {
	if _, groups, ok := strings.Cut(n.State.Why, "the complete list of server APIs: "); ok {
		return "discovery failed for " + groups
	}
	return n.State.Why
}

// namespaceProblems are namespaces that do not go.
func namespaceProblems(parts OverviewParts) []Problem {
	var (
		all   []Problem
		names []string
	)
	for _, n := range parts.Namespaces {
		if n.State.Severity == OK {
			continue
		}
		if n.State.Why == podsRemain && idle(parts.Controllers, "namespace") {
			n.State.Why = noNamespaceController // and an earlier one has written the conditions
		}
		names = append(names, n.Name)
		what := fmt.Sprintf("namespace %s has been Terminating for %s", n.Name, duration.HumanDuration(max(0, parts.About.At.Sub(n.State.Since))))
		all = append(all, Problem{n.State.Severity, what, n.why(), n.look()})
	}
	return gather(all, names, func(n int) string { return fmt.Sprintf("%d namespaces do not end", n) }, namespacesLook(all))
}

// idle says that a controller is known, and runs in no server.
func idle(controllers []*v1alpha1.Controller, name string) bool {
	known := false
	for _, c := range controllers {
		if c.Name != name {
			continue
		}
		if c.Spec.Enabled {
			return false
		}
		known = true
	}
	return known
}

// namespacesLook is the command that leads on from many: theirs, if all have one.
func namespacesLook(all []Problem) string {
	for _, p := range all {
		if p.Look != all[0].Look {
			return "kapi kubectl get namespaces --field-selector status.phase=Terminating"
		}
	}
	if len(all) == 0 {
		return ""
	}
	return all[0].Look
}
