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

// What observation costs: the same chain without and with probes, in turns of a few
// hundred requests, in CPU time. Turns and CPU time keep out most of what other
// programs on the machine do.
func BenchmarkChain(b *testing.B) {
	const turn = 500
	bare := New(Filters(config(b, nil), Options{}), nil).Wrap(deep)
	observed := New(Filters(config(b, nil), Options{}), nobody{}).Wrap(deep)
	var spent [2]time.Duration
	n := 0
	for b.Loop() {
		which, handler := n/turn%2, bare
		if which == 1 {
			handler = observed
		}
		if n%turn == 0 {
			spent[which] -= cpuTime()
		}
		r := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/default/pods/a", nil)
		r.Header.Set("Authorization", "Bearer alice")
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if n++; n%turn == 0 {
			spent[which] += cpuTime()
		}
	}
	if pairs := n / turn / 2; pairs > 0 && n%turn == 0 {
		b.ReportMetric(float64(spent[0])/float64(pairs*turn), "bare-cpu-ns/op")
		b.ReportMetric(float64(spent[1]-spent[0])/float64(pairs*turn), "observation-cpu-ns/op")
	}
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
