package boot

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// newChecks makes a server with checks of its own, and a Checks for it.
func newChecks(t *testing.T, cfg ChecksConfig, add func(*genericapiserver.GenericAPIServer) error) (*Checks, *genericapiserver.GenericAPIServer) {
	t.Helper()
	server, err := newServer("outer", genericapiserver.NewEmptyDelegate(), func(c *genericapiserver.Config) {
		c.LivezGracePeriod = time.Hour
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := add(server); err != nil {
		t.Fatal(err)
	}
	server.PrepareRun()
	cfg.Server = func() *genericapiserver.GenericAPIServer { return server }
	return NewChecks(cfg), server
}

func checksNow(t *testing.T, c *Checks) map[string]*inspect.HealthCheck {
	t.Helper()
	objects, err := c.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*inspect.HealthCheck{}
	for _, object := range objects {
		byName[object.GetName()] = object.(*inspect.HealthCheck)
	}
	return byName
}

// TestChecks makes real checks: their endpoints, the reason that the endpoints
// withhold, and what is remembered between two collections.
func TestChecks(t *testing.T) {
	t.Parallel()
	var failing atomic.Bool
	failing.Store(true)
	var made atomic.Int64
	checks, server := newChecks(t, ChecksConfig{ServerID: func() string { return "server-1" }}, func(s *genericapiserver.GenericAPIServer) error {
		return errors.Join(
			s.AddReadyzChecks(healthz.NamedCheck("only/ready", func(*http.Request) error {
				made.Add(1)
				if failing.Load() {
					return errors.New("the disk is full\nand the moon as well")
				}
				return nil
			})),
			s.AddLivezChecks(0, healthz.NamedCheck("panics", func(*http.Request) error { panic("oh") })),
			s.AddPostStartHook("never", hangingHook(nil)),
		)
	})
	if made.Load() != 0 {
		t.Error("checks are made while nobody asks")
	}

	first := checksNow(t, checks)
	for name, want := range map[string]struct {
		check     string
		endpoints []string
		state     inspect.HealthState
		err       string
	}{
		"ping":                {"ping", []string{"healthz", "livez", "readyz"}, inspect.HealthOK, ""},
		"only-ready":          {"only/ready", []string{"readyz"}, inspect.HealthFailed, "the disk is full\nand the moon as well"},
		"panics":              {"panics", []string{"livez"}, inspect.HealthFailed, "panic: oh"},
		"poststarthook-never": {"poststarthook/never", []string{"healthz", "livez", "readyz"}, inspect.HealthFailed, "not finished"},
		"shutdown":            {"shutdown", []string{"readyz"}, inspect.HealthOK, ""},
	} {
		got := first[name]
		if got == nil {
			t.Errorf("no check %s in %v", name, first)
			continue
		}
		if got.Spec.Check != want.check || !slices.Equal(got.Spec.Endpoints, want.endpoints) || got.ServerID != "server-1" {
			t.Errorf("%s: %+v of server %q, want %+v", name, got.Spec, got.ServerID, want)
		}
		if got.Status.State != want.state || got.Status.LastError != want.err || (got.Status.LastErrorAt == nil) != (want.err == "") || got.Status.Since == nil {
			t.Errorf("%s: %+v, want %+v", name, got.Status, want)
		}
	}

	// What the endpoint shows is the same, without the reason.
	recorder := &reply{header: http.Header{}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz?verbose", nil)
	if err != nil {
		t.Fatal(err)
	}
	server.Handler.NonGoRestfulMux.ServeHTTP(recorder, request)
	listed := 0
	for line := range strings.Lines(recorder.body.String()) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "[+]")
		if !ok {
			if name, ok = strings.CutPrefix(strings.TrimSpace(line), "[-]"); !ok {
				continue
			}
		}
		name, _, _ = strings.Cut(name, " ")
		listed++
		if check := first[objectName(name)]; check == nil || !slices.Contains(check.Spec.Endpoints, "readyz") {
			t.Errorf("/readyz has a check %s, and here it is %+v", name, check)
		}
	}
	if listed < 5 {
		t.Errorf("/readyz lists %d checks:\n%s", listed, recorder.body.String())
	}

	second := checksNow(t, checks)
	if a, b := first["only-ready"].Status, second["only-ready"].Status; !a.Since.Equal(b.Since) || !b.LastErrorAt.After(a.LastErrorAt.Time) {
		t.Errorf("a check that goes on failing: first %+v, then %+v", a, b)
	}
	failing.Store(false)
	third := checksNow(t, checks)["only-ready"].Status
	if third.State != inspect.HealthOK || third.LastError == "" || !third.Since.After(first["only-ready"].Status.Since.Time) || third.Conditions[0].Status != "True" {
		t.Errorf("a check that has failed before: %+v", third)
	}
}

// TestHangingChecks: checks that never answer are Failed, hold nobody up, and are
// not made a second time meanwhile.
func TestHangingChecks(t *testing.T) {
	t.Parallel()
	const timeout = time.Second // enough for a check that is well, on a busy machine
	release := make(chan struct{})
	var running, most, starts atomic.Int64
	checks, _ := newChecks(t, ChecksConfig{Timeout: timeout, Parallel: 3}, func(s *genericapiserver.GenericAPIServer) error {
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			err := s.AddReadyzChecks(healthz.NamedCheck("hangs-"+name, func(*http.Request) error {
				starts.Add(1)
				running.Add(1)
				defer running.Add(-1)
				<-release
				return nil
			}))
			if err != nil {
				return err
			}
		}
		return nil
	})
	for range 3 {
		now := checksNow(t, checks)
		if now["ping"].Status.State != inspect.HealthOK {
			t.Errorf("a check that is well is %+v", now["ping"].Status)
		}
		for _, name := range []string{"a", "e"} {
			if got := now["hangs-"+name].Status; got.State != inspect.HealthFailed || !strings.Contains(got.LastError, "no answer for") || got.Duration.Duration < timeout {
				t.Errorf("a check that hangs is %+v", got)
			}
		}
		most.Store(max(most.Load(), running.Load()))
	}
	if most.Load() != 5 || starts.Load() != 5 {
		t.Errorf("5 checks that hang were started %d times, and %d ran at once", starts.Load(), most.Load())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := checks.Close(ended); err == nil {
		t.Error("Close did not wait for checks that run")
	}
	close(release)
	if err := checks.Close(t.Context()); err != nil {
		t.Error(err)
	}
	// What ends late counts, and can be read when all is over.
	if got := checksNow(t, checks)["hangs-a"].Status; got.State != inspect.HealthOK || got.LastError == "" {
		t.Errorf("a check that hangs no more is %+v", got)
	}
	if starts.Load() != 5 {
		t.Error("a check was made after Close")
	}
}

// TestParallelChecks: no more are made at once than is allowed, by several readers too.
func TestParallelChecks(t *testing.T) {
	t.Parallel()
	const limit = 4
	var running atomic.Int64
	var tooMany atomic.Bool
	gate := make(chan struct{}, limit)
	checks, _ := newChecks(t, ChecksConfig{Parallel: limit, Timeout: time.Minute}, func(s *genericapiserver.GenericAPIServer) error {
		for i := range 12 {
			err := s.AddReadyzChecks(healthz.NamedCheck("check-"+string(rune('a'+i)), func(*http.Request) error {
				if running.Add(1) > limit {
					tooMany.Store(true)
				}
				defer running.Add(-1)
				gate <- struct{}{}
				<-gate
				return nil
			}))
			if err != nil {
				return err
			}
		}
		return nil
	})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 5 {
				_, _ = checks.Collect(t.Context())
			}
		})
	}
	readers.Wait()
	if tooMany.Load() {
		t.Errorf("more than %d checks at once", limit)
	}
	for name, check := range checksNow(t, checks) {
		if strings.HasPrefix(name, "check-") && check.Status.State != inspect.HealthOK {
			t.Errorf("%s is %+v", name, check.Status)
		}
	}
}

// TestReaderGivesUp: a reader that goes away does not make a check fail.
func TestReaderGivesUp(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{}, 1)
	checks, _ := newChecks(t, ChecksConfig{Timeout: time.Minute}, func(s *genericapiserver.GenericAPIServer) error {
		return s.AddReadyzChecks(healthz.NamedCheck("slow", func(r *http.Request) error {
			select {
			case entered <- struct{}{}:
				<-r.Context().Done()
				return r.Context().Err()
			default:
				return nil
			}
		}))
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = checks.Collect(ctx)
	}()
	await(t, "the check runs", func() bool { return len(entered) == 1 })
	cancel()
	<-done
	// The run that was cut off has filled entered, so the next one passes.
	await(t, "the check is made again", func() bool { return checksNow(t, checks)["slow"].Status.State == inspect.HealthOK })
	if got := checksNow(t, checks)["slow"].Status; got.LastError != "" {
		t.Errorf("a check whose reader went away: %+v", got)
	}
}

// TestNoServer: nothing is shown while there is no server.
func TestNoServer(t *testing.T) {
	t.Parallel()
	checks := NewChecks(ChecksConfig{Server: func() *genericapiserver.GenericAPIServer { return nil }})
	if objects, err := checks.Collect(t.Context()); err != nil || len(objects) != 0 {
		t.Errorf("without a server: %v, %v", objects, err)
	}
}

func TestAlike(t *testing.T) {
	for _, row := range []struct {
		a, b time.Duration
		want bool
	}{
		{8 * time.Microsecond, 700 * time.Microsecond, true}, {0, time.Microsecond, false}, {0, 0, true},
		{900 * time.Microsecond, 1100 * time.Microsecond, true}, {time.Millisecond, 3 * time.Millisecond, false}, {time.Second, 1500 * time.Millisecond, true},
	} {
		if got := alike(row.a, row.b); got != row.want || alike(row.b, row.a) != got {
			t.Errorf("%s and %s: %v, want %v", row.a, row.b, got, row.want)
		}
	}
}
