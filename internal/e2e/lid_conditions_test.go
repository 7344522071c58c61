package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestDefinitionTransitions follows a definition from its creation to its end.
func TestDefinitionTransitions(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	l := newLid(t, server.Config(t))
	const name = "things.transitions.e2e.test"
	begun := time.Now()
	defineThings(t, server, "transitions.e2e.test")
	var established v1alpha1.ConditionTransitionSpec
	eventually(t, func(ctx context.Context) error {
		seen, err := l.transitions(ctx, "CustomResourceDefinition", name)
		if err != nil {
			return err
		}
		served := slices.ContainsFunc(seen, func(s v1alpha1.ConditionTransitionSpec) bool { return s.Type == "Served" && s.To == "True" })
		i := slices.IndexFunc(seen, func(s v1alpha1.ConditionTransitionSpec) bool { return s.Type == "Established" && s.To == "True" })
		if !served || i < 0 || seen[i].TimeToServed == nil {
			return fmt.Errorf("not established and served: %+v", seen)
		}
		established = seen[i]
		return nil
	})
	took := time.Since(begun)
	if e := established; e.TimeToEstablished == nil || e.TimeToEstablished.Duration <= 0 || e.TimeToEstablished.Duration > took ||
		e.TimeToServed.Duration < e.TimeToEstablished.Duration || e.TimeToServed.Duration > took || e.Reason == "" {
		t.Errorf("all took %s, the transition to established says %+v: %v, %v", took, e, e.TimeToEstablished, e.TimeToServed)
	}
	uid := established.Object.UID

	undefine(t, server, name)
	eventually(t, func(ctx context.Context) error {
		seen, err := l.transitions(ctx, "CustomResourceDefinition", name)
		if err == nil && !ended(seen, "Established", "NamesAccepted") {
			err = fmt.Errorf("not all have ended: %+v", seen)
		}
		return err
	})
	l.checkHistory(t, "CustomResourceDefinition", name)

	// The next one of that name is another.
	defineThings(t, server, "transitions.e2e.test")
	eventually(t, func(ctx context.Context) error {
		seen, err := l.transitions(ctx, "CustomResourceDefinition", name)
		if err != nil {
			return err
		}
		if last := seen[len(seen)-1]; last.Object.UID == uid {
			return fmt.Errorf("the last transition is of the first object: %+v", last)
		}
		return nil
	})
	undefine(t, server, name)
}

func ended(seen []v1alpha1.ConditionTransitionSpec, kinds ...string) bool {
	for _, kind := range kinds {
		if !slices.ContainsFunc(seen, func(s v1alpha1.ConditionTransitionSpec) bool {
			return s.Type == kind && s.From == "True" && s.To == "" && s.HeldFor != nil
		}) {
			return false
		}
	}
	return true
}

// TestAPIServiceTransitions has an aggregated server go away and come back.
func TestAPIServiceTransitions(t *testing.T) {
	t.Parallel()
	const group, name = "switched.e2e.test", "v1.switched.e2e.test"
	host, port := fixedAddress(t)
	nowhere, closed := fixedAddress(t)
	address, ca := net.JoinHostPort(host, port), newAuthority(t)
	server := kapitest.Start(t, "--map-service", "lid/api:443="+address, "--map-service", "lid/closed:443="+net.JoinHostPort(nowhere, closed))
	l := newLid(t, server.Config(t))
	stop := serveAt(t, address, ca, remoteGroup(group))
	registerAPIService(t, server, group, "v1", ca, serviceOf("api"))
	awaitAvailable(t, server, name, apiregistrationv1.ConditionTrue, "Passed")
	before := l.awaitProbe(t, name, "", "True").Status.UnavailableAnswers

	t.Run("what fails", func(t *testing.T) { failingSteps(t, server, l, ca) })

	stop()
	_, status := raw{method: "GET", path: "/apis/" + group + "/v1/things"}.send(t, server.Config(t))
	if status != http.StatusServiceUnavailable {
		t.Errorf("while the server is away: %d", status)
	}
	lookAgain(t, server, name)
	awaitAvailable(t, server, name, apiregistrationv1.ConditionFalse, "FailedDiscoveryCheck")
	probe := l.awaitProbe(t, name, v1alpha1.ProbeDial, "False")
	if probe.Status.UnavailableAnswers != before+1 || !strings.Contains(probe.Status.Error, "refused") {
		t.Errorf("%d answers were 503, one was seen; error %q", probe.Status.UnavailableAnswers-before, probe.Status.Error)
	}
	if _, status := (raw{method: "GET", path: "/apis/" + group + "/v1/things"}).send(t, server.Config(t)); status != http.StatusServiceUnavailable {
		t.Errorf("while the APIService is not available: %d", status)
	}
	if probe := l.awaitProbe(t, name, v1alpha1.ProbeDial, "False"); probe.Status.UnavailableAnswers != before+2 {
		t.Errorf("%d answers were 503, two were seen", probe.Status.UnavailableAnswers-before)
	}

	serveAt(t, address, ca, remoteGroup(group))
	lookAgain(t, server, name)
	awaitAvailable(t, server, name, apiregistrationv1.ConditionTrue, "Passed")
	probe = l.awaitProbe(t, name, "", "True")
	if len(probe.Status.Probes) < 3 || probe.Status.Error != "" {
		t.Errorf("probes: %+v", probe.Status)
	}
	eventually(t, func(ctx context.Context) error {
		seen, err := l.transitions(ctx, "APIService", name)
		if err != nil {
			return err
		}
		down := slices.IndexFunc(seen, func(s v1alpha1.ConditionTransitionSpec) bool {
			return s.From == "True" && s.To == "False" && s.Reason == "FailedDiscoveryCheck" && s.HeldFor != nil && strings.Contains(s.Message, "refused")
		})
		up := slices.IndexFunc(seen, func(s v1alpha1.ConditionTransitionSpec) bool {
			return s.From == "False" && s.To == "True" && s.Reason == "Passed" && s.HeldFor != nil
		})
		if last := len(seen) - 1; down < 0 || up < 0 || last < 0 || seen[last].To != "True" {
			return fmt.Errorf("it went down and up: %+v", seen)
		}
		return nil
	})
	removeAPIService(t, server, name)
	eventually(t, func(ctx context.Context) error {
		seen, err := l.transitions(ctx, "APIService", name)
		if err == nil && !ended(seen, "Available") {
			err = fmt.Errorf("not ended: %+v", seen)
		}
		return err
	})
	l.checkHistory(t, "APIService", name)
}

// failingSteps registers APIServices that each fail at another step.
func failingSteps(t *testing.T, server *kapitest.Server, l lid, ca *authority) {
	ports := newNamespace(t, server.Client(t))
	createService(t, server, ports, corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}})
	stranger := newAuthority(t)
	for step, test := range map[v1alpha1.ProbeStepName]struct {
		service apiregistrationv1.ServiceReference
		ca      *authority
		error   string
	}{
		v1alpha1.ProbeService:  {apiregistrationv1.ServiceReference{Namespace: "lid", Name: "missing"}, ca, "missing"},
		v1alpha1.ProbeEndpoint: {apiregistrationv1.ServiceReference{Namespace: ports, Name: "api"}, ca, "api"},
		v1alpha1.ProbeDial:     {serviceOf("closed"), ca, "refused"},
		v1alpha1.ProbeTLS:      {serviceOf("api"), stranger, "unknown authority"},
		v1alpha1.ProbeStatus:   {serviceOf("api"), ca, "404"}, // the server does not know this group
	} {
		group := "failing-" + string(step) + ".e2e.test"
		registerAPIService(t, server, group, "v1", test.ca, test.service)
		probe := l.awaitProbe(t, "v1."+group, step, "False")
		if !strings.Contains(probe.Status.Error, test.error) {
			t.Errorf("step %s: error %q, want one with %q", step, probe.Status.Error, test.error)
		}
		steps := probe.Status.Probes[0].Steps
		for i, one := range steps {
			if one.OK != (i < len(steps)-1) || (one.Error == "") != one.OK {
				t.Errorf("step %s: %+v", step, one)
			}
		}
		removeAPIService(t, server, "v1."+group)
	}
}

// awaitProbe returns the probes of an APIService when the last one has failed at a
// step (none: it has succeeded), and its condition is as the probe says.
func (l lid) awaitProbe(t *testing.T, name string, step v1alpha1.ProbeStepName, available string) *v1alpha1.APIServiceProbe {
	t.Helper()
	var probe v1alpha1.APIServiceProbe
	eventually(t, func(ctx context.Context) error {
		object, err := l.resource("apiserviceprobes").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		probe = v1alpha1.APIServiceProbe{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &probe); err != nil {
			return err
		}
		s := probe.Status
		if len(s.Probes) == 0 || s.FailingStep != step || s.Available != available || s.Probes[0].OK != (step == "") {
			return fmt.Errorf("want %s failing at %q: %+v", available, step, s)
		}
		return nil
	})
	return &probe
}

// transitions are those of one object, oldest first.
func (l lid) transitions(ctx context.Context, kind, name string) ([]v1alpha1.ConditionTransitionSpec, error) {
	list, err := l.resource("conditiontransitions").List(ctx, metav1.ListOptions{FieldSelector: "spec.object.kind=" + kind + ",spec.object.name=" + name})
	if err != nil {
		return nil, err
	}
	var all []v1alpha1.ConditionTransitionSpec
	for _, item := range list.Items {
		var one v1alpha1.ConditionTransition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &one); err != nil {
			return nil, err
		}
		all = append(all, one.Spec)
	}
	return all, nil
}

// checkHistory: each transition begins where the one before of the same condition
// has ended, and no earlier.
func (l lid) checkHistory(t *testing.T, kind, name string) {
	t.Helper()
	seen, err := l.transitions(t.Context(), kind, name)
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]v1alpha1.ConditionTransitionSpec{}
	for _, one := range seen {
		last := before[one.Type]
		before[one.Type] = one
		if one.Type == "Served" { // no condition, but the moment of one
			continue
		}
		if one.From != last.To || one.From == one.To || one.At.Time.Before(last.At.Time) {
			t.Errorf("%s: from %q to %q at %s, after %q at %s", one.Type, one.From, one.To, one.At, last.To, last.At)
		}
		if one.From == "" {
			continue
		}
		if apart := one.At.Sub(last.At.Time); one.HeldFor == nil || (one.HeldFor.Duration-apart).Abs() > time.Millisecond { // of rounding
			t.Errorf("%s: %q held for %v, its transitions are %s apart", one.Type, one.From, one.HeldFor, apart)
		}
	}
}

// lookAgain has the controller of APIServices look at one now, by a change of it:
// on its own it does after 30 s.
func lookAgain(t *testing.T, server *kapitest.Server, name string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{"e2e.test/look": time.Now().String()}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = apiServices(t, server).ApiregistrationV1().APIServices().Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// serveAt is serveTLS at an address, which is free again when stop returns.
func serveAt(t *testing.T, address string, ca *authority, handler http.Handler) (stop func()) {
	t.Helper()
	var listener net.Listener
	eventually(t, func(ctx context.Context) (err error) {
		listener, err = new(net.ListenConfig).Listen(ctx, "tcp", address)
		return err
	})
	remote := serveTLS(t, listener, ca, handler, "api.lid.svc")
	return func() {
		remote.CloseClientConnections()
		remote.Close()
		if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	}
}
