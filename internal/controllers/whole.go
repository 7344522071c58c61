package controllers

import (
	"context"
	"io"
	"net/http"
	"time"
)

// lastRequest is how long a request may take that is under way when its controller
// is told to stop.
const lastRequest = 2 * time.Second

// whole lets requests that have begun come to their end, when their context does
// before: what a controller was about to write is written, and the server does not
// complain of clients that have gone. Watches end at once, and nothing new begins.
func whole(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		ctx := r.Context()
		if r.URL.Query().Get("watch") != "" || ctx.Err() != nil {
			return next.RoundTrip(r)
		}
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastRequest, cancel) })
		response, err := next.RoundTrip(r.WithContext(own))
		if err != nil {
			stop()
			cancel()
			return nil, err
		}
		response.Body = &body{response.Body, func() { stop(); cancel() }}
		return response, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// body is that of a response, whose request ends when it is closed.
type body struct {
	io.ReadCloser
	end func()
}

// Close implements io.Closer.
func (b *body) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
