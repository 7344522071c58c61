package boot

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// told remembers what a HookObserver was told.
type told struct {
	mu            sync.Mutex
	started, done []time.Time
	failures      []HookError
}

func (o *told) HooksStarted(at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.started = append(o.started, at)
}

func (o *told) HooksDone(at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done = append(o.done, at)
}

func (o *told) HookFailed(f HookError) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failures = append(o.failures, f)
}

// hangingHook is found in a stack by its name.
func hangingHook(release <-chan struct{}) genericapiserver.PostStartHookFunc {
	return func(genericapiserver.PostStartHookContext) error {
		<-release
		return nil
	}
}

// TestHooksOfLayers runs real hooks of two layers: some go through Func and some
// don't, one of each hangs until the test lets it go.
func TestHooksOfLayers(t *testing.T) {
	t.Parallel()
	observer := &told{}
	hooks := NewHooks(HooksConfig{ServerID: func() string { return "server-1" }, Observer: observer, StackAfter: time.Nanosecond})
	releaseExact, releasePolled := make(chan struct{}), make(chan struct{})
	quick := func(genericapiserver.PostStartHookContext) error { return nil }
	layers := mustLayers(t, func(s *genericapiserver.GenericAPIServer) error {
		s.AddPostStartHookOrDie("rbac/quick", hooks.Func("inner", "rbac/quick", quick))
		s.AddPostStartHookOrDie("polled-hanging", hangingHook(releasePolled))
		return nil
	}, func(s *genericapiserver.GenericAPIServer) error {
		s.AddPostStartHookOrDie("polled-quick", quick)
		s.AddPostStartHookOrDie("exact-hanging", hooks.Func("outer", "exact-hanging", hangingHook(releaseExact)))
		return nil
	})
	hooks.Attach(layers)

	for name, hook := range hooksNow(t, hooks) {
		if hook.Status.State != inspect.RunPending || hook.Status.StartedAt != nil {
			t.Errorf("%s is %+v before the server runs", name, hook.Status)
		}
	}

	before := time.Now()
	layers[0].Server.RunPostStartHooks(t.Context())
	polled := make(chan error, 1)
	go func() { polled <- hooks.Poll(t.Context()) }()
	await(t, "the quick hooks are done", func() bool {
		now := hooksNow(t, hooks)
		return now["rbac-quick"].Status.State == inspect.RunDone && now["polled-quick"].Status.State == inspect.RunDone &&
			now["configured"].Status.State == inspect.RunDone && now["exact-hanging"].Status.Stack != ""
	})

	now := hooksNow(t, hooks)
	for name, layer := range map[string]string{
		"rbac-quick": "inner", "polled-hanging": "inner", "max-in-flight-filter": "inner", "storage-object-count-tracker-hook": "inner",
		"polled-quick": "outer", "exact-hanging": "outer", "configured": "outer",
	} {
		hook := now[name]
		if hook == nil {
			t.Errorf("no hook %s in %v", name, now)
			continue
		}
		if hook.Spec.Layer != layer || hook.ServerID != "server-1" {
			t.Errorf("%s: layer %q of server %q, want %q", name, hook.Spec.Layer, hook.ServerID, layer)
		}
		if hook.Status.StartedAt == nil || hook.Status.StartedAt.Time.Before(before) {
			t.Errorf("%s started at %v, the server at %v", name, hook.Status.StartedAt, before)
		}
		// Upstream's own are known by the function, ours by who has added them.
		want := "boot.TestHooksOfLayers.func"
		switch name {
		case "max-in-flight-filter", "storage-object-count-tracker-hook":
			want = "server.completedConfig.New.func"
		case "configured":
			want = "boot.newLayers.func"
		}
		if at := hook.Spec.RegisteredAt; !strings.Contains(at, want) || !strings.Contains(at, ".go:") {
			t.Errorf("%s was registered at %q, want %s", name, at, want)
		}
	}
	for _, name := range []string{"polled-hanging", "exact-hanging"} {
		status := now[name].Status
		if status.State != inspect.RunRunning || status.FinishedAt != nil || status.Duration.Duration <= 0 {
			t.Errorf("%s is %+v, want running", name, status)
		}
		// The compiler may have inlined it, and then names it in another way.
		if innermost, _, _ := strings.Cut(status.Stack, "\n"); !strings.Contains(innermost, "hangingHook") || !strings.Contains(innermost, " hooks_test.go:") {
			t.Errorf("the stack of %s does not show where it hangs:\n%s", name, status.Stack)
		}
	}
	if trouble := hooks.Trouble("inner"); !strings.Contains(trouble, `"polled-hanging" has been running`) {
		t.Errorf("trouble of the inner layer: %q", trouble)
	}
	if status := now["rbac-quick"].Status; status.Stack != "" || status.Conditions[0].Status != "True" {
		t.Errorf("a hook that is done: %+v", status)
	}

	close(releasePolled)
	if err := <-polled; err != nil {
		t.Errorf("polling: %v", err)
	}
	if len(observer.done) != 0 {
		t.Error("all hooks are said to be done while one hangs")
	}
	close(releaseExact)
	await(t, "all are done", func() bool { return hooksNow(t, hooks)["exact-hanging"].Status.State == inspect.RunDone })
	await(t, "the observer is told", func() bool {
		observer.mu.Lock()
		defer observer.mu.Unlock()
		return len(observer.done) == 1
	})
	if len(observer.started) != 1 || len(observer.failures) != 0 || hooks.LastWords() != "" {
		t.Errorf("observer was told %+v", observer)
	}
	if trouble := hooks.Trouble("inner"); trouble != "" {
		t.Errorf("trouble of a layer that is well: %q", trouble)
	}
}

// TestAllHooksHang: where no hook has said a word, the stacks tell that they run.
func TestAllHooksHang(t *testing.T) {
	t.Parallel()
	hooks := NewHooks(HooksConfig{StackAfter: time.Nanosecond})
	release := make(chan struct{})
	defer close(release)
	server, err := newServer("only", genericapiserver.NewEmptyDelegate(), func(c *genericapiserver.Config) {
		c.StorageObjectCountTracker = nil
		c.AddPostStartHookOrDie("max-in-flight-filter", func(genericapiserver.PostStartHookContext) error {
			<-release
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	hooks.Attach([]Layer{{"only", server}})
	server.RunPostStartHooks(t.Context())
	await(t, "all hooks are seen to run", func() bool {
		now := hooksNow(t, hooks)
		return len(now) == 1 && now["max-in-flight-filter"].Status.State == inspect.RunRunning
	})
}

// TestPollEnds: polling ends with its context, and says so.
func TestPollEnds(t *testing.T) {
	t.Parallel()
	hooks := NewHooks(HooksConfig{})
	hooks.Attach(mustLayers(t, nothing, nothing))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := hooks.Poll(ctx); err == nil || !strings.Contains(err.Error(), "polling post-start hooks") {
		t.Errorf("Poll of hooks that never run: %v", err)
	}
}

// TestFatal holds what is read of the message that upstream dies with.
func TestFatal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ message, want string }{
		{`PostStartHook "polled" failed: no roles: try "again"`, `post-start hook "polled" of layer outer failed: no roles: try "again"`},
		{`PostStartHook "unknown" failed: x`, `post-start hook "unknown" failed: x`},
		{`Error registering PostStartHook "polled": x`, ""},
		{`PostStartHook polled failed: x`, ""},
		{`PostStartHook "polled" is well`, ""},
		{"", ""},
	} {
		observer := &told{}
		hooks := NewHooks(HooksConfig{Observer: observer})
		hooks.Attach(mustLayers(t, nothing, func(s *genericapiserver.GenericAPIServer) error {
			return s.AddPostStartHook("polled", hangingHook(nil))
		}))
		if got := hooks.Fatal(c.message); got != c.want {
			t.Errorf("Fatal(%q) = %q, want %q", c.message, got, c.want)
		}
		if told := len(observer.failures) == 1; told != (c.want != "") {
			t.Errorf("Fatal(%q) told %v", c.message, observer.failures)
		}
		hook := hooksNow(t, hooks)["polled"]
		if failed := hook.Status.State == inspect.RunFailed; failed != strings.Contains(c.want, "polled") {
			t.Errorf("after Fatal(%q) the hook is %+v", c.message, hook.Status)
		}
	}
}

// TestOrderOfHooks: outermost layer first, by name within one, no name twice.
func TestOrderOfHooks(t *testing.T) {
	t.Parallel()
	hooks := NewHooks(HooksConfig{})
	add := func(names ...string) func(*genericapiserver.GenericAPIServer) error {
		return func(s *genericapiserver.GenericAPIServer) error {
			for _, name := range names {
				s.AddPostStartHookOrDie(name, hangingHook(nil))
			}
			return nil
		}
	}
	hooks.Attach(mustLayers(t, add("a/b", "a-b"), add("z")))
	objects, err := hooks.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range objects {
		names = append(names, object.GetName())
	}
	want := []string{"configured", "z", "a-b", "a-b-2", "max-in-flight-filter", "storage-object-count-tracker-hook"}
	if !slices.Equal(names, want) {
		t.Errorf("hooks in order %q, want %q", names, want)
	}
}
