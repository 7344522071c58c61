package boot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// healthEndpoints are looked through in this order. A check that is part of several
// is asked at the first of them: /livez lets the checks of a start pass for a while
// (--livez-grace-period), the others don't.
var healthEndpoints = []string{"readyz", "healthz", "livez"}

const (
	defaultCheckTimeout  = 2 * time.Second
	defaultCheckParallel = 4
)

// ChecksConfig is what [NewChecks] needs.
type ChecksConfig struct {
	// ServerID is the identity of the server in the objects; it is asked when
	// they are made.
	ServerID func() string
	// Server is asked for the outermost server, whose endpoints are what clients
	// see. It may return nil while there is none.
	Server func() *genericapiserver.GenericAPIServer
	// Timeout is how long one check may take. Zero: 2 s.
	Timeout time.Duration
	// Parallel is how many checks are made at the same time. Zero: 4.
	Parallel int
}

// Checks makes the health checks of a server, when it is asked, and remembers how
// they went. Its methods are safe for concurrent use.
//
// A check is made through the handler that the server has for it alone
// (/readyz/NAME): that is the check itself, with its error, and includes those that
// only one endpoint has. Names come from the list of these handlers. Nothing is
// asked of /livez and /readyz themselves, so nothing counts as a probe.
type Checks struct {
	cfg   ChecksConfig
	slots chan struct{}
	runs  sync.WaitGroup

	mu     sync.Mutex
	checks map[string]*check
	// ended is closed when all runs have ended after Close; nil before.
	ended chan struct{}
}

// check is what is remembered of one.
type check struct {
	name      string
	endpoints []string // as in healthEndpoints
	// running is when the outstanding run began; zero when there is none.
	running time.Time

	state       inspect.HealthState
	since       time.Time
	lastError   string
	lastErrorAt time.Time
	duration    time.Duration
}

// NewChecks returns a Checks that has made none yet.
func NewChecks(cfg ChecksConfig) *Checks {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultCheckTimeout
	}
	if cfg.Parallel <= 0 {
		cfg.Parallel = defaultCheckParallel
	}
	return &Checks{cfg: cfg, slots: make(chan struct{}, cfg.Parallel), checks: map[string]*check{}}
}

// Close lets no check begin any more, and waits until those that are being made have
// ended, or ctx is done. What is remembered can be read as before. It may be called
// more than once.
func (c *Checks) Close(ctx context.Context) error {
	c.mu.Lock()
	if c.ended == nil {
		c.ended = make(chan struct{})
		go func() {
			c.runs.Wait()
			close(c.ended)
		}()
	}
	ended := c.ended
	c.mu.Unlock()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for health checks: %w", context.Cause(ctx))
	}
}

// find returns the names of all checks, with their endpoints, from the paths that a
// server has a handler for.
func find(paths []string) map[string][]string {
	found := map[string][]string{}
	for _, endpoint := range healthEndpoints {
		for _, path := range paths {
			if name, ok := strings.CutPrefix(path, "/"+endpoint+"/"); ok && name != "" && !slices.Contains(found[name], endpoint) {
				found[name] = append(found[name], endpoint)
			}
		}
	}
	return found
}

// makeAll makes all checks, and returns when each has ended or had its time.
func (c *Checks) makeAll(ctx context.Context, server *genericapiserver.GenericAPIServer) {
	var waiting sync.WaitGroup
	for name, endpoints := range find(server.Handler.NonGoRestfulMux.ListedPaths()) {
		started, ok := c.begin(name, endpoints)
		if !ok {
			continue // the run before has not ended; it says so itself
		}
		waiting.Go(func() { c.perform(ctx, server.Handler.NonGoRestfulMux, name, endpoints[0], started) })
	}
	waiting.Wait()
}

// begin claims the only run of a check, and tells of one that hangs.
func (c *Checks) begin(name string, endpoints []string) (time.Time, bool) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.checks[name]
	if k == nil {
		k = &check{name: name, state: inspect.HealthUnknown, since: now}
		c.checks[name] = k
	}
	k.endpoints = endpoints
	if c.ended != nil {
		return now, false
	}
	if !k.running.IsZero() {
		if took := now.Sub(k.running); took >= c.cfg.Timeout {
			k.note(now, took, noAnswer(took))
		}
		return now, false
	}
	k.running = now
	return now, true
}

func noAnswer(took time.Duration) error {
	return fmt.Errorf("no answer for %v; the check is still running", took.Round(100*time.Millisecond))
}

// perform makes one check and waits for it until its time is over. The run of a check
// that takes longer ends when it will; until then there is no other of it.
func (c *Checks) perform(ctx context.Context, handler http.Handler, name, endpoint string, claimed time.Time) {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		c.end(name, claimed, nil, false)
		return
	}
	defer func() { <-c.slots }()
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	ended := make(chan struct{})
	started := c.start(name, func(started time.Time) {
		defer close(ended)
		err := ask(ctx, handler, "/"+endpoint+"/"+name)
		// An error that only says that nobody waits any more tells nothing of the check.
		c.end(name, started, err, err == nil || !errors.Is(context.Cause(ctx), context.Canceled))
	})
	if started.IsZero() {
		return
	}
	select {
	case <-ended:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			c.late(name, started)
		}
	}
}

// start begins a run that may have had to wait for a slot, and returns when; the zero
// time after Close.
func (c *Checks) start(name string, run func(started time.Time)) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		c.checks[name].running = time.Time{}
		return time.Time{}
	}
	now := time.Now()
	c.checks[name].running = now
	c.runs.Go(func() { run(now) })
	return now
}

// end notes the outcome of a run, if it says something.
func (c *Checks) end(name string, started time.Time, err error, says bool) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.checks[name]
	k.running = time.Time{}
	if says {
		k.note(now, now.Sub(started), err)
	}
}

// late notes that a run has not ended in time.
func (c *Checks) late(name string, started time.Time) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.checks[name]; !k.running.IsZero() {
		k.note(now, now.Sub(started), noAnswer(now.Sub(started)))
	}
}

// note remembers an outcome; the state's since changes with the state only.
func (k *check) note(at time.Time, took time.Duration, err error) {
	state := inspect.HealthOK
	if err != nil {
		state = inspect.HealthFailed
		k.lastError, k.lastErrorAt = err.Error(), at
	}
	if k.state != state {
		k.state, k.since = state, at
	}
	if !alike(k.duration, took) {
		k.duration = took
	}
}

// alike tells whether two durations say the same to a person. Those who watch get an
// event when an object has changed: forty checks that take 8 µs now and 9 µs then are
// no news.
func alike(a, b time.Duration) bool {
	if a == 0 || b == 0 {
		return a == b
	}
	return max(a, b) < time.Millisecond || max(a, b) < 2*min(a, b)
}
