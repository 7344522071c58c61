// Package apiservices is the page of APIServices: whether each is available, and for
// one that is not the way to its server, step by step, up to where it breaks. It may
// import kit, sheet, the contract, data, the components and what is joined.
package apiservices

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// Name is the page's in the table of pages.
const Name = "apiservices"

// resource is that of the objects.
var resource = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// row is an APIService on one line.
type row struct {
	joined.APIServiceLine
	// gaps are those of the probes.
	gaps sheet.Gaps
}

// New returns the list, or the detail of one APIService.
func New(env page.Env, at page.Location) (page.Page, error) {
	if at.Name != "" {
		return detail(env, at.Name), nil
	}
	signs, lines := &sheet.Signs{}, &sheet.Memo[[]row]{}
	rowsOf := func(frame data.Frame) []row { return lines.Of(frame, rows, needs()...) }
	return sheet.NewList(signs, joins, kit.ListConfig[row]{
		Title: "apiservices",
		Needs: needs(),
		Rows:  rowsOf,
		Table: vtable.Config[row]{
			Columns:  columns(signs),
			Key:      func(r row) string { return r.Name },
			Severity: func(r row) vtable.Severity { return kit.Severity(r.State.Severity) },
			Empty:    "There are no APIServices.",
		},
		Subject: func(r row) page.Subject { return subject(env, r.Name, nil) },
		Open:    func(r row) page.Location { return page.At(Name, r.Name) },
		Detail:  beside,
		Head:    func(frame data.Frame, paper ink.Paper) []ink.Line { return head(rowsOf(frame), paper) },
		Extra: map[page.ActionID]func(row) page.Effect{
			page.Requests: func(r row) page.Effect { return page.Effect{Open: requests(r.Group, r.Version)} },
		},
		Filter: at.Get("filter"),
	}), nil
}

// needs are the feeds of the list.
func needs() []data.Key {
	return []data.Key{data.APIServices, data.Of("apiserviceprobes"), data.Of("conditiontransitions")}
}

// rows are the APIServices, those that are not available first.
func rows(frame data.Frame) []row {
	index := joined.NewAPIServiceIndex(
		data.Objects[*v1alpha1.APIServiceProbe](frame, data.Of("apiserviceprobes")),
		data.Objects[*v1alpha1.ConditionTransition](frame, data.Of("conditiontransitions")))
	gaps := sheet.GapsOf(frame.View(data.Of("apiserviceprobes")))
	objects := data.Objects[*apiregistrationv1.APIService](frame, data.APIServices)
	rows := make([]row, 0, len(objects))
	for _, object := range objects {
		rows = append(rows, row{index.Line(object), gaps})
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.State.Severity, a.State.Severity), cmp.Compare(a.Name, b.Name))
	})
	return rows
}

func columns(signs *sheet.Signs) []vtable.Column[row] {
	text := func(value func(row) string) func(row, time.Time) ink.Span {
		return func(r row, _ time.Time) ink.Span { return sheet.Or(ink.Text, value(r)) }
	}
	return []vtable.Column[row]{
		{Title: "NAME", Keep: true, Middle: true, Min: 22, Cell: func(r row, _ time.Time) ink.Span { return ink.T(ink.Text, r.Name) }},
		{Title: "STATE", Keep: true, Min: 13, Cell: func(r row, _ time.Time) ink.Span { return signs.Mark(r.State.Severity, r.State.Word) }, Compare: func(a, b row) int {
			return cmp.Or(cmp.Compare(b.State.Severity, a.State.Severity), cmp.Compare(a.State.Word, b.State.Word))
		}},
		{Title: "FAILS-AT", Keep: true, Cell: failsAt},
		{Title: "SINCE", Right: true, Cell: func(r row, now time.Time) ink.Span {
			return sheet.Or(ink.Text, kit.Ago(r.State.Since, now))
		}, Compare: func(a, b row) int { return b.State.Since.Compare(a.State.Since) }},
		{Title: "503S", Right: true, Cell: unanswered, Compare: func(a, b row) int { return cmp.Compare(a.UnavailableAnswers, b.UnavailableAnswers) }},
		{Title: "REASON", Min: 15, Cell: text(func(r row) string { return r.Reason })},
		{Title: "SERVICE", Middle: true, Min: 20, Cell: service},
		{Title: "WHY", Min: 20, Grow: 1, Cell: text(func(r row) string { return r.State.Why })},
		{Title: "PROBES", Right: true, Wide: true, Cell: probes},
		{Title: "CHANGED", Right: true, Wide: true, Cell: func(r row, now time.Time) ink.Span {
			return sheet.Or(ink.Text, kit.Ago(r.LastChange, now))
		}, Compare: func(a, b row) int { return b.LastChange.Compare(a.LastChange) }},
		{Title: "PRIORITY", Right: true, Wide: true, Cell: text(func(r row) string {
			return fmt.Sprintf("%d/%d", r.GroupPriority, r.VersionPriority)
		}), Compare: func(a, b row) int {
			return cmp.Or(cmp.Compare(a.GroupPriority, b.GroupPriority), cmp.Compare(a.VersionPriority, b.VersionPriority))
		}},
	}
}

func failsAt(r row, _ time.Time) ink.Span {
	if r.FailingStep == "" {
		return ink.T(ink.Muted, "-")
	}
	return ink.T(ink.Bad, string(r.FailingStep))
}

func unanswered(r row, _ time.Time) ink.Span {
	switch {
	case r.gaps["503s"] || r.UnavailableAnswers < 0:
		return ink.T(ink.Muted, "-")
	case r.UnavailableAnswers == 0:
		return ink.T(ink.Muted, "0")
	}
	return ink.T(ink.Warning, strconv.FormatInt(r.UnavailableAnswers, 10))
}

func service(r row, _ time.Time) ink.Span {
	if r.Service == "" {
		return ink.T(ink.Muted, "local")
	}
	return ink.T(ink.Text, r.Service)
}

// probes is how many of the last probes succeeded: "18/20".
func probes(r row, _ time.Time) ink.Span {
	if r.Probed == 0 {
		return ink.T(ink.Muted, "-")
	}
	return ink.T(ink.Text, fmt.Sprintf("%d/%d", r.Succeeded, r.Probed))
}

// subject is an APIService for copying, YAML and the like.
func subject(env page.Env, name string, object any) page.Subject {
	command := cmp.Or(env.Command, "kapi")
	return page.Subject{
		Kind: "APIService", Name: name, Resource: resource, Object: object,
		Path: "/apis/apiregistration.k8s.io/v1/apiservices/" + name,
		Commands: []string{
			command + " inspect apiservices " + name,
			command + " inspect transitions --field-selector spec.object.kind=APIService,spec.object.name=" + name,
			"kubectl get apiservice " + name + " -o yaml",
		},
	}
}

// requests are those to a group version.
func requests(group, version string) page.Location {
	return page.At("requests", "", "filter", path(group, version))
}

func path(group, version string) string {
	if group == "" {
		return "/api/" + version
	}
	return "/apis/" + group + "/" + version
}
