package lifecycle

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kapi-dev/kapi/internal/fault"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	for _, tc := range scenarios {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { tc.run(t) })
		})
	}
}

func (tc scenario) run(t *testing.T) {
	begun := time.Now()
	var got []string
	note := func(format string, args ...any) {
		got = append(got, fmt.Sprint(time.Since(begun), " ", fmt.Sprintf(format, args...)))
	}
	release := make(chan struct{})
	signals := make(chan os.Signal)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	released := tc.play(t, map[string]func(){
		"SIGTERM": func() { signals <- syscall.SIGTERM },
		"SIGINT":  func() { signals <- os.Interrupt },
		"close":   func() { close(signals) },
		"cancel":  cancel,
		"release": func() { close(release) },
	})
	if !released {
		defer close(release)
	}
	err := Run(ctx, Options{
		Components: specs(t, tc.components, release), Signals: signals, StopTimeout: tc.timeout,
		Ready: func(context.Context) error { note("READY"); return tc.ready },
		Exit:  func(code int) { note("EXIT %d", code) },
		Observe: func(s Step) {
			if s.Err != nil {
				note("%s %s: %v", s.Component, s.State, s.Err)
			} else {
				note("%s %s", s.Component, s.State)
			}
		},
	})
	var want []string
	for line := range strings.Lines(tc.want) {
		if line = strings.TrimSpace(line); line != "" {
			want = append(want, line)
		}
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if text := errorText(err); text != tc.err {
		t.Errorf("error:\n got %s\nwant %s", text, tc.err)
	}
}

// play does what the events say at their times. It reports whether one of them
// releases what is stuck.
func (tc scenario) play(t *testing.T, actions map[string]func()) (releases bool) {
	for line := range strings.Lines(tc.events) {
		at, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		d, err := time.ParseDuration(at)
		if err != nil || actions[what] == nil {
			t.Fatalf("event %q: %v", line, err)
		}
		releases = releases || what == "release"
		if strings.HasPrefix(what, "SIG") {
			// Some scenarios end before their last signal.
			ctx := t.Context()
			send := actions[what]
			time.AfterFunc(d, func() {
				done := make(chan struct{})
				go func() { defer close(done); send() }()
				select {
				case <-done:
				case <-ctx.Done():
				}
			})
			continue
		}
		time.AfterFunc(d, actions[what])
	}
	return releases
}

func specs(t *testing.T, text string, release <-chan struct{}) []Component {
	t.Helper()
	var list []Component
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		c, err := parseSpec(line, release)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// errorText returns an error in one line, with its hint.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if hint := fault.Hint(err); hint != "" {
		text += " (" + hint + ")"
	}
	return text
}
