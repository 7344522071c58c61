package joined

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined/joinedtest"
)

func overview(t *testing.T, s *joinedtest.Server) Overview {
	t.Helper()
	o, err := LoadOverview(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOverviewOfHealthy(t *testing.T) {
	o := overview(t, healthy(t))
	if !o.Healthy() || o.Severity() != OK || len(o.Problems) != 0 || len(o.Missing) != 0 {
		t.Errorf("problems %+v, missing %+v", o.Problems, o.Missing)
	}
	if o.Definitions != (Count{1, 1}) || o.APIServices != (Count{26, 26}) || o.Health.OK != 38 || o.Health.Failed != 0 || o.Hooks.Done != 30 || o.Hooks.All() != 30 {
		t.Errorf("counts %+v %+v %+v %+v", o.Definitions, o.APIServices, o.Health, o.Hooks)
	}
	if len(o.Filters) != 18 || o.Disabled != 10 || len(o.Layers) != 5 || o.Layers[0].Name != "aggregator" || o.Layers[0].Received != 435 {
		t.Errorf("%d filters, %d off, layers %+v", len(o.Filters), o.Disabled, o.Layers)
	}
	if o.Uptime.Round(time.Second) != 2*time.Minute+40*time.Second || o.Hooks.Total.Duration != 310624*time.Microsecond {
		t.Errorf("up %v, hooks %v", o.Uptime, o.Hooks.Total)
	}
}

func TestOverviewOfLab(t *testing.T) {
	o := overview(t, joinedtest.Lab(t))
	if o.Healthy() || o.Definitions != (Count{1, 3}) || o.APIServices != (Count{26, 31}) {
		t.Errorf("%v %+v %+v", o.Healthy(), o.Definitions, o.APIServices)
	}
	if c := o.Controllers; c.Running != 3 || c.Standby != 1 || c.Off != 2 || strings.Join(c.Failing, " ") != "resourcequota csrsigning" {
		t.Errorf("controllers %+v", c)
	}
	want := []string{
		"bad 5 APIServices do not work: kapi inspect apiservices",
		"bad CRD gadgets.lab.example has names that others have: kapi inspect crds gadgets.lab.example",
		"bad CRD stucks.lab.example is stuck in its deletion: kapi inspect crds stucks.lab.example",
		"bad namespace shop has been Terminating for 2m7s: kapi inspect apiservices v1.refused.lab.example",
		"bad controller resourcequota has 212 keys waiting that do not get fewer: kapi inspect controllers resourcequota",
		"bad controller csrsigning has failed: kapi inspect controllers csrsigning",
		"warning 1 request failed in the last 5 minutes in layer aggregator: kapi inspect requests --status '>=500'",
	}
	if got := summary(o.Problems); got != strings.Join(want, "\n") {
		t.Errorf("problems\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func summary(problems []Problem) string {
	lines := make([]string, 0, len(problems))
	for _, p := range problems {
		lines = append(lines, p.Severity.String()+" "+p.What+": "+p.Look)
	}
	return strings.Join(lines, "\n")
}

// Each rule alone, in a server in which nothing else is wrong.
func TestOverviewProblems(t *testing.T) {
	type server = *joinedtest.Server
	etcd := func(edit func(*v1alpha1.EtcdMemberStatus)) func(server) {
		return func(s server) { edit(&joinedtest.Of[*v1alpha1.EtcdMember](s, partEtcd)[0].Status) }
	}
	full := func(part float64) func(server) {
		return etcd(func(s *v1alpha1.EtcdMemberStatus) { s.DBSize = int64(part * float64(s.Quota)) })
	}
	noSpaceIn := func(d time.Duration) func(server) {
		return func(s server) {
			at := metav1.NewMicroTime(s.Facts.At.Add(d))
			joinedtest.Of[*v1alpha1.EtcdMember](s, partEtcd)[0].Status.NoSpaceAt = &at
		}
	}
	hook := func(state v1alpha1.RunState, d time.Duration) func(server) {
		return func(s server) {
			h := joinedtest.Of[*v1alpha1.PostStartHook](s, partHooks)[0]
			h.Status.State, h.Status.Duration.Duration, h.Status.Error = state, d, "no luck"
		}
	}
	check := func(name string) func(server) {
		return func(s server) {
			for _, c := range joinedtest.Of[*v1alpha1.HealthCheck](s, partHealth) {
				if c.Spec.Check == name {
					c.Status.State, c.Status.LastError = v1alpha1.HealthFailed, "etcd failed: timeout"
				}
			}
		}
	}
	traced := func(edit func(*v1alpha1.RequestTrace)) func(server) {
		return func(s server) {
			r := &v1alpha1.RequestTrace{ObjectMeta: metav1.ObjectMeta{Name: "r"}}
			r.Spec.Method, r.Spec.Path = "GET", "/api/v1/pods"
			r.Status.ReceivedAt = metav1.NewMicroTime(s.Facts.At.Add(-time.Minute))
			edit(r)
			s.Objects[partTraces] = append(s.Objects[partTraces], r)
		}
	}
	flow := func(edit func(*v1alpha1.FlowStateStatus)) func(server) {
		return func(s server) { edit(&joinedtest.Of[*v1alpha1.FlowState](s, partFlows)[0].Status) }
	}
	for name, c := range map[string]struct {
		edit func(server)
		want string
	}{
		"etcd is gone":     {etcd(func(s *v1alpha1.EtcdMemberStatus) { s.Error = "timeout" }), "bad etcd member kapi can't be asked: kapi inspect etcd kapi"},
		"alarm":            {etcd(func(s *v1alpha1.EtcdMemberStatus) { s.Alarms = []string{"NOSPACE"} }), "bad etcd member kapi has raised NOSPACE: kapi inspect etcd kapi"},
		"no leader":        {etcd(func(s *v1alpha1.EtcdMemberStatus) { s.Conditions[0].Status = "False" }), "bad etcd member kapi is not healthy: kapi inspect etcd kapi"},
		"three quarters":   {full(0.75), ""},
		"quota near":       {full(0.85), "warning etcd member kapi comes close to its quota: kapi inspect etcd kapi"},
		"quota nearer":     {full(0.97), "bad etcd member kapi has nearly reached its quota: kapi inspect etcd kapi"},
		"growing":          {noSpaceIn(48 * time.Hour), ""},
		"growing fast":     {noSpaceIn(5 * time.Hour), "warning etcd member kapi: its quota will be reached in 5h: kapi inspect etcd kapi"},
		"growing faster":   {noSpaceIn(10 * time.Minute), "bad etcd member kapi: its quota will be reached in 10m: kapi inspect etcd kapi"},
		"hook failed":      {hook(v1alpha1.RunFailed, 0), "bad post-start hook aggregator-reload-proxy-client-cert has failed: kapi inspect hooks aggregator-reload-proxy-client-cert"},
		"hook hangs":       {hook(v1alpha1.RunRunning, 6*time.Second), "bad post-start hook aggregator-reload-proxy-client-cert has not ended: kapi inspect hooks aggregator-reload-proxy-client-cert"},
		"hook runs":        {hook(v1alpha1.RunRunning, time.Second), ""},
		"check":            {check("etcd"), "bad health check etcd fails: kapi inspect health etcd"},
		"check of a hook":  {check("poststarthook/rbac/bootstrap-roles"), ""},
		"waiting":          {flow(func(s *v1alpha1.FlowStateStatus) { s.Queued = 3 }), "warning requests wait in priority level catch-all: kapi inspect flow catch-all"},
		"refused long ago": {flow(func(s *v1alpha1.FlowStateStatus) { s.Rejected = 3 }), ""},
		"refused lately":   {traced(func(r *v1alpha1.RequestTrace) { r.Status.Code, r.Status.PriorityLevel = 429, "catch-all" }), "warning flow control has refused 1 request of level catch-all in the last 5 minutes: kapi inspect flow catch-all"},
		"slow":             {traced(func(r *v1alpha1.RequestTrace) { r.Status.Slow = true }), "warning 1 request was slow in the last 5 minutes: kapi inspect requests --slower-than 1s"},
		"failed":           {traced(fail), "warning 1 request failed in the last 5 minutes in filter timeout: kapi inspect requests --status '>=500'"},
		"failed before": {traced(func(r *v1alpha1.RequestTrace) {
			fail(r)
			r.Status.ReceivedAt.Time = r.Status.ReceivedAt.Add(-time.Hour)
		}), ""},
		"not ready":       {traced(func(r *v1alpha1.RequestTrace) { fail(r); r.Spec.Path = "/readyz/etcd" }), ""},
		"panicked":        {traced(func(r *v1alpha1.RequestTrace) { fail(r); r.Status.Panicked = true }), "bad 1 request failed in the last 5 minutes by a panic: kapi inspect requests --status '>=500'"},
		"client has gone": {traced(func(r *v1alpha1.RequestTrace) { fail(r); r.Status.TerminatedBy.Kind = v1alpha1.EndedByConnection }), ""},
		"discovery stale": {func(s server) {
			joinedtest.Of[*v1alpha1.DiscoveryState](s, partDiscovery)[0].Status.Freshness = v1alpha1.DiscoveryStale
		}, "warning discovery of admissionregistration.k8s.io/v1 is stale: kapi inspect discovery admissionregistration.k8s.io.v1"},
		"filter, no traces": {func(s server) { faults(s); s.Errors[partTraces] = forbidden(partTraces) }, "warning filter audit-init has ended 2 requests with a fault since the start: kapi inspect filters audit-init"},
		"filter, traces":    {faults, ""},
	} {
		s := healthy(t)
		c.edit(s)
		o := overview(t, s)
		if got := summary(o.Problems); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		if o.Healthy() != !strings.HasPrefix(c.want, "bad") {
			t.Errorf("%s: healthy %v", name, o.Healthy())
		}
	}
}

func fail(r *v1alpha1.RequestTrace) {
	r.Status.Failed, r.Status.Code, r.Status.TerminatedBy = true, 504, v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: "timeout"}
}

func faults(s *joinedtest.Server) {
	joinedtest.Of[*v1alpha1.Filter](s, partFilters)[0].Status.Terminated = []v1alpha1.StatusCount{{Code: 403, Count: 7}, {Code: 504, Count: 2}}
}

// What follows from another problem is not told twice, and three of a kind are one.
func TestOverviewGathers(t *testing.T) {
	s := healthy(t)
	hooks := joinedtest.Of[*v1alpha1.PostStartHook](s, partHooks)
	for _, h := range hooks[:3] {
		h.Status.State = v1alpha1.RunFailed
	}
	for _, h := range hooks[3:5] {
		h.Status.State = v1alpha1.RunRunning
	}
	for _, c := range joinedtest.Of[*v1alpha1.HealthCheck](s, partHealth) {
		if strings.HasPrefix(c.Spec.Check, "poststarthook/") {
			c.Status.State = v1alpha1.HealthFailed
		}
	}
	o := overview(t, s)
	if got := summary(o.Problems); got != "bad 3 post-start hooks have failed or hang: kapi inspect hooks" {
		t.Errorf("problems\n%s", got)
	}
	if o.Hooks.Failed != 3 || o.Hooks.Running != 2 || o.Hooks.All() != 30 {
		t.Errorf("hooks %+v", o.Hooks)
	}
}

func TestOverviewAsJSON(t *testing.T) {
	o := overview(t, joinedtest.Lab(t))
	written, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var read Overview
	if err := json.Unmarshal(written, &read); err != nil {
		t.Fatal(err)
	}
	if summary(read.Problems) != summary(o.Problems) || read.Uptime != o.Uptime || read.About.Type != inspection.Kapi {
		t.Errorf("read back %+v", read)
	}
	for _, part := range []string{`"severity":"bad"`, `"layers":[{"name":"aggregator","received":435`} {
		if !strings.Contains(string(written), part) {
			t.Errorf("no %s in %s", part, written)
		}
	}
	if err := new(Severity).UnmarshalText([]byte("worse")); err == nil {
		t.Error("worse is a severity")
	}
}
