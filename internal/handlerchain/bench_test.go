package handlerchain

import (
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"
)

type nobody struct{}

func (nobody) Begin(*Record) {}
func (nobody) End(*Record)   {}

// What observation costs, in CPU time: the same chain without probes, without probes
// but with their room on the stack, and with probes, in turns of a few hundred
// requests. Turns and CPU time keep out most of what else the machine does.
// observation is the difference that a server sees; probes is that of the probes alone.
func BenchmarkChain(b *testing.B) {
	const turn = 500
	roomy := Filters(config(b, nil), Options{})
	timeout := &roomy[index(b, roomy, "timeout")]
	inner := timeout.Wrap
	timeout.Wrap = func(h http.Handler) http.Handler { return inner(withRoom(h)) }
	variants := []http.Handler{
		New(Filters(config(b, nil), Options{}), nil).Wrap(deep),
		withRoom(New(roomy, nil).Wrap(deep)),
		New(Filters(config(b, nil), Options{}), nobody{}).Wrap(deep),
	}
	spent := make([]time.Duration, len(variants))
	n := 0
	for b.Loop() {
		which := n / turn % len(variants)
		if n%turn == 0 {
			spent[which] -= cpuTime()
		}
		r := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/default/pods/a", nil)
		r.Header.Set("Authorization", "Bearer alice")
		variants[which].ServeHTTP(httptest.NewRecorder(), r)
		if n++; n%turn == 0 {
			spent[which] += cpuTime()
		}
	}
	if rounds := n / turn / len(variants); rounds > 0 && n%(turn*len(variants)) == 0 {
		each := float64(rounds * turn)
		b.ReportMetric(float64(spent[0])/each, "bare-cpu-ns/op")
		b.ReportMetric(float64(spent[2]-spent[0])/each, "observation-cpu-ns/op")
		b.ReportMetric(float64(spent[2]-spent[1])/each, "probes-cpu-ns/op")
	}
}

func withRoom(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reserveStack(0)
		h.ServeHTTP(w, r)
	})
}

// deep is a handler with as much stack as one that reads from storage.
var deep = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if descend(24, [256]byte{}) != 0 {
		ok(w, r)
	}
})

//go:noinline
func descend(n int, room [256]byte) int {
	if n == 0 {
		return 1
	}
	room[n]++
	return descend(n-1, room) + int(room[n+1])
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
