package boot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func stepsNow(t *testing.T, b *Boots) map[string]*inspect.BootStep {
	t.Helper()
	byName := map[string]*inspect.BootStep{}
	for _, step := range stepsInOrder(t, b) {
		byName[step.Name] = step
	}
	return byName
}

func stepsInOrder(t *testing.T, b *Boots) []*inspect.BootStep {
	t.Helper()
	objects, err := b.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	steps := make([]*inspect.BootStep, 0, len(objects))
	for _, object := range objects {
		steps = append(steps, object.(*inspect.BootStep))
	}
	return steps
}

var plan = BootsConfig{
	Components: []Component{
		{Name: "data directory"},
		{Name: "listener", DependsOn: []string{"data directory"}},
		{Name: "etcd", DependsOn: []string{"data directory"}},
		{Name: "server chain"},
	},
	HooksOf: "server chain",
}

// play is one start and its end.
func play(t *testing.T, path string, start func(*Boots)) {
	t.Helper()
	boots := NewBoots(plan)
	if err := boots.Open(path); err != nil {
		t.Fatalf("opening: %v", err)
	}
	start(boots)
	if err := boots.Close(t.Context()); err != nil {
		t.Fatalf("closing: %v", err)
	}
}

// ready plays a start in which all goes well.
func ready(b *Boots) {
	now := time.Now()
	for _, c := range plan.Components {
		b.Observe(Step{Component: c.Name, State: "starting", StartedAt: now})
		b.Observe(Step{Component: c.Name, State: "ready", StartedAt: now, ReadyAt: now.Add(time.Millisecond)})
	}
	b.HooksStarted(now)
	b.HooksDone(now.Add(time.Millisecond))
	b.Ready()
}

func TestBootSteps(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), fileName)
	play(t, path, ready)
	play(t, path, func(b *Boots) {
		b.Observe(Step{Component: "data directory", State: "ready", StartedAt: time.Now(), ReadyAt: time.Now()})
		b.Observe(Step{Component: "etcd", State: "starting", StartedAt: time.Now()})
		b.Observe(Step{Component: "etcd", State: "failed", StartedAt: time.Now(), Err: errors.New("damaged")})
		b.Observe(Step{Component: "listener", State: "starting", StartedAt: time.Now()})
	})
	changes := 0
	config := plan
	config.ServerID = func() string { return "server-1" }
	config.Changed = func() { changes++ }
	config.ProcessStart = time.Now().Add(-time.Second)
	boots := NewBoots(config)
	if err := boots.Open(path); err != nil {
		t.Fatal(err)
	}
	defer boots.Close(context.Background())
	boots.Observe(Step{Component: "data directory", State: "starting", StartedAt: time.Now()})
	boots.Observe(Step{Component: "nobody", State: "starting", StartedAt: time.Now()})

	var order []string
	for _, s := range stepsInOrder(t, boots) {
		order = append(order, fmt.Sprintf("%d %d %s %s", s.Spec.Boot, s.Spec.Order, s.Spec.Component, s.Status.State))
		if s.ServerID != "server-1" || s.CreationTimestamp.IsZero() {
			t.Errorf("%s: server %q, created %v", s.Name, s.ServerID, s.CreationTimestamp)
		}
	}
	want := strings.Split(strings.TrimSpace(`
3 0 process Done
3 1 data directory Running
3 2 listener Pending
3 3 etcd Pending
3 4 server chain Pending
3 5 post-start hooks Pending
3 6 ready Running
2 0 process Done
2 1 data directory Done
2 2 listener Failed
2 3 etcd Failed
2 4 server chain Pending
2 5 post-start hooks Pending
2 6 ready Failed
1 0 process Done
1 1 data directory Done
1 2 listener Done
1 3 etcd Done
1 4 server chain Done
1 5 post-start hooks Done
1 6 ready Done`), "\n")
	if !slices.Equal(order, want) {
		t.Errorf("steps:\n%s\nwant:\n%s", strings.Join(order, "\n"), strings.Join(want, "\n"))
	}

	steps := stepsNow(t, boots)
	for name, needs := range map[string][]string{
		"boot3-process": {}, "boot3-data-directory": {}, "boot1-listener": {"data directory"},
		"boot3-server-chain":     {"data directory", "listener", "etcd"},
		"boot1-post-start-hooks": {"data directory", "listener", "etcd"},
		"boot3-ready":            {"server chain"},
	} {
		if got := steps[name].Spec.DependsOn; len(got) != len(needs) || !slices.Equal(got, needs) && len(needs) > 0 {
			t.Errorf("%s depends on %q, want %q", name, got, needs)
		}
	}
	if got := steps["boot2-etcd"].Status; got.Error != "damaged" || got.ReadyAt == nil {
		t.Errorf("a component that failed: %+v", got)
	}
	if got := steps["boot2-listener"].Status.Error; got != "the process ended before this was done" {
		t.Errorf("a component that was cut off: %q", got)
	}
	if got := steps["boot3-process"].Status; got.Duration.Duration < time.Second {
		t.Errorf("the process began a second ago, not %v", got.Duration)
	}
	if changes != 1 {
		t.Errorf("%d changes were told, want one", changes)
	}
}

// TestLaterEnd: what ends a component later is told, and its start was well.
func TestLaterEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), fileName)
	play(t, path, func(b *Boots) {
		ready(b)
		b.Observe(Step{Component: "etcd", State: "ready", StartedAt: time.Now(), ReadyAt: time.Now(), Err: errors.New("disk gone")})
		b.Died("etcd: disk gone")
	})
	boots := NewBoots(plan)
	if err := boots.Open(path); err != nil {
		t.Fatal(err)
	}
	defer boots.Close(context.Background())
	if got := stepsNow(t, boots)["boot1-etcd"].Status; got.State != inspect.RunDone || got.Error != "disk gone" {
		t.Errorf("etcd is %+v", got)
	}
	if got := stepsNow(t, boots)["boot1-ready"].Status; got.State != inspect.RunDone || got.Error != "etcd: disk gone" {
		t.Errorf("the start is %+v", got)
	}
	boots.Died("nothing works")
	if got := stepsNow(t, boots)["boot2-ready"].Status; got.State != inspect.RunFailed || got.Error != "nothing works" || got.ReadyAt == nil {
		t.Errorf("a start that was cut off is %+v", got)
	}
}

// TestTenBoots: the last ten are shown, and the file does not grow for ever.
func TestTenBoots(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), fileName)
	var sizes []int64
	for range 3 * rewriteAfter {
		play(t, path, ready)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Fatalf("the file has mode %o", mode)
		}
		sizes = append(sizes, info.Size())
	}
	if last, limit := sizes[len(sizes)-1], 2*sizes[rewriteAfter-1]; last > limit {
		t.Errorf("the file has %d bytes, more than %d", last, limit)
	}
	boots := NewBoots(plan)
	if err := boots.Open(path); err != nil {
		t.Fatal(err)
	}
	defer boots.Close(context.Background())
	seen := map[int64]int{}
	for _, s := range stepsInOrder(t, boots) {
		seen[s.Spec.Boot]++
	}
	const this = 3*rewriteAfter + 1
	if len(seen) != keepBoots || seen[this] != 7 || seen[this-keepBoots+1] != 7 {
		t.Errorf("starts with their number of steps: %v, want %d to %d", seen, this-keepBoots+1, this)
	}
}

// TestDamagedFile cuts and overwrites the file in many places: a start goes on, and
// what can be read is there.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	original := filepath.Join(t.TempDir(), fileName)
	play(t, original, ready)
	play(t, original, ready)
	content, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(content, []byte("\n"))
	cases := map[string][]byte{
		"empty":          {},
		"zeros":          make([]byte, len(content)),
		"not JSON":       []byte("hello\n"),
		"other JSON":     []byte("{}\n[]\nnull\n"),
		"another format": []byte(`{"boot":"x","step":{}}` + "\n"),
		"line in middle": slices.Concat(slices.Concat(lines[:9]...), []byte("{broken\n"), slices.Concat(lines[9:]...)),
	}
	for cut := 1; cut < len(content); cut += 97 {
		cases[fmt.Sprintf("cut at %d", cut)] = content[:cut]
	}
	for name, damaged := range cases {
		path := filepath.Join(t.TempDir(), fileName)
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		boots := NewBoots(plan)
		openErr := boots.Open(path)
		torn := strings.HasPrefix(name, "cut") || name == "empty" || name == "zeros"
		if (openErr != nil) == torn {
			t.Errorf("%s: Open: %v", name, openErr)
		}
		if _, err := os.Stat(path + damagedSuffix); (err == nil) == torn {
			t.Errorf("%s: set aside: %v", name, err)
		}
		if name == "line in middle" && stepsNow(t, boots)["boot2-ready"] == nil {
			t.Errorf("%s: what is behind the damage is lost", name)
		}
		ready(boots)
		if err := boots.Close(t.Context()); err != nil {
			t.Errorf("%s: Close: %v", name, err)
		}
		again := NewBoots(plan)
		if err := again.Open(path); err != nil {
			t.Errorf("%s: Open after that: %v", name, err)
		}
		if steps := stepsInOrder(t, again); len(steps) < 14 || steps[13].Status.State != inspect.RunDone {
			t.Errorf("%s: the start that met the damage is not there", name)
		}
		if err := again.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestUnwritable: without a file a start is remembered all the same.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	boots := NewBoots(plan)
	if err := boots.Open(filepath.Join(t.TempDir(), "missing", fileName)); err == nil {
		t.Error("a file in a directory that does not exist was opened")
	}
	ready(boots)
	boots.HookFailed(HookError{Hook: "x", Err: errors.New("y")})
	if got := stepsNow(t, boots)["boot1-ready"].Status.State; got != inspect.RunDone {
		t.Errorf("ready is %s", got)
	}
	if err := boots.Close(t.Context()); err != nil {
		t.Error(err)
	}

	// A directory in its place is moved out of the way.
	path := filepath.Join(t.TempDir(), fileName)
	if err := os.MkdirAll(filepath.Join(path, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	boots = NewBoots(plan)
	if err := boots.Open(path); err == nil {
		t.Error("a directory was taken for the file")
	}
	if err := boots.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestManyTell: everything may come from any goroutine, also while it is read and
// closed; the race detector looks.
func TestManyTell(t *testing.T) {
	t.Parallel()
	boots := NewBoots(plan)
	if err := boots.Open(filepath.Join(t.TempDir(), fileName)); err != nil {
		t.Fatal(err)
	}
	var tellers sync.WaitGroup
	for range 8 {
		tellers.Go(func() {
			for range 100 {
				ready(boots)
			}
			boots.HookFailed(HookError{Hook: "x", Err: errors.New("y")})
		})
	}
	_ = stepsNow(t, boots)
	if err := boots.Close(t.Context()); err != nil {
		t.Error(err)
	}
	tellers.Wait()
}

// BenchmarkObserve measures what a step costs the start.
func BenchmarkObserve(b *testing.B) {
	boots := NewBoots(plan)
	if err := boots.Open(filepath.Join(b.TempDir(), fileName)); err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	for b.Loop() {
		boots.Observe(Step{Component: "etcd", State: "starting", StartedAt: now})
		boots.Observe(Step{Component: "etcd", State: "ready", StartedAt: now, ReadyAt: now})
	}
	b.StopTimer()
	_ = boots.Close(context.Background())
}
