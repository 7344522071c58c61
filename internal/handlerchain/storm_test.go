package handlerchain

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/server/routine"
	"k8s.io/component-base/featuregate"
)

// stormy answers, is slow, panics, aborts or waits for the deadline, as the path says.
func stormy(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "panic"):
		panic("a test")
	case strings.HasSuffix(r.URL.Path, "abort"):
		panic(http.ErrAbortHandler)
	case strings.HasSuffix(r.URL.Path, "half"):
		ok(w, r)
		panic("a test")
	case strings.HasSuffix(r.URL.Path, "silent"): // to the deadline, and away at the same moment as the filter
		<-r.Context().Done()
	case strings.HasSuffix(r.URL.Path, "late"): // to the deadline, and then an answer that is not wanted any more
		<-r.Context().Done()
		w.WriteHeader(http.StatusTeapot)
	case strings.HasSuffix(r.URL.Path, "stuck"): // far over the deadline
		<-r.Context().Done()
		for range 20 {
			w.Header().Set("Stuck", "yes")
			_, _ = w.Write([]byte("."))
		}
		_, _ = w.Write(nil)
	case r.URL.Query().Has("watch"):
		if task := routine.TaskFrom(r.Context()); task != nil {
			task.Func = func() { ok(w, r) }
			return
		}
		ok(w, r)
	default:
		ok(w, r)
	}
}

var (
	stormPaths = []string{
		"/healthz", "/nothing", pods, pods + "?watch=true", pods + "?timeout=soon", pods + "/panic", pods + "/abort", pods + "/half",
		pods + "/silent?timeout=2ms", pods + "/late?timeout=2ms", pods + "/stuck?timeout=2ms", "/peer",
	}
	stormUsers = []string{"", "bad", "alice", "alice", "alice", "bob", "carol"}
)

// witness checks each record at its end and afterwards.
type witness struct {
	keeper
	spans sync.Map // *Record → its spans at its end
}

func (w *witness) End(r *Record) {
	w.spans.Store(r, spansOf(r))
	w.keeper.End(r)
}

func spansOf(r *Record) []Span {
	all := make([]Span, len(r.chain.filters)+1)
	for i := range all {
		all[i] = r.Span(i)
	}
	return all
}

// Many clients, all kinds of ends, deadlines that race with answers, clients that go
// away: nothing is lost, every sum agrees, no record changes after its end, and a 504
// is the timeout filter's.
func TestStorm(t *testing.T) {
	const clients, each = 50, 20
	for name, gate := range map[string]bool{"with routine": true, "without": false} {
		c := everything(t)
		c.FeatureGate = config(t, map[featuregate.Feature]bool{features.APIServingWithRoutine: gate}).FeatureGate
		kept := &witness{}
		chain := New(Filters(c, Options{PeerProxy: peer{}}), kept)
		s := serveHandler(t, chain.Wrap(http.HandlerFunc(stormy)))
		got := make([]map[int]int64, clients)
		var group sync.WaitGroup
		for client := range clients {
			got[client] = map[int]int64{}
			group.Go(func() {
				random := rand.New(rand.NewPCG(7, uint64(client)))
				for range each {
					got[client][storm(t, s.Client(), s.URL, random)]++
				}
			})
		}
		group.Wait()
		s.Close() // waits for what still runs
		eventually(t, func() bool { return kept.count() == kept.begun })
		balanced(t, chain)
		checkStorm(t, name, chain, kept, got)
	}
}

// storm sends one request and returns the status; 0 when there was no answer.
func storm(t *testing.T, client *http.Client, url string, random *rand.Rand) int {
	ctx := t.Context()
	if random.IntN(10) == 0 { // impatient
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(random.IntN(2000))*time.Microsecond)
		defer cancel()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+stormPaths[random.IntN(len(stormPaths))], nil)
	if err != nil {
		t.Error(err)
		return 0
	}
	if as := stormUsers[random.IntN(len(stormUsers))]; as != "" {
		r.Header.Set("Authorization", "Bearer "+as)
	}
	response, err := fetch(client, r)
	if err != nil {
		return 0
	}
	return response.StatusCode
}

func checkStorm(t *testing.T, name string, chain *Chain, kept *witness, got []map[int]int64) {
	t.Helper()
	timeout, recovery := index(t, chain.Filters(), "timeout"), index(t, chain.Filters(), "panic-recovery")
	ended := map[string]int{}
	for i, r := range kept.records {
		if then, _ := kept.spans.Load(r); fmt.Sprint(then) != fmt.Sprint(spansOf(r)) {
			t.Errorf("%s: the record of request %v has changed after its end", name, r.Data)
		}
		filter, ok := r.Terminator()
		if (r.Status() == http.StatusGatewayTimeout) != (ok && filter == timeout) || (r.Status() == http.StatusInternalServerError) != (ok && filter == recovery) {
			t.Errorf("%s: %d was ended by %d, %t: %+v", name, r.Status(), filter, ok, spansOf(r))
		}
		if r.Deepest() != nil || r.RequestAt(0) != nil || r.Context() != nil || kept.ends[i].deepest == nil {
			t.Errorf("%s: requests were not there at the end, or are afterwards", name)
		}
		checkSpans(t, name, chain, r)
		ended[fmt.Sprint(filter, ok, r.Status())]++
	}
	first := chain.Stats()[0]
	if int(first.Requests) != kept.begun {
		t.Errorf("%s: the outermost filter has seen %d of %d requests", name, first.Requests, kept.begun)
	}
	// What clients got is among what was answered; the impatient did not get all.
	answered := map[int]int64{}
	for _, s := range append(chain.Stats(), chain.HandlerStats()) {
		for status, n := range s.Terminated {
			answered[status] += n
		}
	}
	for status := range answered {
		var clients int64
		for _, one := range got {
			clients += one[status]
		}
		if clients > answered[status] {
			t.Errorf("%s: clients got %d times %d, counted are %d", name, clients, status, answered[status])
		}
	}
	if len(ended) < 9 {
		t.Errorf("%s: only these ends were seen: %v", name, ended)
	}
}

// checkSpans checks one record in itself: order, and that own times add up to the
// duration, down to the filter that ended the request.
func checkSpans(t *testing.T, name string, chain *Chain, r *Record) {
	t.Helper()
	last, known := len(chain.filters), true
	if i, ok := r.Terminator(); ok {
		last = i
	} else if r.Panicked() {
		known = false
	}
	var sum, at time.Duration
	reached := true
	for i := range last + 1 {
		if chain.at[i] < 0 {
			if r.Span(i) != (Span{}) {
				t.Errorf("%s: filter %d is off and has a span", name, i)
			}
			continue
		}
		span := r.Span(i)
		if span.Entered && (!reached || span.At < at) || span.In < 0 || span.Back < 0 || known && (!span.Entered || !span.Returned) {
			t.Errorf("%s: span %d of %s is %+v; status %d, ended by %d: %+v", name, i, chainName(chain, i), span, r.Status(), last, spansOf(r))
			return
		}
		if chain.at[i] == 0 {
			sum = span.At
		}
		reached, at = span.Entered, max(at, span.At)
		sum += span.In + span.Back
	}
	if known && sum != r.Duration() && !panickedInside(r, last) {
		t.Errorf("%s: own times add up to %s of %s: %+v", name, sum, r.Duration(), spansOf(r))
	}
}

// panickedInside tells whether the time of filters further in than last belongs to the
// duration too: a panic came back from there.
func panickedInside(r *Record, last int) bool {
	span := r.Span(last)
	return span.Passed && span.Back > 0
}

func chainName(chain *Chain, i int) string {
	if i == len(chain.filters) {
		return "the handler"
	}
	return chain.filters[i].Name
}
