package logging

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

func TestParseKlogHeader(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line  string
		level slog.Level
		file  string
		rest  string
	}{
		{"I0102 15:04:05.000000    1234 file.go:12] msg\n", slog.LevelInfo, "file.go:12", "msg\n"},
		{"W0102 15:04:05.000000 1234567 file.go:12] [a] b\n", slog.LevelWarn, "file.go:12", "[a] b\n"},
		{"E0102 15:04:05.000000 4194304 my file.go:1] x", slog.LevelError, "my file.go:1", "x"},
		{"F0102 15:04:05.000000       1 ???:1] \n", LevelFatal, "???:1", "\n"},
		{"X0102 15:04:05.000000    1234 file.go:12] msg", slog.LevelWarn, "", "X0102 15:04:05.000000    1234 file.go:12] msg"},
		{"E0102 15:04:05.000000    1234 file.go:12", slog.LevelWarn, "", "E0102 15:04:05.000000    1234 file.go:12"},
		{"E0102 15:04:05.000000    file.go:12] x", slog.LevelWarn, "", "E0102 15:04:05.000000    file.go:12] x"},
		{"no header", slog.LevelWarn, "", "no header"},
		{"", slog.LevelWarn, "", ""},
	} {
		h := parseKlogHeader([]byte(tc.line))
		if h.level != tc.level || h.file != tc.file || string(h.rest) != tc.rest {
			t.Errorf("%q: got %v %q %q", tc.line, h.level, h.file, h.rest)
		}
	}
}

// installKlog makes a log the sink of this process's klog until the test ends.
// Tests that use it are not parallel.
func installKlog(t *testing.T, opts Options) func() []string {
	t.Helper()
	state := klog.CaptureState()
	t.Cleanup(state.Restore)
	l, out := newLogs(t, opts)
	if err := l.KlogSink().Install(); err != nil {
		t.Fatal(err)
	}
	return func() []string { return lines(t, out) }
}

// TestKlog goes through klog itself, in all the ways the server packages do.
func TestKlog(t *testing.T) {
	say := func() {
		klog.Infof("info %d", 1)
		klog.V(2).Infof("info of V(2)")
		klog.V(3).Infof("info of V(3)")
		klog.Warningf("warning %d", 2)
		klog.Errorln("error", 3)
		klog.InfoS("infoS", "pod", klog.KRef("ns", "name"))
		klog.V(2).InfoS("infoS of V(2)", "a", 1)
		klog.V(3).InfoS("infoS of V(3)", "a", 1)
		klog.ErrorS(errors.New("no"), "errorS", "token", "abc")
		ctx := klog.NewContext(t.Context(), klog.LoggerWithValues(klog.FromContext(t.Context()), "ctl", "gc"))
		klog.FromContext(ctx).Info("contextual")
		klog.FromContext(ctx).V(2).Info("contextual of V(2)")
		klog.FromContext(ctx).V(3).Info("contextual of V(3)")
		klog.FromContext(ctx).Error(nil, "contextual error")
		utilruntime.HandleError(errors.New("unhandled"))
	}
	for _, tc := range []struct {
		verbosity int
		want      []string
	}{
		{0, []string{
			"WARN  kube      warning 2",
			"ERROR kube      error 3",
			`ERROR kube      errorS err=no token=REDACTED`,
			"ERROR kube      contextual error ctl=gc",
			`ERROR kube      Unhandled Error logger=UnhandledError err=unhandled`,
		}},
		{2, []string{
			"INFO  kube      info 1 caller=klog_test.go:N",
			"INFO  kube      info of V(2) caller=klog_test.go:N",
			"WARN  kube      warning 2 caller=klog_test.go:N",
			"ERROR kube      error 3 caller=klog_test.go:N",
			"INFO  kube      infoS pod=ns/name caller=klog_test.go:N",
			"INFO  kube      infoS of V(2) a=1 caller=klog_test.go:N",
			"ERROR kube      errorS err=no token=REDACTED caller=klog_test.go:N",
			"INFO  kube      contextual ctl=gc caller=klog_test.go:N",
			"INFO  kube      contextual of V(2) ctl=gc caller=klog_test.go:N",
			"ERROR kube      contextual error ctl=gc caller=klog_test.go:N",
			"ERROR kube      Unhandled Error logger=UnhandledError err=unhandled caller=klog_test.go:N",
		}},
	} {
		t.Run(fmt.Sprint("v=", tc.verbosity), func(t *testing.T) {
			got := installKlog(t, Options{Verbosity: tc.verbosity})
			say()
			if g, w := strings.Join(got(), "\n"), strings.Join(tc.want, "\n"); g != w {
				t.Errorf("\n got %s\nwant %s", g, w)
			}
		})
	}
}

// TestHandledPanic lets apimachinery recover panics: quietly they are one line
// with the place, and at -v 2 the stack follows.
func TestHandledPanic(t *testing.T) {
	crash := func() {
		defer func() { _ = recover() }() // HandleCrash panics on
		defer utilruntime.HandleCrash()
		var m map[string]int
		m["x"] = 1 //nolint:govet,staticcheck // it is meant to panic
	}
	t.Run("quiet", func(t *testing.T) {
		got := installKlog(t, Options{})
		crash()
		want := `ERROR kube      Observed a panic panic="assignment to entry in nil map" at="github.com/kapi-dev/kapi/internal/logging.TestHandledPanic.func1 (klog_test.go:N)"`
		if g := strings.Join(got(), "\n"); g != want {
			t.Errorf("\n got %s\nwant %s", g, want)
		}
	})
	t.Run("-v 2", func(t *testing.T) {
		got := installKlog(t, Options{Verbosity: 2})
		crash()
		g := got()
		if len(g) < 5 || !strings.HasPrefix(g[0], `ERROR kube      Observed a panic panic="assignment to entry in nil map" panicGoValue=`) ||
			!strings.HasPrefix(g[1], textIndent+"goroutine ") || strings.Contains(g[0], "stacktrace") {
			t.Errorf("got %s", strings.Join(g, "\n"))
		}
	})
}

// TestPanicTexts checks the other forms in which a stack comes: at the end of a
// message, and inside the panic value (as apiserver's timeout filter has it).
func TestPanicTexts(t *testing.T) {
	t.Parallel()
	stack := func() (s string) {
		defer func() {
			_ = recover()
			buf := make([]byte, 1<<16)
			s = string(buf[:runtime.Stack(buf, false)])
		}()
		var p *os.File
		_ = p.Name()
		return ""
	}()
	at := ` at="os.(*File).Name (file.go:N)"`
	for _, tc := range []struct{ severity, text, want string }{
		{"E", "apiserver panic'd on GET /x\n" + stack, "ERROR kube      apiserver panic'd on GET /x" + at},
		{"W", "first\nsecond\n" + stack, "WARN  kube      first" + at + "\n    second"},
		{"E", "goroutine 7 is stuck", "ERROR kube      goroutine 7 is stuck"},
	} {
		l, out := newLogs(t, Options{})
		l.KlogSink().Write([]byte(tc.severity + "0102 15:04:05.000000    1234 a.go:1] " + tc.text + "\n"))
		if got := strings.Join(lines(t, out), "\n"); got != tc.want {
			t.Errorf("\n got %s\nwant %s", got, tc.want)
		}
	}
	l, out := newLogs(t, Options{})
	l.Logger().Error("Observed a panic", "panic", "boom\n"+stack, "stacktrace", "goroutine 1 [running]:\nmain.other()\n\t/x.go:1")
	if got, want := strings.Join(lines(t, out), "\n"), "ERROR kapi      Observed a panic panic=boom"+at; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
