package logging

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"k8s.io/klog/v2"

	"go.uber.org/zap"
)

// childEnv names what this test binary does instead of testing: what ends the
// process can be tried in a process of its own only.
const childEnv = "KAPI_LOGGING_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childEnv); mode != "" {
		child(mode)
		os.Exit(99) // the child was to end by itself
	}
	os.Exit(m.Run())
}

func child(mode string) {
	logs, err := New(Options{OnFatal: func(msg, file string) {
		os.Stdout.WriteString("OnFatal " + file + " " + msg + "\n")
		os.Exit(1)
	}})
	if mode == "default" {
		logs, err = New(Options{})
	}
	if err == nil {
		err = logs.KlogSink().Install()
	}
	if err != nil {
		panic(err)
	}
	switch mode {
	case "klog.Fatalf":
		klog.Fatalf("hook %q failed: %v", "rbac/bootstrap-roles", errors.New("no storage"))
	case "klog.Fatal from many goroutines":
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { klog.Fatal("no way on") })
		}
		wg.Wait()
	case "klog.Exitf":
		klog.Exitf("bad flag: %s", "--x")
	case "default":
		klog.Fatalln("the default")
	case "zap.Fatal":
		logs.Zap().Fatal("failed to open WAL", zap.Error(errors.New("crc mismatch")))
	case "zap.Panic as fatal":
		logs.Zap(zap.WithPanicHook(logs.FatalHook())).Panic("failed to open database")
	case "flood":
		for range 9 {
			klog.Warning("again")
		}
		klog.Fatal("and out")
	}
}

// TestFatal checks that a fatal message of a library ends the process with code
// 1, with the message said once and without a goroutine dump.
func TestFatal(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		mode, message string
		onFatal       string // its output, less the line number
	}{
		{"klog.Fatalf", `hook "rbac/bootstrap-roles" failed: no storage`, `OnFatal main_test.go:N hook "rbac/bootstrap-roles" failed: no storage`},
		{"klog.Fatal from many goroutines", "no way on", "OnFatal main_test.go:N no way on"},
		{"klog.Exitf", "bad flag: --x", "OnFatal main_test.go:N bad flag: --x"},
		{"zap.Fatal", "failed to open WAL", "OnFatal main_test.go:N failed to open WAL: crc mismatch"},
		{"zap.Panic as fatal", "failed to open database", "OnFatal main_test.go:N failed to open database"},
		{"default", "the default", ""},
		{"flood", "again … repeated 4 more times", "OnFatal main_test.go:N and out"},
	} {
		t.Run(tc.mode, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"="+tc.mode)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("ended with %v, want exit status 1", err)
			}
			if n := strings.Count(stderr.String(), tc.message); n != 1 {
				t.Errorf("message written %d times, want once:\n%s", n, stderr.String())
			}
			if strings.Contains(stdout.String()+stderr.String(), "goroutine ") {
				t.Errorf("goroutines dumped:\n%s", stderr.String())
			}
			if got := strings.TrimSpace(dropLineNumbers(stdout.String())); got != tc.onFatal {
				t.Errorf("OnFatal: got %q, want %q", got, tc.onFatal)
			}
		})
	}
}
