package view

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined/joinedtest"
	"github.com/kapi-dev/kapi/internal/text"
)

func definitionLines(t *testing.T, s *joinedtest.Server) []joined.DefinitionLine {
	t.Helper()
	lines, missing := joined.Definitions(t.Context(), s, s.Facts.At)
	if len(missing) > 0 {
		t.Fatalf("missing %v", missing)
	}
	var all []joined.DefinitionLine
	for line, err := range lines {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	return all
}

func TestDefinitions(t *testing.T) {
	s := joinedtest.Lab(t)
	lines, now := definitionLines(t, s), s.Facts.At
	strange := lines[0]
	strange.Name = "部品の集まり.e\u0301tendue.例え"
	strange.Objects, strange.Bytes, strange.State.Since = -1, -1, time.Time{}
	lines = append(lines, strange)
	golden(t, "definition/lines", func(w io.Writer, s text.Screen) error {
		return Definitions(w, s, lines, TableOptions{}, now)
	})
	golden(t, "definition/lines-wide", func(w io.Writer, s text.Screen) error {
		return Definitions(w, s, lines, TableOptions{Wide: true, NoHeaders: true}, now)
	})
}

func TestDefinition(t *testing.T) {
	for _, name := range []string{"widgets", "gadgets", "stucks"} {
		s := joinedtest.Lab(t)
		now := s.Facts.At
		d, err := joined.LoadDefinition(t.Context(), s, name+".lab.example", now)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "definition/"+name, func(w io.Writer, s text.Screen) error { return Definition(w, s, d, now) })
	}
}

func TestAPIServices(t *testing.T) {
	s := joinedtest.Lab(t)
	now := s.Facts.At
	lines, _ := joined.APIServices(t.Context(), s)
	var all []joined.APIServiceLine
	for line, err := range lines {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	golden(t, "apiservice/lines", func(w io.Writer, s text.Screen) error {
		return APIServices(w, s, all, TableOptions{}, now)
	})
	golden(t, "apiservice/lines-wide", func(w io.Writer, s text.Screen) error {
		return APIServices(w, s, all, TableOptions{Wide: true}, now)
	})
}

func TestAPIService(t *testing.T) {
	for _, name := range []string{"v1.ok.lab.example", "v1.missing.lab.example", "v1.tls.lab.example", "v1.status.lab.example", "v1.refused.lab.example", "v1.apps"} {
		s := joinedtest.Lab(t)
		now := s.Facts.At
		a, err := joined.LoadAPIService(t.Context(), s, name)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "apiservice/"+strings.TrimSuffix(strings.TrimPrefix(name, "v1."), ".lab.example"), func(w io.Writer, s text.Screen) error {
			return APIService(w, s, a, now)
		})
	}
}

// Overview takes one screen, whatever is wrong.
func TestOverview(t *testing.T) {
	for name, edit := range map[string]func(*joinedtest.Server){
		"lab":       func(*joinedtest.Server) {},
		"healthy":   heal,
		"starting":  starting,
		"forbidden": refuseAll,
		"foreign":   foreign,
		"etcd":      sickEtcd,
	} {
		server := joinedtest.Lab(t)
		edit(server)
		o, err := joined.LoadOverview(t.Context(), server)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "overview/"+name, func(w io.Writer, s text.Screen) error { return Overview(w, s, o) })
		screen := printView(t, text.Screen{Width: 80}, func(w io.Writer, s text.Screen) error { return Overview(w, s, o) })
		if n := strings.Count(screen, "\n"); n > 24 {
			t.Errorf("%s takes %d lines of 80 columns, want at most 24", name, n)
		}
	}
}

func heal(s *joinedtest.Server) {
	s.Objects["requesttraces"], s.CRDs, s.Namespaces = nil, s.CRDs[2:], nil
	s.Objects["controllers"] = slices.DeleteFunc(s.Objects["controllers"], func(o kinds.Object) bool {
		c, ok := o.(*v1alpha1.Controller)
		return ok && joined.ControllerSeverity(c) != joined.OK
	})
	s.Services = slices.DeleteFunc(s.Services, func(a *apiregistrationv1.APIService) bool {
		return a.Status.Conditions[0].Status != apiregistrationv1.ConditionTrue
	})
	s.Objects["discoverystates"] = slices.DeleteFunc(s.Objects["discoverystates"], func(o kinds.Object) bool {
		d, ok := o.(*v1alpha1.DiscoveryState)
		return ok && d.Status.Freshness != v1alpha1.DiscoveryCurrent
	})
}

func starting(s *joinedtest.Server) {
	s.Objects["requesttraces"] = nil
	for i, h := range joinedtest.Of[*v1alpha1.PostStartHook](s, "poststarthooks") {
		if i%4 == 1 {
			h.Status.State, h.Status.FinishedAt = v1alpha1.RunRunning, nil
			h.Status.Duration.Duration = time.Duration(i) * time.Second
		}
	}
	for i, c := range joinedtest.Of[*v1alpha1.HealthCheck](s, "healthchecks") {
		if i%7 == 0 {
			c.Status.State, c.Status.LastError = v1alpha1.HealthFailed, "not finished"
		}
	}
}

func refuseAll(s *joinedtest.Server) {
	for _, kind := range kinds.All() {
		s.Errors[kind.Resource] = apierrors.NewForbidden(schema.GroupResource{Group: v1alpha1.GroupName, Resource: kind.Resource}, "", nil)
	}
	for _, resource := range []string{"customresourcedefinitions", "apiservices", "namespaces"} {
		s.Errors[resource] = s.Errors["filters"]
	}
}

func foreign(s *joinedtest.Server) {
	s.Facts = inspection.About{Type: inspection.Foreign, Address: "https://192.0.2.1:6443", KubernetesVersion: "v1.37.2", At: s.Facts.At}
	for _, resource := range []string{"serverlayers", "filters", "poststarthooks", "requesttraces", "etcdmembers", "apiserviceprobes", "controllers"} {
		s.Objects[resource] = nil
		s.Gaps[resource] = []inspection.Gap{{Reason: "kube-apiserver does not show it"}}
	}
}

func sickEtcd(s *joinedtest.Server) {
	for _, m := range joinedtest.Of[*v1alpha1.EtcdMember](s, "etcdmembers") {
		m.Status.DBSize, m.Status.Alarms = m.Status.Quota-100, []string{"NOSPACE"}
		second := m.DeepCopy()
		second.Name, second.Status = "部品-e\u0301", v1alpha1.EtcdMemberStatus{Error: "context deadline exceeded"}
		s.Objects["etcdmembers"] = append(s.Objects["etcdmembers"], second)
	}
}

// What is missing is said, and so is what is wrong with names and schemas.
func TestDefinitionOfLittle(t *testing.T) {
	server := joinedtest.Lab(t)
	now := server.Facts.At
	refuseAll(server)
	delete(server.Errors, "customresourcedefinitions")
	crd := server.CRD(t, "widgets.lab.example")
	crd.Spec.PreserveUnknownFields = true
	crd.Status.Conditions = append(crd.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.NonStructuralSchema, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: crd.CreationTimestamp, Reason: "Violations",
		Message: "[spec.preserveUnknownFields: Invalid value: true: must be false, spec.versions[0].schema.openAPIV3Schema.properties[部品].type: Required value: must not be empty for specified object fields]",
	})
	d, err := joined.LoadDefinition(t.Context(), server, crd.Name, now)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "definition/little", func(w io.Writer, s text.Screen) error { return Definition(w, s, d, now) })
}

// A server that probes nothing still says what its condition does, and a long history is cut.
func TestAPIServiceOfLittle(t *testing.T) {
	server := joinedtest.Lab(t)
	now := server.Facts.At
	foreign(server)
	a, err := joined.LoadAPIService(t.Context(), server, "v1.missing.lab.example")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 14 {
		next := a.Transitions[0]
		next.From, next.To = "False", "True"
		if i%2 == 1 {
			next.From, next.To = "True", "False"
		}
		next.At.Time = next.At.Add(time.Duration(i-13) * 3 * time.Hour)
		next.HeldFor = &metav1.Duration{Duration: 3 * time.Hour}
		a.Transitions = append(a.Transitions, next)
	}
	a.Earlier = 2
	golden(t, "apiservice/little", func(w io.Writer, s text.Screen) error { return APIService(w, s, a, now) })
}
