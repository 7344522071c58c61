package conditions

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fcache "k8s.io/client-go/tools/cache/testing"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func definition(name, uid string, created time.Time, conditions ...string) *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name + ".example.com", UID: types.UID(uid), CreationTimestamp: metav1.NewTime(created.Truncate(time.Second))},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: name},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}, {Name: "v0"}},
		},
	}
	for _, c := range conditions {
		kind, status, _ := strings.Cut(c, "=")
		d.Status.Conditions = append(d.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{
			Type: apiextensionsv1.CustomResourceDefinitionConditionType(kind), Status: apiextensionsv1.ConditionStatus(status),
			Reason: "Because" + kind, Message: "message of " + c, LastTransitionTime: metav1.NewTime(created.Truncate(time.Second)),
		})
	}
	return d
}

func apiService(name string, available apiregistrationv1.ConditionStatus) *apiregistrationv1.APIService {
	version, group, _ := strings.Cut(name, ".")
	s := &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid of " + name), CreationTimestamp: metav1.Now()},
		Spec:       apiregistrationv1.APIServiceSpec{Group: group, Version: version},
	}
	if available != "" {
		s.Status.Conditions = []apiregistrationv1.APIServiceCondition{{
			Type: apiregistrationv1.Available, Status: available, Reason: "Test", Message: "it is " + string(available), LastTransitionTime: metav1.Now(),
		}}
	}
	return s
}

// fixture is Transitions on two informers.
type fixture struct {
	*Transitions
	history

	definitions, services, namespaces *fcache.FakeControllerSource
	served                            atomic.Bool
	asked                             atomic.Int64
}

func newFixture(t *testing.T, started time.Time, before ...*apiextensionsv1.CustomResourceDefinition) *fixture {
	t.Helper()
	f := &fixture{history: newHistory(), definitions: fcache.NewFakeControllerSource(), services: fcache.NewFakeControllerSource(), namespaces: fcache.NewFakeControllerSource()}
	for _, d := range before {
		f.definitions.Add(d)
	}
	f.Transitions = NewTransitions(TransitionsConfig{
		ServerID: "server", Started: started, Append: f.Append,
		Definitions: informerOf(t, f.definitions, &apiextensionsv1.CustomResourceDefinition{}),
		APIServices: informerOf(t, f.services, &apiregistrationv1.APIService{}),
		Namespaces:  informerOf(t, f.namespaces, &corev1.Namespace{}),
		Served: func(_ context.Context, group, version, plural string) bool {
			if group != "example.com" || version != "v1" || plural == "" {
				t.Errorf("asked for %s/%s %s", group, version, plural)
			}
			f.asked.Add(1)
			return f.served.Load()
		},
	})
	inBackground(t, func(ctx context.Context) {
		if err := f.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	<-f.ready
	return f
}

// waitTransitions waits until there are n, and writes them as lines.
func (f *fixture) waitTransitions(t *testing.T, n int) string {
	t.Helper()
	waitFor(t, fmt.Sprintf("%d transitions", n), func() bool { return f.Len() >= n })
	var lines []string
	for _, one := range f.all(t) {
		lines = append(lines, fmt.Sprintf("%s %s:%s>%s", one.Spec.Object.Name, one.Spec.Type, one.Spec.From, one.Spec.To))
	}
	return strings.Join(lines, "\n")
}

func TestDefinitionLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t, time.Now().Add(-time.Hour))
	created := time.Now()
	f.definitions.Add(definition("crontabs", "1", created))
	f.definitions.Modify(definition("crontabs", "1", created, "NamesAccepted=True", "Established=False"))
	f.definitions.Modify(definition("crontabs", "1", created, "NamesAccepted=True", "Established=True"))
	waitFor(t, "question whether it is served", func() bool { return f.asked.Load() > 0 })
	f.served.Store(true)
	f.waitTransitions(t, 4)
	f.definitions.Delete(definition("crontabs", "1", created, "NamesAccepted=True", "Established=True"))

	got := f.waitTransitions(t, 6)
	want := strings.Join([]string{
		"crontabs.example.com Established:>False",
		"crontabs.example.com NamesAccepted:>True",
		"crontabs.example.com Established:False>True",
		"crontabs.example.com Served:>True",
		"crontabs.example.com Established:True>",
		"crontabs.example.com NamesAccepted:True>",
	}, "\n")
	if got != want {
		t.Errorf("transitions are\n%s\nwant\n%s", got, want)
	}
	names := map[string]bool{}
	for i, one := range f.all(t) {
		if names[one.Name] || strings.ContainsAny(one.Name, "/%") {
			t.Errorf("name %q is taken, or no segment of a path", one.Name)
		}
		names[one.Name] = true
		if one.ServerID != "server" || one.Spec.Object.Kind != KindDefinition || one.Spec.Object.UID != "1" || one.Spec.At.IsZero() || one.CreationTimestamp.IsZero() {
			t.Errorf("incomplete: %+v", one)
		}
		if held := one.Spec.HeldFor != nil; held != (one.Spec.From != "") {
			t.Errorf("%s from %q has heldFor %v", one.Name, one.Spec.From, one.Spec.HeldFor)
		}
		if became := i == 2; became != (one.Spec.TimeToEstablished != nil) {
			t.Errorf("%d: timeToEstablished is %v", i, one.Spec.TimeToEstablished)
		}
		if i == 2 || i == 3 {
			if one.Spec.TimeToServed == nil || one.Spec.TimeToServed.Duration <= 0 {
				t.Errorf("%d: timeToServed is %v", i, one.Spec.TimeToServed)
			}
		} else if one.Spec.TimeToServed != nil {
			t.Errorf("%d: timeToServed is %v", i, one.Spec.TimeToServed)
		}
	}
	if current := f.Current(); len(current) != 0 {
		t.Errorf("after the deletion there is %v", current)
	}
}

func TestOldObjectsAreNoTransitions(t *testing.T) {
	t.Parallel()
	started := time.Now()
	long := started.Add(-24 * time.Hour)
	f := newFixture(t, started, definition("old", "1", long, "Established=True"), definition("young", "2", started.Add(time.Second), "Established=True"))
	got := f.waitTransitions(t, 1)
	if got != "young.example.com Established:>True" {
		t.Errorf("transitions are\n%s", got)
	}
	waitFor(t, "both", func() bool { return len(f.Current()) == 2 })
	if since := f.Current()[0].Since; !since.Equal(long.Truncate(time.Second)) {
		t.Errorf("the old one is Established since %v, want %v", since, long)
	}
	// A change of an old one is a transition, and held since it says so itself.
	f.definitions.Modify(definition("old", "1", long, "Established=False"))
	f.waitTransitions(t, 2)
	last := f.all(t)[1]
	if last.Spec.From != "True" || last.Spec.HeldFor == nil || last.Spec.HeldFor.Duration < 24*time.Hour-time.Second || last.Spec.TimeToEstablished != nil {
		t.Errorf("transition is %+v", last.Spec)
	}
}

func TestAPIServiceFlaps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, time.Now())
	const name = "v1.example.com"
	f.services.Add(apiService(name, ""))
	f.services.Modify(apiService(name, apiregistrationv1.ConditionFalse))
	same := apiService(name, apiregistrationv1.ConditionFalse)
	same.Status.Conditions[0].Message = "another message is no transition"
	f.services.Modify(same)
	f.services.Modify(apiService(name, apiregistrationv1.ConditionTrue))
	f.services.Modify(apiService(name, apiregistrationv1.ConditionFalse))
	got := f.waitTransitions(t, 3)
	want := "v1.example.com Available:>False\nv1.example.com Available:False>True\nv1.example.com Available:True>False"
	if got != want {
		t.Errorf("transitions are\n%s\nwant\n%s", got, want)
	}
	last := f.all(t)[2].Spec
	if last.Reason != "Test" || last.Message != "it is False" || last.Object.Kind != KindAPIService {
		t.Errorf("last is %+v", last)
	}
	current := f.Current()
	if len(current) != 1 || current[0].Status != "False" || current[0].Since.IsZero() {
		t.Errorf("current is %+v", current)
	}
}

func TestRecreatedUnseen(t *testing.T) {
	t.Parallel()
	f := newFixture(t, time.Now())
	f.definitions.Add(definition("twins", "1", time.Now(), "Established=True"))
	f.waitTransitions(t, 1)
	f.definitions.Modify(definition("twins", "2", time.Now(), "Established=True"))
	f.waitTransitions(t, 3)
	all := f.all(t)
	if all[1].Spec.To != "" || all[1].Spec.Object.UID != "1" || all[2].Spec.From != "" || all[2].Spec.Object.UID != "2" {
		t.Errorf("transitions are %+v", all)
	}
}

func TestMessagesAreBounded(t *testing.T) {
	t.Parallel()
	if got := []rune(cut(strings.Repeat("ä", 5000))); len(got) != maxText+1 {
		t.Errorf("%d runes are kept", len(got))
	}
	if got := cut("short"); got != "short" {
		t.Errorf("got %q", got)
	}
}
