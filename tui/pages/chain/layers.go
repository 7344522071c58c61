package chain

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/chain/rates"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/requests/trace"
)

func layerList(env page.Env) page.Page {
	return kit.NewList(kit.ListConfig[rates.Layer]{
		Title:   "layers, outermost first",
		Needs:   []data.Key{rates.LayerFeed, trace.Feed},
		Rows:    rates.Layers,
		Table:   layerTable(),
		Subject: func(l rates.Layer) page.Subject { return layerSubject(env, l.ServerLayer) },
		Open:    func(l rates.Layer) page.Location { return page.At("chain", layerPrefix+l.Name) },
		Detail:  layerRender,
		Extra: map[page.ActionID]func(rates.Layer) page.Effect{
			page.Requests: func(l rates.Layer) page.Effect { return page.Effect{Open: requestsOf(l.Name)} },
		},
	})
}

func layerTable() vtable.Config[rates.Layer] {
	count := func(title string, of func(*v1alpha1.ServerLayerStatus) int64) vtable.Column[rates.Layer] {
		return vtable.Column[rates.Layer]{
			Title: title, Right: true,
			Cell: func(l rates.Layer, _ time.Time) ink.Span {
				return ink.T(ink.Text, strconv.FormatInt(of(&l.Status), 10))
			},
			Compare: func(a, b rates.Layer) int { return cmp.Compare(of(&a.Status), of(&b.Status)) },
		}
	}
	wide := count("PROXIED", func(s *v1alpha1.ServerLayerStatus) int64 { return s.RequestsProxied })
	wide.Wide = true
	return vtable.Config[rates.Layer]{
		Columns: []vtable.Column[rates.Layer]{
			{
				Title: "#", Right: true,
				Cell: func(l rates.Layer, _ time.Time) ink.Span {
					return ink.T(ink.Muted, strconv.Itoa(int(l.Spec.Order)))
				},
				Compare: func(a, b rates.Layer) int { return cmp.Compare(a.Spec.Order, b.Spec.Order) },
			},
			{Title: "LAYER", Keep: true, Min: 10, Cell: func(l rates.Layer, _ time.Time) ink.Span { return ink.T(ink.Text, l.Name) }},
			{
				Title: "RATE", Right: true,
				Cell:    func(l rates.Layer, _ time.Time) ink.Span { return ink.T(ink.Text, l.Received.String()) },
				Compare: func(a, b rates.Layer) int { return cmp.Compare(a.Received.PerSecond, b.Received.PerSecond) },
			},
			count("NOW", func(s *v1alpha1.ServerLayerStatus) int64 { return s.RequestsInFlight }),
			count("ANSWERED", func(s *v1alpha1.ServerLayerStatus) int64 { return s.RequestsAnswered }),
			{
				Title: "ANSWERS", Right: true,
				Cell:    func(l rates.Layer, _ time.Time) ink.Span { return ink.T(ink.Text, l.Answers.String()) },
				Compare: func(a, b rates.Layer) int { return cmp.Compare(a.Answers.PerSecond, b.Answers.PerSecond) },
			},
			count("PASSED-ON", func(s *v1alpha1.ServerLayerStatus) int64 { return s.RequestsPassedOn }),
			count("ABANDONED", func(s *v1alpha1.ServerLayerStatus) int64 { return s.RequestsAbandoned }),
			{
				Title: "LAST-5XX", Grow: 1, Min: 8, Keep: true,
				Cell: func(l rates.Layer, now time.Time) ink.Span { return lastError(l.Status.LastError, now) },
				Compare: func(a, b rates.Layer) int {
					return errorAt(a.Status.LastError).Compare(errorAt(b.Status.LastError))
				},
			},
			wide,
		},
		Key:      func(l rates.Layer) string { return l.Name },
		Severity: func(l rates.Layer) vtable.Severity { return layerSeverity(l.ServerLayer) },
		Empty:    "no layer is known",
	}
}

func errorAt(last *v1alpha1.LayerError) time.Time {
	if last == nil {
		return time.Time{}
	}
	return last.At.Time
}

// long is how long an error stays news.
const long = 5 * time.Minute

func lastError(last *v1alpha1.LayerError, now time.Time) ink.Span {
	if last == nil {
		return ink.T(ink.Muted, "never")
	}
	token := ink.Text
	if now.Sub(last.At.Time) < long {
		token = ink.Warning
	}
	return ink.T(token, fmt.Sprintf("%s, %s ago", trace.ShortCode(last.Code), kit.Ago(last.At.Time, now)))
}

// layerSeverity is that of its hooks: an answer of 500 may be that of an aggregated
// server.
func layerSeverity(l *v1alpha1.ServerLayer) vtable.Severity {
	for _, c := range l.Status.Conditions {
		if c.Type == v1alpha1.ConditionHealthy && c.Status == "False" {
			return vtable.Unhealthy
		}
	}
	if l.Status.LastError != nil {
		return vtable.Unsure
	}
	return vtable.Healthy
}

func layerSubject(env page.Env, l *v1alpha1.ServerLayer) page.Subject {
	return page.Subject{
		Kind: "layer", Name: l.Name, Inspect: "serverlayers", Object: l,
		Path:     "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/serverlayers/" + l.Name,
		Commands: []string{env.Command + " inspect layers " + l.Name, "kubectl get serverlayer " + l.Name + " -o yaml"},
	}
}
