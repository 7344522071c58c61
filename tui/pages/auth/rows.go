package auth

import (
	"cmp"
	"slices"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// row is one authenticator, authorizer or admission plugin.
type row struct {
	object kinds.Object
	name   string
	order  int32
	// what is its type, or the phase of a plugin.
	what string
	// enabled is false for a plugin that is off.
	enabled      bool
	configuredBy string
	source       string
	// decisions are what it has decided, the usual one first.
	decisions []decision
	latency   v1alpha1.Latency
	// refused is when it last refused something; zero if never, or if not known.
	refused time.Time
	// counted says what the numbers are of, where that is not plain.
	counted string
	gaps    sheet.Gaps
}

// decision is one kind of outcome, with how often it was.
type decision struct {
	// name is the column's, gap the one that a server lacks.
	name, gap string
	// says is what it means.
	says  string
	count int64
	// perSecond is the rate; rated is false where it is not known yet.
	perSecond float64
	rated     bool
	// bad is one that is worth a look, fault one that should not be.
	bad, fault bool
}

// find returns the decision of a name.
func (r row) find(name string) decision {
	for _, d := range r.decisions {
		if d.name == name {
			return d
		}
	}
	return decision{}
}

// counter is one decision of an object of a kind.
type counter[T kinds.Object] struct {
	decision
	of func(T) int64
}

// counted fills in how often each decision was, and how fast it becomes more.
func counted[T kinds.Object](frame data.Frame, resource string, object T, counters []counter[T]) []decision {
	decisions := make([]decision, 0, len(counters))
	for _, c := range counters {
		d := c.decision
		d.count = c.of(object)
		d.perSecond, d.rated = frame.PerSecond(func(f data.Frame) (int64, bool) {
			one, ok := data.Find[T](f, data.Of(resource), object.GetName())
			if !ok {
				return 0, false
			}
			return c.of(one), true
		})
		decisions = append(decisions, d)
	}
	return decisions
}

func authenticators(frame data.Frame) []row {
	type object = *v1alpha1.Authenticator
	counters := []counter[object]{
		{decision{name: "AUTHENTICATED", gap: "Authenticated", says: "requests whose user it knew"}, func(o object) int64 { return o.Status.Authenticated }},
		{decision{name: "REFUSED", gap: "Errors", says: "requests whose credentials it refused", bad: true}, func(o object) int64 { return o.Status.Errors }},
		{decision{name: "NO-OPINION", gap: "No-Opinion", says: "requests that held nothing for it"}, func(o object) int64 { return o.Status.NoOpinion }},
	}
	gaps := sheet.GapsOf(frame.View(data.Of("authenticators")))
	var rows []row
	for _, o := range data.Objects[object](frame, data.Of("authenticators")) {
		rows = append(rows, row{
			object: o, name: o.Name, order: o.Spec.Order, what: o.Spec.Type, enabled: true,
			configuredBy: o.Spec.ConfiguredBy, source: o.Spec.Source, latency: o.Status.Latency, counted: o.Status.Counted,
			decisions: counted(frame, "authenticators", o, counters), gaps: gaps,
		})
	}
	return ordered(rows)
}

func authorizers(frame data.Frame) []row {
	type object = *v1alpha1.Authorizer
	counters := []counter[object]{
		{decision{name: "ALLOWED", gap: "Allowed", says: "requests that it allowed"}, func(o object) int64 { return o.Status.Allowed }},
		{decision{name: "DENIED", gap: "Denied", says: "requests that it denied"}, func(o object) int64 { return o.Status.Denied }},
		{decision{name: "NO-OPINION", gap: "No-Opinion", says: "requests that it left to the next"}, func(o object) int64 { return o.Status.NoOpinion }},
		{decision{name: "ERRORS", gap: "Errors", says: "requests that it could not decide", bad: true, fault: true}, func(o object) int64 { return o.Status.Errors }},
	}
	gaps := sheet.GapsOf(frame.View(data.Of("authorizers")))
	var rows []row
	for _, o := range data.Objects[object](frame, data.Of("authorizers")) {
		rows = append(rows, row{
			object: o, name: o.Name, order: o.Spec.Order, what: o.Spec.Type, enabled: true,
			configuredBy: o.Spec.ConfiguredBy, source: o.Spec.Source, latency: o.Status.Latency,
			decisions: counted(frame, "authorizers", o, counters), gaps: gaps,
		})
	}
	return ordered(rows)
}

func plugins(frame data.Frame) []row {
	type object = *v1alpha1.AdmissionPlugin
	counters := []counter[object]{
		{decision{name: "ADMITTED", gap: "Admitted", says: "calls that let the change pass"}, func(o object) int64 { return o.Status.Admitted }},
		{decision{name: "REJECTED", gap: "Rejected", says: "calls that refused it", bad: true}, func(o object) int64 { return o.Status.Rejected }},
	}
	gaps := sheet.GapsOf(frame.View(data.Of("admissionplugins")))
	var rows []row
	for _, o := range data.Objects[object](frame, data.Of("admissionplugins")) {
		r := row{
			object: o, name: o.Name, order: o.Spec.Order, what: phase(o.Spec), enabled: o.Spec.Enabled,
			configuredBy: o.Spec.ConfiguredBy, source: o.Spec.Source, latency: o.Status.Latency,
			decisions: counted(frame, "admissionplugins", o, counters), gaps: gaps,
		}
		if o.Status.LastRejection != nil {
			r.refused = o.Status.LastRejection.Time
		}
		rows = append(rows, r)
	}
	return ordered(rows)
}

// phase says whether a plugin may change objects, refuse them, or both.
func phase(spec v1alpha1.AdmissionPluginSpec) string {
	switch {
	case spec.Mutating && spec.Validating:
		return "both"
	case spec.Mutating:
		return "mutating"
	case spec.Validating:
		return "validating"
	}
	return ""
}

func ordered(rows []row) []row {
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.order, b.order) })
	return rows
}
