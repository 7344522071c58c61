package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/rest"
)

const (
	// readyPoll is the resolution of a start-up figure.
	readyPoll = 5 * time.Millisecond
	// readyLimit is when a server that is not ready counts as failed; an existing
	// directory of full size takes the peer a good part of it.
	readyLimit = 5 * time.Minute
	stopLimit  = time.Minute
)

// instance is a ready server of either side.
type instance struct {
	procs   []*process   // in the order of their start
	config  *rest.Config // of a user in system:masters
	http    *http.Client // of config, for paths outside the API
	startup time.Duration
	urls    []string // of each process: where it serves /metrics and /debug/pprof
}

// startOptions say on what a server starts.
type startOptions struct {
	Dir   string // made if it is not there
	Fsync bool
	// Args are for kapi serve, before those of the side.
	Args []string
	// Manager is --controllers of the peer's kube-controller-manager; "" is none.
	Manager string
	// Admission turns the peer's admission plugin ServiceAccount on, which envtest has
	// off; controllers make the accounts that it wants. A Manager implies it.
	Admission bool
}

// start starts a side and returns when /readyz says 200.
func (l *lab) start(ctx context.Context, s *side, so startOptions) (*instance, error) {
	if err := os.MkdirAll(so.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a data directory: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit, fmt.Errorf("not ready after %s", readyLimit))
	defer cancel()
	if s.spec.Kind == "peer" {
		return l.startPeer(ctx, s, so)
	}
	return l.startKapi(ctx, s, so)
}

// awaitReady polls /readyz every few milliseconds until it says 200. connect
// returns the client to poll with, or nil as long as there is none; it is asked each time.
func awaitReady(ctx context.Context, procs []*process, url string, connect func() (*http.Client, error)) error {
	server := procs[len(procs)-1]
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	last := errors.New("no attempt yet")
	for {
		for _, p := range procs {
			if err := p.exited(); err != nil {
				return err
			}
		}
		client, err := connect()
		if err == nil && client != nil {
			_, err = get(ctx, client, url)
			if err == nil {
				return nil
			}
		}
		if err != nil {
			last = err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return server.failure("waiting for %s: %w (last answer: %w)", url, context.Cause(ctx), last)
		}
	}
}

// get returns the body of a 200 answer. Anything else is an error.
func get(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("building a request: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the answer of %s: %w", url, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return body, nil
}

// stop stops the processes, the newest first, as an operator would (etcd, where it
// has its own process, after its API server), and returns the time from the first SIGTERM to the last exit.
func (i *instance) stop(ctx context.Context) (time.Duration, error) {
	i.http.CloseIdleConnections()
	ctx, cancel := context.WithTimeoutCause(ctx, stopLimit, fmt.Errorf("still there after %s", stopLimit))
	defer cancel()
	begun := time.Now()
	for n := len(i.procs) - 1; n >= 0; n-- {
		if err := i.procs[n].stop(ctx); err != nil {
			return 0, err
		}
	}
	return time.Since(begun), nil
}

// kill ends the processes at once. It may follow stop.
func (i *instance) kill() {
	i.http.CloseIdleConnections()
	for n := len(i.procs) - 1; n >= 0; n-- {
		i.procs[n].kill()
	}
}
