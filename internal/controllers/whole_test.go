package controllers

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestWhole: a request that has begun comes to its end, a watch and one that has not
// begun do not.
func TestWhole(t *testing.T) {
	arrived, cut := make(chan struct{}, 10), make(chan bool, 10)
	answer := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-answer:
			cut <- false
			_, _ = io.WriteString(w, "done")
		case <-r.Context().Done():
			cut <- true
		}
	}))
	defer server.Close()
	client := &http.Client{Transport: whole(http.DefaultTransport)}
	get := func(ctx context.Context, query string) (string, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+query, nil)
		if err != nil {
			return "", err
		}
		response, err := client.Do(request)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		return string(text), err
	}
	type result struct {
		text string
		err  error
	}
	begin := func(ctx context.Context, query string) <-chan result {
		results := make(chan result, 1)
		go func() {
			text, err := get(ctx, query)
			results <- result{text, err}
		}()
		return results
	}

	ctx, stop := context.WithCancel(t.Context())
	write, watch := begin(ctx, ""), begin(ctx, "?watch=true")
	<-arrived
	<-arrived
	stop()
	if r := <-watch; !errors.Is(r.err, context.Canceled) || !<-cut {
		t.Errorf("the watch: %q, %v", r.text, r.err)
	}
	answer <- struct{}{}
	if r := <-write; r.err != nil || r.text != "done" || <-cut {
		t.Errorf("the write: %q, %v", r.text, r.err)
	}
	if _, err := get(ctx, ""); !errors.Is(err, context.Canceled) || len(arrived) > 0 {
		t.Errorf("after the end: %v, %d requests", err, len(arrived))
	}

	// One that never ends is not waited for much longer.
	ctx, stop = context.WithCancel(t.Context())
	hangs := begin(ctx, "")
	<-arrived
	stop()
	select {
	case r := <-hangs:
		if r.err == nil || !<-cut {
			t.Errorf("the one that hangs: %q, %v", r.text, r.err)
		}
	case <-time.After(time.Minute):
		t.Error("it hangs for ever")
	}
}
