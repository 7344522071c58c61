package election

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lock is written when it is told to be.
type lock struct {
	resourcelock.Interface
	err  error
	took time.Duration
}

func (l *lock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	time.Sleep(l.took)
	return l.err
}

// TestFence: requests pass until so long after the last renewal that succeeded.
func TestFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lock{took: time.Second}
		r := &renewals{Interface: l}
		passed := 0
		fence := r.fence(10 * time.Second)
		fenced := fence.Wrap(roundTripper(func(*http.Request) (*http.Response, error) {
			passed++
			return &http.Response{}, nil
		}))
		try := func(want bool) {
			t.Helper()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://a.example", nil)
			if err != nil {
				t.Fatal(err)
			}
			before := passed
			response, err := fenced.RoundTrip(request)
			if err == nil && response.Body != nil {
				_ = response.Body.Close()
			}
			if fence.Closed() == want || (err == nil) != want || (passed > before) != want {
				t.Errorf("passed %v, %v; want %v", passed > before, err, want)
			}
		}
		renew := func(err error) {
			l.err = err
			_ = r.Update(t.Context(), resourcelock.LeaderElectionRecord{})
		}
		try(false) // never written
		renew(nil) // takes a second, and counts from its beginning
		try(true)
		time.Sleep(8 * time.Second)
		try(true)
		time.Sleep(2 * time.Second)
		try(false)
		renew(errors.New("no answer"))
		try(false)
		renew(nil)
		try(true)
		if (Fence{}).Closed() {
			t.Error("a fence is closed where there is nobody else")
		}
	})
}
