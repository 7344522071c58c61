package view

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
)

// recordedAt is a little after the objects in testdata were recorded.
var recordedAt = time.Date(2026, time.November, 30, 6, 38, 30, 0, time.UTC)

// read decodes a recorded object.
func read[T any](t *testing.T, name string) *T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	object := new(T)
	if err := json.Unmarshal(data, object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestRequest(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"get", "forbidden", "proxied", "proxied-slow", "custom", "not-found", "admission", "watch", "timeout", "panic"} {
		trace := read[v1alpha1.RequestTrace](t, "request/"+name)
		golden(t, "request/"+name, func(w io.Writer, s text.Screen) error {
			return Request(w, s, trace, recordedAt)
		})
	}
}

// What a filter or a layer had for itself adds up to the whole, but for the time
// before the first filter: nothing is counted twice, and nothing is lost.
func TestRequestTimesAddUp(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"get", "forbidden", "proxied", "proxied-slow", "custom", "not-found", "admission", "watch", "timeout", "panic"} {
		way := newJourney(read[v1alpha1.RequestTrace](t, "request/"+name))
		var sum time.Duration
		for _, share := range way.shares() {
			if share.own < 0 {
				t.Errorf("%s: %s worked for %s", name, share.name, share.own)
			}
			sum += share.own
		}
		if off := way.total - sum; off < -way.total/50 || off > way.total/20 {
			t.Errorf("%s took %s, its parts %s", name, way.total, sum)
		}
	}
}

// Traces that hold little, or something unfriendly, can be shown as well.
func TestRequestOdd(t *testing.T) {
	t.Parallel()
	odd := read[v1alpha1.RequestTrace](t, "request/custom")
	odd.Spec.Path = "/apis/例え.example.com/v1/namespaces/\x1b[2J\u202Eevil/" + strings.Repeat("very-long-", 20) + "é"
	odd.Spec.UserAgent = "名前\n\x07" + strings.Repeat("x", 100)
	odd.Spec.User = nil
	odd.Status.Code = 0
	odd.Status.TerminatedBy = v1alpha1.EndedBy{Kind: v1alpha1.EndedByConnection}
	odd.Status.Hops[3].Layer = "カスタムリソース"
	golden(t, "request/odd", func(w io.Writer, s text.Screen) error { return Request(w, s, odd, recordedAt) })

	empty := &v1alpha1.RequestTrace{}
	golden(t, "request/empty", func(w io.Writer, s text.Screen) error { return Request(w, s, empty, recordedAt) })

	for _, kind := range []v1alpha1.EndedByKind{v1alpha1.EndedByFilter, v1alpha1.EndedByAdmission, v1alpha1.EndedByBodyLimit, v1alpha1.EndedByConnection, ""} {
		trace := read[v1alpha1.RequestTrace](t, "request/custom")
		trace.Status.TerminatedBy = v1alpha1.EndedBy{Kind: kind, Name: "timeout"}
		trace.Status.Duration.Duration = 0
		printView(t, text.Screen{Width: 80}, func(w io.Writer, s text.Screen) error { return Request(w, s, trace, recordedAt) })
	}
}
