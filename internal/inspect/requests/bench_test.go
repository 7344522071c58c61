package requests

import (
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/kapi-dev/kapi/internal/handlerchain"
)

type nobody struct{}

func (nobody) Begin(*handlerchain.Record) {}
func (nobody) End(*handlerchain.Record)   {}

// What a request costs beyond the probes, in CPU time: the chain with probes that
// report to nobody, and with all that is noted here, in turns. Allocations are those
// of both, halved.
func BenchmarkObserver(b *testing.B) {
	const turn = 200
	handlers := [2]http.Handler{chainFor(false), chainFor(true)}
	r := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/default/pods/a?limit=500", nil)
	r.Header.Set("Authorization", "Bearer alice")
	r.Header.Set("User-Agent", "kubectl/v1.37.2 (linux/amd64) kubernetes/0123456")
	w := &silent{header: http.Header{}}
	var spent [2]time.Duration
	n := 0
	for b.Loop() {
		which := n / turn % 2
		if n%turn == 0 {
			spent[which] -= cpuTime()
		}
		handlers[which].ServeHTTP(w, r)
		if n++; n%turn == 0 {
			spent[which] += cpuTime()
		}
	}
	if pairs := n / turn / 2; pairs > 0 {
		if n%turn != 0 {
			spent[n/turn%2] += cpuTime()
		}
		b.ReportMetric(float64(spent[0])/float64(pairs*turn), "probes-cpu-ns/op")
		b.ReportMetric(float64(spent[1]-spent[0])/float64(pairs*turn), "observer-cpu-ns/op")
	}
}

// BenchmarkObserverAllocations is to be compared with observed and nobody.
func BenchmarkObserverAllocations(b *testing.B) {
	for name, observed := range map[string]bool{"nobody": false, "observed": true} {
		b.Run(name, func(b *testing.B) {
			handler := chainFor(observed)
			r := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/default/pods/a?limit=500", nil)
			r.Header.Set("Authorization", "Bearer alice")
			w := &silent{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(w, r)
			}
		})
	}
}

// chainFor is the real chain in front of two layers.
func chainFor(observed bool) http.Handler {
	o := New(Config{Layers: []Layer{{Name: "aggregator"}, {Name: "kube-apiserver"}}})
	filters := handlerchain.Filters(serverConfig(), handlerchain.Options{})
	chain := handlerchain.New(filters, nobody{})
	if observed {
		chain = o.NewChain(filters)
	}
	end := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	if !observed {
		return chain.Wrap(end)
	}
	return chain.Wrap(o.Layer("aggregator", o.ObserveProxy(o.Layer("kube-apiserver", end))))
}

// silent is a writer that keeps nothing.
type silent struct{ header http.Header }

func (s *silent) Header() http.Header         { return s.header }
func (s *silent) WriteHeader(int)             {}
func (s *silent) Write(p []byte) (int, error) { return len(p), nil }

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
