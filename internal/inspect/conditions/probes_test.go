package conditions

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func TestProbeSteps(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(*testing.T, *lab)
		step    v1alpha1.ProbeStepName
		error   string
		detail  string // of the last step
	}{
		"all good": {
			prepare: func(t *testing.T, l *lab) { l.serve(t, l.ca.issue(t, serverName, time.Hour), answer(200)) },
			detail:  "GET /apis/wardle.example.com/v1: 200 OK",
		},
		"external name": {
			prepare: func(t *testing.T, l *lab) {
				l.set(func() {
					l.service = &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "elsewhere"}}
				})
				l.serve(t, l.ca.issue(t, serverName, time.Hour), answer(204))
			},
			detail: "GET /apis/wardle.example.com/v1: 204 No Content",
		},
		"service missing": {
			prepare: func(_ *testing.T, l *lab) { l.set(func() { l.service = nil }) },
			step:    v1alpha1.ProbeService, error: "service wardle/api does not exist",
		},
		"port missing": {
			prepare: func(_ *testing.T, l *lab) { l.set(func() { l.service.Spec.Ports[0].Port = 80 }) },
			step:    v1alpha1.ProbeService, error: "no port 443",
		},
		"no endpoints": {
			prepare: func(*testing.T, *lab) {},
			step:    v1alpha1.ProbeEndpoint, error: "no endpoints are ready",
		},
		"nothing listens": {
			prepare: func(t *testing.T, l *lab) { l.set(func() { l.address = closedPort(t) }) },
			step:    v1alpha1.ProbeDial, error: "refused",
		},
		"wrong authority": {
			prepare: func(t *testing.T, l *lab) {
				l.serve(t, newAuthority(t).issue(t, serverName, time.Hour), answer(200))
			},
			step: v1alpha1.ProbeTLS, error: "unknown authority", detail: "api.wardle.svc; issued by CN=test authority; ends ",
		},
		"wrong name": {
			prepare: func(t *testing.T, l *lab) { l.serve(t, l.ca.issue(t, "other.svc", time.Hour), answer(200)) },
			step:    v1alpha1.ProbeTLS, error: "valid for other.svc, not api.wardle.svc", detail: "other.svc; issued by",
		},
		"expired": {
			prepare: func(t *testing.T, l *lab) { l.serve(t, l.ca.issue(t, serverName, -time.Hour), answer(200)) },
			step:    v1alpha1.ProbeTLS, error: "expired", detail: "api.wardle.svc; issued by",
		},
		"client certificate refused": {
			prepare: func(t *testing.T, l *lab) {
				l.proxyCA = newAuthority(t)
				l.serve(t, l.ca.issue(t, serverName, time.Hour), answer(200))
			},
			// In TLS 1.3 the client learns of it when it reads.
			step: v1alpha1.ProbeStatus, error: "certificate",
		},
		"hangs before TLS": {
			prepare: func(t *testing.T, l *lab) { l.set(func() { l.address = silentPort(t) }) },
			step:    v1alpha1.ProbeTLS, error: "no answer in time",
		},
		"hangs": {
			prepare: func(t *testing.T, l *lab) {
				// Not before the end: what returns when its client leaves may still answer it.
				end := make(chan struct{})
				l.serve(t, l.ca.issue(t, serverName, time.Hour), func(http.ResponseWriter, *http.Request) { <-end })
				t.Cleanup(func() { close(end) })
			},
			step: v1alpha1.ProbeStatus, error: "no answer in time",
		},
		"answers 500": {
			prepare: func(t *testing.T, l *lab) { l.serve(t, l.ca.issue(t, serverName, time.Hour), answer(500)) },
			step:    v1alpha1.ProbeStatus, error: "500 Internal Server Error",
		},
		"answers 403": {
			prepare: func(t *testing.T, l *lab) { l.serve(t, l.ca.issue(t, serverName, time.Hour), answer(403)) },
			step:    v1alpha1.ProbeStatus, error: "403 Forbidden",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			if strings.HasPrefix(name, "hangs") {
				l.limit = 2 * time.Second // time enough to get there
			}
			test.prepare(t, l)
			l.add(t, l.remote(apiregistrationv1.ConditionTrue))
			object := l.probeNow(t)
			status := object.Status
			if status.FailingStep != test.step || !strings.Contains(status.Error, test.error) {
				t.Errorf("failed at %q with %q, want %q with %q", status.FailingStep, status.Error, test.step, test.error)
			}
			steps := status.Probes[0].Steps
			last := steps[len(steps)-1]
			if !strings.Contains(last.Detail, test.detail) || last.OK != (test.step == "") || status.Probes[0].OK != last.OK {
				t.Errorf("last step is %+v", last)
			}
			for i, step := range steps {
				if want := []v1alpha1.ProbeStepName{"service", "endpoint", "dial", "tls", "status"}[i]; step.Name != want {
					t.Errorf("step %d is %s, want %s", i, step.Name, want)
				}
			}
			healthy := status.Conditions[len(status.Conditions)-1]
			if healthy.Type != "Healthy" || (healthy.Status == "True") != (test.step == "") || healthy.Reason == "" || healthy.LastTransitionTime.IsZero() {
				t.Errorf("condition is %+v", healthy)
			}
			if object.ServerID != "server" || object.Spec.Service != "wardle/api:443" || status.UnavailableAnswers != 7 || status.Available != "True" {
				t.Errorf("object is %+v", object)
			}
		})
	}
}

// closedPort is one that nobody listens at.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// silentPort is one that takes connections and says nothing.
func silentPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String() // the system accepts for it
}

func TestMended(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.add(t, l.remote(apiregistrationv1.ConditionFalse))
	broken := l.probeNow(t)
	if broken.Status.FailingStep != v1alpha1.ProbeEndpoint {
		t.Fatalf("failed at %q", broken.Status.FailingStep)
	}
	l.serve(t, l.ca.issue(t, serverName, time.Hour), answer(200))
	mended := l.probeNow(t)
	if mended.Status.FailingStep != "" || !mended.Status.Probes[0].OK || mended.Status.Probes[1].OK {
		t.Errorf("status is %+v", mended.Status)
	}
	for range keptProbes {
		mended = l.probeNow(t)
	}
	if n := len(mended.Status.Probes); n != keptProbes {
		t.Errorf("%d probes are kept, want %d", n, keptProbes)
	}
	if first, last := mended.Status.Probes[0].At, mended.Status.Probes[keptProbes-1].At; !last.Before(&first) {
		t.Errorf("newest is not first: %v, %v", first, last)
	}
}

func TestLocalHasNoSteps(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.add(t, apiService("v1.apps", apiregistrationv1.ConditionTrue))
	object := l.collect(t)
	if object.Spec.Service != "" || len(object.Status.Probes) != 0 || object.Status.Available != "True" || l.dials.Load() != 0 {
		t.Errorf("object is %+v", object)
	}
	if len(object.Status.Conditions) != 1 || object.Status.Conditions[0].Type != "Available" {
		t.Errorf("conditions are %+v", object.Status.Conditions)
	}
}

func TestChangeOfConditionIsProbed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.serve(t, l.ca.issue(t, serverName, time.Hour), answer(200))
	l.add(t, l.remote(apiregistrationv1.ConditionTrue))
	waitFor(t, "the first sight", func() bool {
		l.Probes.lock.Lock()
		defer l.Probes.lock.Unlock()
		return l.probed[probedName] != nil
	})
	l.source.Modify(l.remote(apiregistrationv1.ConditionFalse))
	select {
	case <-l.changed:
	case <-time.After(patience):
		t.Fatal("nothing was probed")
	}
	if n := l.dials.Load(); n != 1 {
		t.Errorf("%d connections, want 1: being seen first is no change", n)
	}
}

func TestWhenProbesAreDue(t *testing.T) {
	t.Parallel()
	now := time.Now()
	probe := func(ok bool, age time.Duration) []v1alpha1.Probe {
		p := v1alpha1.Probe{OK: ok}
		p.At.Time = now.Add(-age)
		return []v1alpha1.Probe{p}
	}
	for name, test := range map[string]struct {
		probes    []v1alpha1.Probe
		watched   bool
		available string
		want      bool
	}{
		"never":                       {nil, true, "True", true},
		"asked, fresh":                {probe(true, time.Second), false, "True", false},
		"asked, old":                  {probe(true, askedAge), false, "True", true},
		"watched, available, old":     {probe(true, time.Hour), true, "True", false},
		"watched, unavailable, fresh": {probe(false, askedAge), true, "False", false},
		"watched, unavailable, old":   {probe(true, watchedAge), true, "False", true},
		"watched, failed, old":        {probe(false, watchedAge), true, "True", true},
	} {
		known := &probed{probes: test.probes}
		if got := known.due(now, test.watched, test.available); got != test.want {
			t.Errorf("%s: due is %t", name, got)
		}
	}
}

func TestAFewAtATime(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	var now, most atomic.Int64
	full := make(chan struct{})
	isFull := sync.OnceFunc(func() { close(full) })
	l.serve(t, l.ca.issue(t, serverName, time.Hour), func(http.ResponseWriter, *http.Request) {
		defer now.Add(-1)
		n := now.Add(1)
		for old := most.Load(); n > old; old = most.Load() {
			if most.CompareAndSwap(old, n) {
				break
			}
		}
		if n == probeWorkers {
			isFull()
		}
		<-full
	})
	const services = 3 * probeWorkers
	for i := range services {
		s := l.remote(apiregistrationv1.ConditionTrue)
		s.Name = fmt.Sprintf("v%d.wardle.example.com", i)
		l.add(t, s)
	}
	if _, err := l.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range services {
		select {
		case <-l.changed:
		case <-time.After(patience):
			t.Fatal("probes are missing")
		}
	}
	if n := most.Load(); n != probeWorkers {
		t.Errorf("%d at once, want %d", n, probeWorkers)
	}
}
