package logging

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"
)

// valueWithBadString is what logs meet: a type whose String fails on nil.
type valueWithBadString struct{ name string }

func (v *valueWithBadString) String() string { return v.name }

type secretObject struct {
	User, Password string
}

type redactsItself struct{}

func (redactsItself) LogValue() slog.Value { return slog.StringValue("hidden") }
func (redactsItself) String() string       { return "in clear" }

func TestText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tc := range []struct {
		name string
		log  func(*slog.Logger)
		want string
	}{
		{"plain", func(l *slog.Logger) { l.Info("ready", "took", 1500*time.Millisecond, "n", 3, "ok", true, "at", at) },
			"INFO  kapi      ready took=1.5s n=3 ok=true at=2026-01-02T03:04:05Z"},
		{"component", func(l *slog.Logger) { l.With("component", "pki").Warn("renewed") }, "WARN  pki       renewed"},
		{"component of the call", func(l *slog.Logger) { l.Warn("renewed", "component", "pki", "n", 1) }, "WARN  pki       renewed n=1"},
		{"long component", func(l *slog.Logger) { l.With("component", "handlerchain").Warn("x") }, "WARN  handlerchain x"},
		{"quoted", func(l *slog.Logger) { l.Error("x", "a", "two words", "b", "", "c", "k=v", "d", `"`, "e", "a\nb") },
			`ERROR kapi      x a="two words" b="" c="k=v" d="\"" e="a\nb"`},
		{"error", func(l *slog.Logger) { l.Error("x", "err", errors.New("no way")) }, `ERROR kapi      x err="no way"`},
		{"groups", func(l *slog.Logger) {
			l.WithGroup("g").With("a", 1).Info("x", slog.Group("h", "b", 2), slog.Group("", "c", 3))
		}, "INFO  kapi      x g.a=1 g.h.b=2 g.c=3"},
		{"component within a group", func(l *slog.Logger) { l.WithGroup("g").Info("x", "component", "y") }, "INFO  kapi      x g.component=y"},
		{"lines", func(l *slog.Logger) { l.Info("one\n\ttwo\nthree\n", "a", 1) },
			"INFO  kapi      one a=1\n    \ttwo\n    three"},
		{"control characters", func(l *slog.Logger) { l.Info("a\x1b[31mred\r\u009b\u202e\xff", "b\n", "\x1b[0m") },
			`INFO  kapi      a\x1b[31mred\r\u009b\u202e\xff b\n="\x1b[0m"`},
		{"object", func(l *slog.Logger) { l.Info("x", "pod", klog.KRef("ns", "name"), "secret", klog.KRef("", "name")) },
			"INFO  kapi      x pod=ns/name secret=name"},
		{"struct", func(l *slog.Logger) { l.Info("x", "o", secretObject{"me", "hunter2"}) },
			`INFO  kapi      x o="{\"User\":\"me\",\"Password\":\"REDACTED\"}"`},
		{"nil pointer with String", func(l *slog.Logger) { l.Info("x", "v", (*valueWithBadString)(nil)) },
			`INFO  kapi      x v="!PANIC(*logging.valueWithBadString): runtime error: invalid memory address or nil pointer dereference"`},
		{"LogValuer comes before Stringer", func(l *slog.Logger) { l.Info("x", "v", redactsItself{}) }, "INFO  kapi      x v=hidden"},
		{"not JSON", func(l *slog.Logger) { l.Info("x", "f", struct{ C chan int }{}) }, "INFO  kapi      x f={C:<nil>}"},
		{"nil", func(l *slog.Logger) { l.Info("x", "f", nil, "", nil) }, "INFO  kapi      x f=<nil>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l, out := newLogs(t, Options{})
			tc.log(l.Logger())
			if got := strings.Join(lines(t, out), "\n"); got != tc.want {
				t.Errorf("\n got %s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestTextWhole looks at whole lines, with the time and the colours.
func TestTextWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, out := newLogs(t, Options{Color: true})
		want := time.Now().Format("15:04:05.000") +
			" \x1b[33mWARN \x1b[0m \x1b[36mpki      \x1b[0m renewed \x1b[2ma=\x1b[0m1\n"
		l.Logger().Warn("renewed", "component", "pki", "a", 1)
		if out.String() != want {
			t.Errorf("\n got %q\nwant %q", out, want)
		}
	})
}
