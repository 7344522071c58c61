package diff

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// inspectSource compares a kind of the inspect API by the columns of its table
// and its conditions.
func inspectSource(kind kinds.Kind, options Options) source {
	compare := objects
	if slices.Contains([]string{"requesttraces", "conditiontransitions"}, kind.Resource) {
		compare = entries
	}
	return source{
		resource: kind.Resource, kind: kind.Kind, compare: compare(kind.Resource, kind.Kind),
		read: func(ctx context.Context, server inspection.Server, side Side) (table, error) {
			listing, err := server.List(ctx, kind, inspection.Query{})
			if err != nil {
				return table{}, err
			}
			var read table
			for _, object := range listing.Objects {
				read.add(object.GetName(), row{cells: cells(kind, object, side, listing.Gaps, options), tallies: tallies(object)})
			}
			// A kind that is not shown as a whole has not lost its objects.
			if i := slices.IndexFunc(listing.Gaps, func(gap inspection.Gap) bool { return gap.Column == "" }); i >= 0 && len(listing.Objects) == 0 {
				return table{}, fmt.Errorf("not shown: %s", listing.Gaps[i].Reason)
			}
			return read, nil
		},
	}
}

func cells(kind kinds.Kind, object kinds.Object, side Side, gaps []inspection.Gap, options Options) []cell {
	all := conditionCells(conditions(object))
	for _, column := range kind.Columns {
		missing := slices.ContainsFunc(gaps, func(gap inspection.Gap) bool { return gap.Column == column.Name })
		if missing || !options.All && restless(kind.Resource, column.Name) {
			continue
		}
		if _, condition := find(all, column.Name); condition {
			continue // which says more than the column of the same name
		}
		value := ""
		if shown := column.Cell(object, side.At); shown != nil {
			value = fmt.Sprint(shown)
		}
		all = append(all, cell{field: column.Name, value: value, once: column.Ages()})
	}
	return all
}

// counted are the columns that count requests: they are others after each one, those
// of whoever compares among them. What was refused or failed is not one of them.
var counted = []string{
	"Received", "Answered", "Passed-On", "In-Flight", "Abandoned", "Proxied", "Answers", "Requests", "Max",
	"Authenticated", "No-Opinion", "Allowed", "Admitted", "Seats", "Queued", "Dispatched", "Executing", "Lists",
}

// restless columns change by themselves: times that something took, rates, counts
// of requests, and forecasts.
func restless(resource, column string) bool {
	if slices.Contains(counted, column) {
		return true
	}
	if slices.ContainsFunc([]string{"P50", "P90", "P99"}, func(end string) bool { return strings.HasSuffix(column, end) }) {
		return true
	}
	return slices.Contains([]string{
		"healthchecks/Duration", "resourcestorages/Per-Hour", "resourcestorages/Lag",
		"etcdmembers/Per-Hour", "etcdmembers/No-Space-In",
	}, resource+"/"+column)
}

// conditions returns those of the kinds that have some.
func conditions(object kinds.Object) []metav1.Condition {
	switch o := object.(type) {
	case *v1alpha1.ServerLayer:
		return o.Status.Conditions
	case *v1alpha1.PostStartHook:
		return o.Status.Conditions
	case *v1alpha1.HealthCheck:
		return o.Status.Conditions
	case *v1alpha1.APIServiceProbe:
		return o.Status.Conditions
	case *v1alpha1.EtcdMember:
		return o.Status.Conditions
	case *v1alpha1.Controller:
		return o.Status.Conditions
	}
	return nil
}

// conditionCells has a cell for each condition: its status and reason.
func conditionCells(conditions []metav1.Condition) []cell {
	all := make([]cell, 0, len(conditions))
	for _, condition := range conditions {
		all = append(all, conditionCell(condition.Type, string(condition.Status), condition.Reason, condition.Message))
	}
	return all
}

func conditionCell(name, status, reason, message string) cell {
	return cell{field: name, value: strings.TrimSpace(status + " " + reason), message: message, condition: true}
}

// tallies are what an entry of a log counts for.
func tallies(object kinds.Object) []string {
	switch o := object.(type) {
	case *v1alpha1.RequestTrace:
		var all []string
		for what, is := range map[string]bool{
			"failed": o.Status.Failed, "slow": o.Status.Slow, "panicked": o.Status.Panicked,
			"refused": o.Status.Code >= 400 && o.Status.Code < 500,
		} {
			if is {
				all = append(all, what)
			}
		}
		return all
	case *v1alpha1.ConditionTransition:
		change := cmp.Or(o.Spec.To, "none")
		if o.Spec.From != "" {
			change = o.Spec.From + " to " + change
		}
		return []string{o.Spec.Type + " " + change}
	}
	return nil
}
