package view

import (
	"io"
	"slices"
	"testing"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
)

func TestRoute(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"forbidden", "create", "proxied", "custom", "nothing", "anonymous"} {
		explanation := read[v1alpha1.RouteExplanation](t, "route/"+name)
		golden(t, "route/"+name, func(w io.Writer, s text.Screen) error { return Route(w, s, explanation, nil) })
	}
}

// The request of an explanation was sent; or another one, and nearly all differs.
func TestRouteLive(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string][2]string{
		"live-forbidden": {"route/forbidden", "request/forbidden"},
		"live-admission": {"route/create", "request/admission"},
		"live-proxied":   {"route/proxied", "request/proxied"},
		"live-custom":    {"route/custom", "request/custom"},
		"live-differs":   {"route/forbidden", "request/custom"},
		"live-timeout":   {"route/nothing", "request/timeout"},
	} {
		explanation := read[v1alpha1.RouteExplanation](t, sent[0])
		live := read[v1alpha1.RequestTrace](t, sent[1])
		golden(t, "route/"+name, func(w io.Writer, s text.Screen) error { return Route(w, s, explanation, live) })
	}
}

// Of a server that tells little, little is said, and nothing that it did not tell.
func TestRouteEmpty(t *testing.T) {
	t.Parallel()
	explanation := &v1alpha1.RouteExplanation{Spec: v1alpha1.RouteExplanationSpec{Verb: "get", Path: "/apis/例え.example.com/v1/\x1b[2J"}}
	explanation.Status.Authorization = &v1alpha1.ExplainedAuthorization{Allowed: true, Error: "webhook: no route to host"}
	explanation.Status.Outcome = "The request would be sent on."
	golden(t, "route/empty", func(w io.Writer, s text.Screen) error { return Route(w, s, explanation, nil) })
	live := &v1alpha1.RequestTrace{Status: v1alpha1.RequestTraceStatus{Code: 200}}
	golden(t, "route/live-empty", func(w io.Writer, s text.Screen) error { return Route(w, s, explanation, live) })
}

func TestRouteVerdict(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{ // request: facts that differ
		"forbidden": nil,
		"custom":    {"user", "understood as", "flow schema", "priority level", "authorization", "layers", "ended by", "code"},
	} {
		told := read[v1alpha1.RouteExplanation](t, "route/forbidden").Status
		var wrong []string
		for _, f := range routeFacts(told, read[v1alpha1.RequestTrace](t, "request/"+name)) {
			if f.checked() && f.wrong {
				wrong = append(wrong, f.name)
			}
		}
		if !slices.Equal(wrong, want) {
			t.Errorf("%s differs in %q, want %q", name, wrong, want)
		}
	}
	live := read[v1alpha1.RequestTrace](t, "request/forbidden")
	live.Status.Filters[3].Name = "another"
	told := read[v1alpha1.RouteExplanation](t, "route/forbidden").Status
	if f := filtersFact(told, live); !f.wrong || f.was != "18, with another, without request-received-timestamp" {
		t.Errorf("another filter is seen as %q", f.was)
	}
	live.Status.Filters = live.Status.Filters[:3]
	if f := filtersFact(told, live); f.wrong {
		t.Errorf("a request that ended further out is seen as %q", f.was)
	}
}
