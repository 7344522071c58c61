package joined

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined/joinedtest"
)

// frozen is a server whose etcd does not answer: what it has in memory is there, its
// lists hang. Its definitions come one in every pause.
type frozen struct {
	*joinedtest.Server
	pause time.Duration
}

func (f frozen) List(ctx context.Context, kind kinds.Kind, query inspection.Query) (inspection.Listing, error) {
	if kind.Resource == partEtcd {
		<-ctx.Done()
		return inspection.Listing{}, ctx.Err()
	}
	return f.Server.List(ctx, kind, query)
}

func (f frozen) Definitions(ctx context.Context) iter.Seq2[*apiextensionsv1.CustomResourceDefinition, error] {
	return func(yield func(*apiextensionsv1.CustomResourceDefinition, error) bool) {
		for one, err := range f.Server.Definitions(ctx) {
			time.Sleep(f.pause)
			if ctx.Err() != nil {
				one, err = nil, ctx.Err()
			}
			if !yield(one, err) || err != nil {
				return
			}
		}
	}
}

func (f frozen) APIServices(ctx context.Context) iter.Seq2[*apiregistrationv1.APIService, error] {
	return hanging[*apiregistrationv1.APIService](ctx)
}

func (f frozen) TerminatingNamespaces(ctx context.Context) iter.Seq2[*corev1.Namespace, error] {
	return hanging[*corev1.Namespace](ctx)
}

func hanging[T any](ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		<-ctx.Done()
		var none T
		yield(none, ctx.Err())
	}
}

// What hangs is missing, with the reason, and the rest is shown; what only takes
// long is waited for.
func TestOverviewOfFrozenEtcd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := frozen{joinedtest.Lab(t), silence - time.Second}
		begun := time.Now()
		o, err := LoadOverview(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		for _, m := range o.Missing {
			parts = append(parts, m.Part+": "+m.Reason)
		}
		const want = "etcdmembers: no answer after 10s, apiservices: no answer after 10s, namespaces: no answer after 10s"
		if got := strings.Join(parts, ", "); got != want {
			t.Errorf("missing %s\n   want %s", got, want)
		}
		count := o.Definitions.Total
		if took := time.Since(begun); count < 2 || took != time.Duration(count)*s.pause {
			t.Errorf("%d definitions after %s", count, took)
		}
		if len(o.Filters) == 0 || len(o.Layers) == 0 {
			t.Errorf("the rest is missing too: %+v", o)
		}
	})
}

// What is not known of the servers behind APIServices does not keep the APIServices.
func TestOverviewWithoutProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, err := LoadOverview(t.Context(), probing{joinedtest.Lab(t)})
		if err != nil || o.APIServices.Total == 0 || Why(o.Missing, partAPIServices) != "" {
			t.Errorf("%+v, missing %+v, %v", o.APIServices, o.Missing, err)
		}
	})
}

// probing is a server that never comes to the end of its probes.
type probing struct{ *joinedtest.Server }

func (p probing) List(ctx context.Context, kind kinds.Kind, query inspection.Query) (inspection.Listing, error) {
	if kind.Resource == partProbes {
		<-ctx.Done()
		return inspection.Listing{}, ctx.Err()
	}
	return p.Server.List(ctx, kind, query)
}

// A server that is interrupted is not silent.
func TestInterruptedOverview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := LoadOverview(ctx, frozen{Server: healthy(t)}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}
