package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kapi-dev/kapi/internal/fault"
)

func TestErrorsAreTyped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		err := Run(t.Context(), Options{
			Components: specs(t, "a stop=hang\nb stop=panic\nc fail=1s stop=error", nil), Signals: make(chan os.Signal),
		})
		var failed *FailedError
		if !errors.As(err, &failed) || failed.Component != "c" {
			t.Errorf("no FailedError of c in %v", err)
		}
		var stop *StopError
		if !errors.As(err, &stop) || stop.Component != "c" {
			t.Errorf("no StopError of c first in %v", err)
		}
		var panicked *PanicError
		if !errors.As(err, &panicked) || panicked.Value != "can't stop" || !strings.Contains(panicked.Stack, "lifecycle.behave") {
			t.Errorf("no PanicError with its stack in %v", err)
		}
		var late *TimeoutError
		if !errors.As(err, &late) || late.After != DefaultComponentStopTimeout {
			t.Errorf("no TimeoutError in %v", err)
		}
		err = Run(t.Context(), Options{Components: specs(t, "a start=error", nil), Signals: make(chan os.Signal)})
		var start *StartError
		if !errors.As(err, &start) || start.Component != "a" || fault.Hint(err) != "try another way" || fault.Code(err) != 1 {
			t.Errorf("got %v with hint %q", err, fault.Hint(err))
		}
	})
}

// TestStartContext checks what a component may rely on: the values of Run's
// ctx, no end of the start context while it runs, an end afterwards.
func TestStartContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
		var start context.Context
		err := Run(ctx, Options{
			Signals: make(chan os.Signal),
			Ready:   func(context.Context) error { cancel(); return nil },
			Components: []Component{{
				Name:  "a",
				Start: func(ctx context.Context) error { start = ctx; return nil },
				Stop: func(ctx context.Context) error {
					if start.Err() != nil || ctx.Err() != nil {
						t.Errorf("while stopping: start context %v, stop context %v", start.Err(), ctx.Err())
					}
					if start.Value(key{}) != "v" || ctx.Value(key{}) != "v" {
						t.Error("a value is missing")
					}
					return nil
				},
			}},
		})
		if err != nil || start.Err() == nil {
			t.Errorf("Run: %v; start context afterwards: %v", err, start.Err())
		}
	})
}

func TestObservedTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var last Step
		err := Run(ctx, Options{
			Components: specs(t, "a start=2s stop=3s", nil), Signals: make(chan os.Signal),
			Observe: func(s Step) { last = s },
		})
		want := Step{
			Component: "a", State: StateStopped, StartedAt: begun, ReadyAt: begun.Add(2 * time.Second),
			StoppingAt: begun.Add(10 * time.Second), StoppedAt: begun.Add(13 * time.Second),
		}
		if err != nil || last != want {
			t.Errorf("%v\n got %+v\nwant %+v", err, last, want)
		}
	})
}

func TestBadLists(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		list []Component
		want string
	}{
		{[]Component{{Name: "a"}, {}}, "listing components: number 1 has no name"},
		{[]Component{{Name: "a"}, {Name: "a"}}, `listing components: two are named "a"`},
		{[]Component{{Name: "a", DependsOn: []string{"b"}}, {Name: "b"}}, `listing components: "a" depends on "b", which does not stand before it`},
		{[]Component{{Name: "a", DependsOn: []string{"a"}}}, `listing components: "a" depends on "a", which does not stand before it`},
	} {
		if err := Run(t.Context(), Options{Components: tc.list}); err == nil || err.Error() != tc.want {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
}

// TestNilFunctions runs components that have nothing to do.
func TestNilFunctions(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	err := Run(ctx, Options{
		Components: []Component{{Name: "a"}, {Name: "b"}}, Signals: make(chan os.Signal),
		Ready: func(context.Context) error { cancel(); return nil },
	})
	if err != nil {
		t.Error(err)
	}
}

// TestReadyPanics checks that a panic of Ready stops the process in order.
func TestReadyPanics(t *testing.T) {
	t.Parallel()
	stopped := false
	err := Run(t.Context(), Options{
		Components: []Component{{Name: "a", Stop: func(context.Context) error { stopped = true; return nil }}},
		Signals:    make(chan os.Signal),
		Ready:      func(context.Context) error { panic("oops") },
	})
	if err == nil || err.Error() != "panic: oops" || !stopped {
		t.Errorf("got %v; stopped: %v", err, stopped)
	}
}

// TestLog looks at what the user sees: at the usual level one line when it
// stops and one for each component that hangs; the stack of a panic is for
// debugging only.
func TestLog(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		level slog.Level
		stack bool
		want  []string
	}{
		{slog.LevelInfo, false, []string{
			`level=INFO msg=stopping because="running c: broken after 1s"`,
			`level=WARN msg="component does not stop, going on without it" name=a after=15s`,
		}},
		{slog.LevelDebug, true, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: tc.level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}}))
			err := Run(t.Context(), Options{
				Components: specs(t, "a stop=hang\nb stop=panic\nc fail=1s", nil), Signals: make(chan os.Signal), Logger: log,
			})
			if err == nil || strings.Contains(err.Error(), "goroutine ") {
				t.Errorf("got %v", err)
			}
			if strings.Contains(out.String(), "lifecycle.behave") != tc.stack {
				t.Errorf("stack in the log is not %v:\n%s", tc.stack, out.String())
			}
			if got := strings.TrimSpace(out.String()); tc.want != nil && got != strings.Join(tc.want, "\n") {
				t.Errorf("got\n%s", got)
			}
		})
	}
}
