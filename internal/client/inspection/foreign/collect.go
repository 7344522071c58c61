package foreign

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// finding is what could be found of a kind.
type finding struct {
	objects []kinds.Object
	// gaps are columns that can't be filled, or not for all objects: a zero in such a
	// column is no zero, since nobody has counted.
	gaps []inspection.Gap
	// ifEmpty are the reasons of columns that are gaps only while no object has
	// anything there.
	ifEmpty []inspection.Gap
}

// collector finds the objects of a kind. The query is a hint: what it selects is
// chosen afterwards. An error means that nothing of the kind can be shown.
type collector func(context.Context, inspection.Query) (*finding, error)

// found finds the objects of a kind.
func (s *Server) found(ctx context.Context, kind kinds.Kind, query inspection.Query) (*finding, error) {
	collect, ok := map[string]collector{
		"filters":                  s.filters,
		"authenticators":           s.authenticators,
		"authorizers":              s.authorizers,
		"admissionplugins":         s.admissionPlugins,
		"poststarthooks":           s.hooks,
		"healthchecks":             s.healthChecks,
		"apiresourceregistrations": s.registrations,
		"resourcestorages":         s.storages,
		"conditiontransitions":     s.transitions,
		"apiserviceprobes":         s.probes,
		"discoverystates":          s.discoveryStates,
		"flowstates":               s.flowStates,
		"etcdmembers":              s.etcdMembers,
	}[kind.Resource]
	if !ok {
		return &finding{gaps: []inspection.Gap{{Reason: notExposed(kind)}}}, nil
	}
	return collect(ctx, query)
}

// notExposed says why nothing of a kind can be shown.
func notExposed(kind kinds.Kind) string {
	reason, ok := map[string]string{
		"serverlayers":  "this server does not say which servers it chains, nor counts requests by layer",
		"requesttraces": "this server keeps no requests; its audit log may",
		"bootsteps":     "this server does not say how it started",
		"controllers":   "this server does not say which controllers run in it",
	}[kind.Resource]
	if !ok {
		return "only kapi shows it"
	}
	return reason
}

// gap notes that columns can't be filled.
func (f *finding) gap(reason string, columns ...string) {
	for _, column := range columns {
		f.gaps = append(f.gaps, inspection.Gap{Column: column, Reason: reason})
	}
}

// emptyFor notes why columns may have nothing in them.
func (f *finding) emptyFor(reason string, columns ...string) {
	for _, column := range columns {
		f.ifEmpty = append(f.ifEmpty, inspection.Gap{Column: column, Reason: reason})
	}
}

func (f *finding) add(object kinds.Object) { f.objects = append(f.objects, object) }

// reported returns the gaps in the order of the kind's columns, one for a column,
// those of the whole kind first.
func (f *finding) reported(kind kinds.Kind) []inspection.Gap {
	var gaps []inspection.Gap
	for _, gap := range f.gaps {
		if gap.Column == "" {
			gaps = append(gaps, gap)
		}
	}
	for _, column := range kind.Columns {
		of := func(gap inspection.Gap) bool { return gap.Column == column.Name }
		if i := slices.IndexFunc(f.gaps, of); i >= 0 {
			gaps = append(gaps, f.gaps[i])
		} else if i := slices.IndexFunc(f.ifEmpty, of); i >= 0 && f.isEmpty(column) {
			gaps = append(gaps, f.ifEmpty[i])
		}
	}
	return gaps
}

func (f *finding) isEmpty(column kinds.Column) bool {
	return !slices.ContainsFunc(f.objects, func(object kinds.Object) bool {
		value := column.Cell(object, time.Time{})
		return value != "" && value != "?" && value != nil
	})
}

// setServerID sets the field that all types have, each of its own.
func setServerID(object kinds.Object, id string) {
	reflect.ValueOf(object).Elem().FieldByName("ServerID").SetString(id)
}

func notFound(err error) bool { return err != nil && apierrors.IsNotFound(err) }

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

func keys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }
