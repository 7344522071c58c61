package logging

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/slogtest"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"k8s.io/klog/v2"

	"github.com/kapi-dev/kapi/internal/fault"
)

var lineNumber = regexp.MustCompile(`\.go:\d+`)

func dropLineNumbers(s string) string { return lineNumber.ReplaceAllString(s, ".go:N") }

// newLogs returns a log and the buffer that it writes to.
func newLogs(t *testing.T, opts Options) (*Logs, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	opts.Out = &out
	l, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return l, &out
}

// lines returns the written lines without the time.
func lines(t *testing.T, out *bytes.Buffer) []string {
	t.Helper()
	var got []string
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, textIndent) {
			if len(line) <= textTimeLen {
				t.Fatalf("line without a time: %q", line)
			}
			line = line[textTimeLen+1:]
		}
		got = append(got, dropLineNumbers(line))
	}
	return got
}

func TestNewRefusesUnknownFormat(t *testing.T) {
	t.Parallel()
	_, err := New(Options{Format: "logfmt"})
	if fault.Code(err) != fault.CodeUsage || !strings.Contains(err.Error(), `"logfmt"`) {
		t.Errorf("got %v, want a usage error that names the value", err)
	}
}

// TestVerbosity says one line at each level from each source and looks at which
// are shown.
func TestVerbosity(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		verbosity int
		want      string
	}{
		{0, "own:info own:warn own:error klog:W klog:E klogS:error zap:warn zap:error"},
		{1, "own:debug own:info own:warn own:error klog:I klog:W klog:E klogS:V0 klogS:V1 klogS:error zap:warn zap:error"},
		{2, "own:debug own:info own:warn own:error klog:I klog:W klog:E klogS:V0 klogS:V1 klogS:V2 klogS:error zap:info zap:warn zap:error"},
		{5, "own:debug own:info own:warn own:error klog:I klog:W klog:E klogS:V0 klogS:V1 klogS:V2 klogS:V5 klogS:error zap:debug zap:info zap:warn zap:error"},
	} {
		l, out := newLogs(t, Options{Verbosity: tc.verbosity, Format: FormatJSON})
		for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
			l.Logger().Log(t.Context(), level, "own:"+strings.ToLower(level.String()))
		}
		sink := l.KlogSink()
		for _, severity := range "IWE" {
			sink.Write([]byte(string(severity) + "0102 15:04:05.000000    1234 a.go:12] klog:" + string(severity) + "\n"))
		}
		for _, v := range []int{0, 1, 2, 5} {
			sink.Logger.V(v).Info("klogS:V" + string(rune('0'+v)))
		}
		sink.Logger.Error(nil, "klogS:error")
		z := l.Zap()
		z.Debug("zap:debug")
		z.Info("zap:info")
		z.Warn("zap:warn")
		z.Error("zap:error")

		var got []string
		for line := range strings.Lines(out.String()) {
			var obj struct{ Msg string }
			if err := json.Unmarshal([]byte(line), &obj); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			got = append(got, obj.Msg)
		}
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("-v %d:\n got %s\nwant %s", tc.verbosity, s, tc.want)
		}
	}
}

// TestSetVerbosity changes -v on loggers that exist already.
func TestSetVerbosity(t *testing.T) {
	t.Parallel()
	l, out := newLogs(t, Options{})
	logger := l.Logger().With("a", 1)
	logger.Debug("hidden")
	l.SetVerbosity(1)
	logger.Debug("shown")
	if got := strings.Join(lines(t, out), "\n"); got != "DEBUG kapi      shown a=1" || l.Verbosity() != 1 {
		t.Errorf("got %q at -v %d", got, l.Verbosity())
	}
}

func TestJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the time in it is 2000-01-01
		for _, tc := range []struct {
			log  func(*Logs)
			want string
		}{
			{func(l *Logs) { l.Logger().With("component", "pki").Warn("<renewed>", "n", 1, "f", 1.5, "ok", true) },
				`{"time":"2000-01-01T00:00:00.000000Z","level":"warn","component":"pki","msg":"<renewed>","caller":"logs_test.go:N","n":1,"f":1.5,"ok":true}`},
			{func(l *Logs) {
				l.Logger().Error("x", "err", errors.New("a \"b\""), "d", time.Second, "level", 3, "o", secretObject{"me", "hunter2"})
			},
				`{"time":"2000-01-01T00:00:00.000000Z","level":"error","component":"kapi","msg":"x","caller":"logs_test.go:N","err":"a \"b\"","d":"1s","level_":3,"o":{"User":"me","Password":"REDACTED"}}`},
			{func(l *Logs) { l.KlogSink().Logger.WithName("gc").V(2).Info("x", "pod", klog.KRef("ns", "name")) },
				`{"time":"2000-01-01T00:00:00.000000Z","level":"info","component":"kube","msg":"x","v":2,"caller":"logs_test.go:N","logger":"gc","pod":{"name":"name","namespace":"ns"}}`},
			{func(l *Logs) {
				l.KlogSink().Write([]byte("E0102 15:04:05.000000    1234 file.go:12] one\ntwo\n"))
			},
				`{"time":"2000-01-01T00:00:00.000000Z","level":"error","component":"kube","msg":"one\ntwo","caller":"file.go:N"}`},
			{func(l *Logs) { l.Zap().Named("raft").Info("x", zap.String("component", "y")) },
				`{"time":"2000-01-01T00:00:00.000000Z","level":"info","component":"etcd","msg":"x","caller":"logs_test.go:N","logger":"raft","component_":"y"}`},
		} {
			l, out := newLogs(t, Options{Format: FormatJSON, Verbosity: 2})
			tc.log(l)
			if got := dropLineNumbers(out.String()); got != tc.want+"\n" {
				t.Errorf("\n got %s\nwant %s", got, tc.want)
			}
		}
	})
}

// TestSlogContract runs the standard library's checks of a slog.Handler.
func TestSlogContract(t *testing.T) {
	t.Parallel()
	l, out := newLogs(t, Options{Format: FormatJSON})
	err := slogtest.TestHandler(l.Logger().Handler(), func() []map[string]any {
		var all []map[string]any
		for line := range strings.Lines(out.String()) {
			var flat map[string]any
			if err := json.Unmarshal([]byte(line), &flat); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			all = append(all, unflatten(flat))
		}
		return all
	})
	if err != nil {
		t.Error(err)
	}
}

// unflatten turns {"a.b": 1} into {"a": {"b": 1}}.
func unflatten(flat map[string]any) map[string]any {
	tree := map[string]any{}
	for key, val := range flat {
		node := tree
		path := strings.Split(key, ".")
		for _, group := range path[:len(path)-1] {
			if _, ok := node[group]; !ok {
				node[group] = map[string]any{}
			}
			node = node[group].(map[string]any)
		}
		node[path[len(path)-1]] = val
	}
	return tree
}

// TestDisabledCostsNothing checks that a line that isn't shown isn't built.
func TestDisabledCostsNothing(t *testing.T) {
	l, err := New(Options{Out: failingWriter{t}})
	if err != nil {
		t.Fatal(err)
	}
	logger, klogger, zapper := l.Logger(), l.KlogSink().Logger, l.Zap()
	panics := slog.Any("x", logValuerThatPanics{})
	for name, call := range map[string]func(){
		"slog": func() { logger.LogAttrs(context.Background(), slog.LevelDebug, "x", panics) },
		"logr": func() { klogger.V(1).Info("x") },
		"zap":  func() { zapper.Info("x") },
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s: %v allocations for a disabled line", name, n)
		}
	}
}

type logValuerThatPanics struct{}

func (logValuerThatPanics) LogValue() slog.Value { panic("resolved although disabled") }

type failingWriter struct{ t *testing.T }

func (w failingWriter) Write(p []byte) (int, error) {
	w.t.Errorf("written: %s", p)
	return len(p), nil
}

func TestDemotion(t *testing.T) {
	t.Parallel()
	rows := []Demotion{{ComponentEtcd, "simple token is not", "no token is used"}}
	say := func(l *Logs) {
		l.Zap().Warn("simple token is not cryptographically signed")
		l.Zap().Warn("disk slow")
		l.KlogSink().Logger.Error(nil, "simple token is not ours")
	}
	for _, tc := range []struct {
		verbosity int
		want      []string
	}{
		{0, []string{"WARN  etcd      disk slow", "ERROR kube      simple token is not ours"}},
		{2, []string{"INFO  etcd      simple token is not cryptographically signed caller=logs_test.go:N",
			"WARN  etcd      disk slow caller=logs_test.go:N", "ERROR kube      simple token is not ours caller=logs_test.go:N"}},
	} {
		l, out := newLogs(t, Options{Demote: rows, Verbosity: tc.verbosity})
		say(l)
		if got := lines(t, out); strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
			t.Errorf("-v %d: got %q, want %q", tc.verbosity, got, tc.want)
		}
	}
	if got := demoted(rows, ComponentEtcd, "simple token is not", LevelFatal); got != LevelFatal {
		t.Errorf("a fatal line was demoted to %v", got)
	}
}

// TestReentrantLogging logs a value that logs while it is formatted: that must
// not wait for the lock of the line around it.
func TestReentrantLogging(t *testing.T) {
	t.Parallel()
	l, out := newLogs(t, Options{})
	l.Logger().Info("outer", "v", stringerThatLogs{l.Logger()})
	want := "INFO  kapi      inner\nINFO  kapi      outer v=v"
	if got := strings.Join(lines(t, out), "\n"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type stringerThatLogs struct{ l *slog.Logger }

func (s stringerThatLogs) String() string { s.l.Info("inner"); return "v" }

// TestLoggersKeepApart checks that loggers made from one don't share the memory
// of their attributes.
func TestLoggersKeepApart(t *testing.T) {
	t.Parallel()
	l, out := newLogs(t, Options{})
	base := l.Logger().With("a", 1, "b", 2, "c", 3)
	one, two := base.With("d", 4), base.With("e", 5)
	one.Info("one")
	two.Info("two")
	base.Info("base", "f", 6)
	one.Info("one")
	want := []string{
		"INFO  kapi      one a=1 b=2 c=3 d=4", "INFO  kapi      two a=1 b=2 c=3 e=5",
		"INFO  kapi      base a=1 b=2 c=3 f=6", "INFO  kapi      one a=1 b=2 c=3 d=4",
	}
	if got := lines(t, out); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}
}

// TestConcurrent is for the race detector, and checks that lines stay whole.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	l, out := newLogs(t, Options{Verbosity: 5})
	done := make(chan struct{})
	speakers := []func(){
		func() { l.Logger().Info("own", "a", 1) },
		func() { l.Zap().Warn("etcd", zap.Int("a", 1)) },
		func() { l.KlogSink().Logger.Info("kube", "a", 1) },
		func() { l.KlogSink().Write([]byte("W0102 15:04:05.000000    1234 a.go:1] klog\n")) },
		func() { l.SetVerbosity(5); l.Flush() },
	}
	for _, speak := range speakers {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 50 {
				speak()
			}
		}()
	}
	for range speakers {
		<-done
	}
	l.Flush()
	whole := regexp.MustCompile(`^(INFO |WARN ) (kapi|etcd|kube)  +(own a=1|etcd a=1|kube a=1|klog) caller=\w+\.go:N( … repeated \d+ more times)?$`)
	for _, line := range lines(t, out) {
		if !whole.MatchString(line) {
			t.Errorf("broken line %q", line)
		}
	}
}

func BenchmarkText(b *testing.B) {
	l, err := New(Options{Out: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l.Logger().Info("request served", "verb", "GET", "path", "/api/v1/namespaces", "took", time.Millisecond)
	}
}
