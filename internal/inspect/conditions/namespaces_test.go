package conditions

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// namespace makes one with conditions "Type=Status".
func namespace(name string, conditions ...string) *corev1.Namespace {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid of " + name), CreationTimestamp: metav1.Now()}}
	for _, c := range conditions {
		kind, status, _ := strings.Cut(c, "=")
		n.Status.Conditions = append(n.Status.Conditions, corev1.NamespaceCondition{
			Type: corev1.NamespaceConditionType(kind), Status: corev1.ConditionStatus(status), Reason: "Because" + kind,
			Message: "message of " + c, LastTransitionTime: metav1.Now(),
		})
	}
	return n
}

// Of a namespace that stays there is an entry when it begins to be kept, and one when
// it no longer is. Of one that goes as it should there is none.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t, time.Now().Add(-time.Hour))
	f.namespaces.Add(namespace("quiet"))
	f.namespaces.Add(namespace("kept"))
	ok := []string{"NamespaceDeletionDiscoveryFailure=False", "NamespaceContentRemaining=False"}
	f.namespaces.Modify(namespace("kept", ok...))
	f.namespaces.Modify(namespace("quiet", ok...))
	f.namespaces.Delete(namespace("quiet", ok...))
	f.namespaces.Modify(namespace("kept", "NamespaceDeletionDiscoveryFailure=True", "NamespaceContentRemaining=False"))
	waitFor(t, "the failure", func() bool { return len(f.all(t)) == 1 })
	bad := slices.IndexFunc(f.Current(), func(c Current) bool { return c.Status == "True" })
	if current := f.Current(); bad < 0 || len(current) != 2 || current[bad].Kind != KindNamespace || current[bad].Name != "kept" {
		t.Errorf("now it is %+v", current)
	}
	f.namespaces.Modify(namespace("kept", ok...))
	waitFor(t, "its end", func() bool { return len(f.all(t)) == 2 })
	f.namespaces.Delete(namespace("kept", ok...))
	waitFor(t, "the deletion", func() bool { return len(f.Current()) == 0 })
	f.namespaces.Add(namespace("again", "NamespaceFinalizersRemaining=True"))
	waitFor(t, "the next one", func() bool { return len(f.all(t)) == 3 })
	f.namespaces.Delete(namespace("again", "NamespaceFinalizersRemaining=True"))
	waitFor(t, "its end", func() bool { return len(f.all(t)) == 4 })

	var got []string
	for _, e := range f.all(t) {
		got = append(got, strings.Join([]string{e.Spec.Object.Kind, e.Spec.Object.Name, e.Spec.Type, e.Spec.From, e.Spec.To, e.Spec.Message}, "|"))
	}
	want := []string{
		"Namespace|kept|NamespaceDeletionDiscoveryFailure|False|True|message of NamespaceDeletionDiscoveryFailure=True",
		"Namespace|kept|NamespaceDeletionDiscoveryFailure|True|False|message of NamespaceDeletionDiscoveryFailure=False",
		"Namespace|again|NamespaceFinalizersRemaining||True|message of NamespaceFinalizersRemaining=True",
		"Namespace|again|NamespaceFinalizersRemaining|True||",
	}
	if !slices.Equal(got, want) {
		t.Errorf("entries\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
