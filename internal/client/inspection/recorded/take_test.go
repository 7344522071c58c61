package recorded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

// altered is a recording with some answers replaced.
type altered struct {
	*Server
	about       func() error
	list        func(resource string) error
	definitions iter.Seq2[*apiextensionsv1.CustomResourceDefinition, error]
	services    iter.Seq2[*apiregistrationv1.APIService, error]
}

func (a altered) About(ctx context.Context) (inspection.About, error) {
	if a.about != nil {
		if err := a.about(); err != nil {
			return inspection.About{}, err
		}
	}
	return a.Server.About(ctx)
}

func (a altered) List(ctx context.Context, kind kinds.Kind, query inspection.Query) (inspection.Listing, error) {
	if a.list != nil {
		if err := a.list(kind.Resource); err != nil {
			return inspection.Listing{}, err
		}
	}
	return a.Server.List(ctx, kind, query)
}

func (a altered) Definitions(ctx context.Context) iter.Seq2[*apiextensionsv1.CustomResourceDefinition, error] {
	if a.definitions != nil {
		return a.definitions
	}
	return a.Server.Definitions(ctx)
}

func (a altered) APIServices(ctx context.Context) iter.Seq2[*apiregistrationv1.APIService, error] {
	if a.services != nil {
		return a.services
	}
	return a.Server.APIServices(ctx)
}

func forbidden(kind kinds.Kind) error {
	return apierrors.NewForbidden(inspection.GroupResource(kind), "", errors.New("no role"))
}

// One kind may not be read, and the server goes away while definitions are listed:
// the rest is there, and what is missing fails again as it did.
func TestTakeOfAServerThatFailsInTheMiddle(t *testing.T) {
	t.Parallel()
	original := open(t, "after.json")
	traces, _ := kinds.ByName("requesttraces")
	gone := errors.New("connection refused")
	asked := 0
	server := altered{
		Server: original,
		about: func() error {
			if asked++; asked > 1 {
				return gone
			}
			return nil
		},
		list: func(resource string) error {
			switch resource {
			case traces.Resource:
				return forbidden(traces)
			case "controllers":
				return gone
			}
			return nil
		},
		definitions: func(yield func(*apiextensionsv1.CustomResourceDefinition, error) bool) {
			for definition, err := range original.Definitions(t.Context()) {
				yield(definition, err)
				yield(nil, gone)
				return
			}
		},
	}
	var out bytes.Buffer
	summary, err := Take(t.Context(), server, &out)
	must(t, err)
	if len(summary.Failed) != 3 || summary.Failed["requesttraces"].Code != http.StatusForbidden {
		t.Errorf("failed: %+v", summary.Failed)
	}
	again, err := Read(&out, "again")
	must(t, err)
	if _, err := again.List(t.Context(), traces, inspection.Query{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "when this was recorded") {
		t.Errorf("got %v, want what it was", err)
	}
	filters, _ := kinds.ByName("filters")
	if listing, err := again.List(t.Context(), filters, inspection.Query{}); err != nil || len(listing.Objects) != 28 {
		t.Errorf("got %d filters, %v", len(listing.Objects), err)
	}
	names, err := collected(again.Definitions(t.Context()))
	if len(names) != 1 || err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %q, %v; want one definition and the error", names, err)
	}
	if names, err := collected(again.APIServices(t.Context())); err != nil || len(names) != 25 {
		t.Errorf("got %d APIServices, %v", len(names), err)
	}
}

func collected[T interface{ GetName() string }](objects iter.Seq2[T, error]) (names []string, err error) {
	for object, err := range objects {
		if err != nil {
			return names, err
		}
		names = append(names, object.GetName())
	}
	return names, nil
}

func TestTakeDropsWhatMayHoldAnything(t *testing.T) {
	t.Parallel()
	const planted = "hunter2hunter2"
	meta := metav1.ObjectMeta{
		Name: "x", Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": planted},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: planted}},
	}
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: meta, Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Conversion: &apiextensionsv1.CustomResourceConversion{Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig: &apiextensionsv1.WebhookClientConfig{CABundle: []byte(planted)},
		}},
	}}
	service := &apiregistrationv1.APIService{ObjectMeta: meta, Spec: apiregistrationv1.APIServiceSpec{CABundle: []byte(planted)}}
	var out bytes.Buffer
	_, err := Take(t.Context(), altered{Server: open(t, "after.json"),
		definitions: func(yield func(*apiextensionsv1.CustomResourceDefinition, error) bool) { yield(definition, nil) },
		services:    func(yield func(*apiregistrationv1.APIService, error) bool) { yield(service, nil) },
	}, &out)
	must(t, err)
	for _, secret := range []string{planted, "aHVudGVyMmh1bnRlcjI", "managedFields", "last-applied"} {
		if bytes.Contains(out.Bytes(), []byte(secret)) {
			t.Errorf("%q is in the snapshot", secret)
		}
	}
	// That there is a bundle counts: it decides how a server is checked.
	if got := strings.Count(out.String(), `"caBundle"`); got != 2 {
		t.Errorf("%d bundles are in the snapshot, want 2", got)
	}
	if len(definition.Annotations) == 0 || definition.Spec.Conversion.Webhook.ClientConfig.CABundle == nil || service.Spec.CABundle == nil {
		t.Error("the server's own object was changed")
	}
}

// Definitions are on their way before the last one was asked for.
func TestTakeStreams(t *testing.T) {
	t.Parallel()
	const count = 10_000
	written := &tally{}
	soFar := 0
	server := altered{Server: open(t, "after.json"), definitions: func(yield func(*apiextensionsv1.CustomResourceDefinition, error) bool) {
		for i := range count {
			if i == count-1 {
				soFar = written.bytes
			}
			definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("widgets%d.例え.example", i)}}
			if !yield(definition, nil) {
				return
			}
		}
	}}
	summary, err := Take(t.Context(), server, written)
	must(t, err)
	if held := written.bytes - soFar; held > 200<<10 {
		t.Errorf("%d bytes were held back", held)
	}
	if got := summary.Counts[len(summary.Counts)-3]; got != (Count{"customresourcedefinitions", count}) {
		t.Errorf("got %+v", got)
	}
	if written.writes > summaryWrites(summary.Bytes) {
		t.Errorf("%d writes for %d bytes", written.writes, summary.Bytes)
	}
}

func summaryWrites(bytes int64) int { return int(bytes/(32<<10)) + 2 }

type tally struct{ bytes, writes int }

func (c *tally) Write(p []byte) (int, error) {
	c.bytes += len(p)
	c.writes++
	return len(p), nil
}

func TestTakeEndsWithAnError(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	server := open(t, "after.json")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx    context.Context
		server inspection.Server
		w      io.Writer
		want   error
	}{
		"the disk is full":      {t.Context(), server, failing{full}, full},
		"nobody waits":          {ended, server, io.Discard, context.Canceled},
		"the server is unknown": {t.Context(), altered{Server: server, about: func() error { return full }}, io.Discard, full},
	} {
		if _, err := Take(tt.ctx, tt.server, tt.w); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestServer(t *testing.T) {
	t.Parallel()
	server := open(t, "after.json")
	filters, _ := kinds.ByName("filters")
	one, err := server.List(t.Context(), filters, inspection.Query{Name: "authorization"})
	must(t, err)
	if len(one.Objects) != 1 || one.Objects[0].GetObjectKind().GroupVersionKind().Kind != "Filter" || one.ResourceVersion == "" {
		t.Errorf("got %+v", one)
	}
	one.Objects[0].SetName("mine now")
	if _, err := server.List(t.Context(), filters, inspection.Query{Name: "authorization"}); err != nil {
		t.Errorf("who asked has changed the recording: %v", err)
	}
	if _, err := server.List(t.Context(), filters, inspection.Query{Name: "none"}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if _, err := server.Watch(t.Context(), filters, inspection.Query{}, ""); fault.Code(err) != fault.CodeUsage || !strings.Contains(err.Error(), "does not change") {
		t.Errorf("got %v", err)
	}
	if _, err := server.Explain(t.Context(), v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/"}); fault.Code(err) != fault.CodeUsage || !strings.Contains(err.Error(), "can't be asked") {
		t.Errorf("got %v", err)
	}
}

// A recording without a kind says so; it does not look like an empty one.
func TestServerOfAnotherVersion(t *testing.T) {
	t.Parallel()
	server, err := Read(strings.NewReader(small), "old.json")
	must(t, err)
	hooks, _ := kinds.ByName("hooks")
	listing, err := server.List(t.Context(), hooks, inspection.Query{})
	if err != nil || len(listing.Gaps) != 1 || !strings.Contains(listing.Gaps[0].Reason, "old.json was made by another version") {
		t.Errorf("got %+v, %v", listing, err)
	}
	if _, err := collected(server.Definitions(t.Context())); err == nil || !strings.Contains(err.Error(), "old.json has no customresourcedefinitions") {
		t.Errorf("got %v", err)
	}
}

// A definition that is none does not keep the rest from being read.
func TestServerWithABadDefinition(t *testing.T) {
	t.Parallel()
	bad := strings.Replace(string(golden(t, "after.json")), `"scope":"Namespaced","versions":`, `"scope":7,"versions":`, 1)
	server, err := Read(strings.NewReader(bad), "bad.json")
	must(t, err)
	if _, err := collected(server.Definitions(t.Context())); fault.Code(err) != fault.CodeUsage || !strings.Contains(err.Error(), "bad.json can't be used: the object after byte") {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := collected(server.APIServices(ended)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
