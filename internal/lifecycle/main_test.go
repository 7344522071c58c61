package lifecycle

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kapi-dev/kapi/internal/fault"
)

// childEnv holds the components (a line each, see parseSpec) that this test
// binary runs instead of testing: real signals need a process of their own.
const childEnv = "KAPI_LIFECYCLE_CHILD"

func TestMain(m *testing.M) {
	if spec, ok := os.LookupEnv(childEnv); ok {
		os.Exit(child(spec))
	}
	os.Exit(m.Run())
}

// child runs with real signals and prints each step.
func child(spec string) int {
	var list []Component
	for line := range strings.Lines(spec) {
		c, err := parseSpec(strings.TrimSpace(line), nil)
		if err != nil {
			fmt.Println(err)
			return 99
		}
		list = append(list, c)
	}
	err := Run(context.Background(), Options{
		Components: list,
		Observe:    func(s Step) { fmt.Println(s.Component, s.State) },
		Status:     func() string { fmt.Println("all ready"); return "" }, // asked last
		PIDFile:    os.Getenv("PID_FILE"),
		ReadyFile:  os.Getenv("READY_FILE"),
	})
	if err != nil {
		fmt.Println("error:", err)
	}
	return fault.Code(err)
}

// TestRealSignals runs a process, sends it signals when it has come to a
// certain step, and looks at how it ends.
func TestRealSignals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		components string
		send       map[string]syscall.Signal // at this line of its output
		want       string
		code       int
	}{
		{
			name: "SIGTERM", components: "a\nb", send: map[string]syscall.Signal{"all ready": syscall.SIGTERM},
			want: "a starting, a ready, b starting, b ready, all ready, b stopping, b stopped, a stopping, a stopped",
		},
		{
			name: "SIGINT", components: "a", send: map[string]syscall.Signal{"all ready": syscall.SIGINT},
			want: "a starting, a ready, all ready, a stopping, a stopped",
		},
		{
			name: "SIGHUP", components: "a", send: map[string]syscall.Signal{"all ready": syscall.SIGHUP},
			want: "a starting, a ready, all ready, a stopping, a stopped",
		},
		{
			name: "second signal while a stop hangs", components: "a\nb stop=stuck timeout=1h",
			send: map[string]syscall.Signal{"all ready": syscall.SIGTERM, "b stopping": syscall.SIGINT},
			want: "a starting, a ready, b starting, b ready, all ready, b stopping", code: 1,
		},
		{
			name: "stop that hangs", components: "a\nb stop=stuck timeout=20ms", send: map[string]syscall.Signal{"all ready": syscall.SIGTERM},
			want: "a starting, a ready, b starting, b ready, all ready, b stopping, b hung, a stopping, a stopped, error: stopping b: not done after 20ms", code: 1,
		},
		{
			name: "SIGTERM while a start waits", components: "a\nb start=hang", send: map[string]syscall.Signal{"b starting": syscall.SIGTERM},
			want: "a starting, a ready, b starting, b stopped, a stopping, a stopped",
		},
		{
			name: "SIGTERM while a start hangs", components: "a\nb start=stuck timeout=20ms", send: map[string]syscall.Signal{"b starting": syscall.SIGTERM},
			want: "a starting, a ready, b starting, b hung, a stopping, a stopped, error: starting b: not done after 20ms", code: 1,
		},
		{
			name: "failed start", components: "a\nb start=error",
			want: "a starting, a ready, b starting, b failed, a stopping, a stopped, error: starting b: no start", code: 1,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := startChild(t, tc.components, "")
			var got []string
			for line := range p.lines {
				got = append(got, line)
				if sig := tc.send[line]; sig != 0 {
					p.signal(sig)
				}
			}
			if code := p.wait(); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			if s := strings.Join(got, ", "); s != tc.want {
				t.Errorf("\n got %s\nwant %s", s, tc.want)
			}
			p.noFiles()
		})
	}
}

// TestIgnoredHangup checks that a process under nohup doesn't hear SIGHUP: were
// it the first signal, the SIGTERM after it would be the second, and end it
// with code 1.
func TestIgnoredHangup(t *testing.T) {
	t.Parallel()
	p := startChild(t, "a", "trap '' HUP; ")
	var got []string
	for line := range p.lines {
		got = append(got, line)
		if line == "all ready" {
			p.signal(syscall.SIGHUP)
			p.signal(syscall.SIGTERM)
		}
	}
	want := "a starting, a ready, all ready, a stopping, a stopped"
	if code := p.wait(); code != 0 || strings.Join(got, ", ") != want {
		t.Errorf("exit code %d after %q", code, got)
	}
}

// TestKilledLeavesStaleFiles kills a process without mercy: the next one takes
// its pid-file over, and says that it is ready only when it is.
func TestKilledLeavesStaleFiles(t *testing.T) {
	t.Parallel()
	p := startChild(t, "a", "")
	for line := range p.lines {
		if line == "all ready" {
			p.files()
			p.signal(syscall.SIGKILL)
		}
	}
	p.wait()
	for _, file := range []string{p.pidFile, p.readyFile} {
		if _, err := os.Stat(file); err != nil {
			t.Fatalf("SIGKILL left no file behind: %v", err)
		}
	}
	err := Run(t.Context(), Options{
		PIDFile: p.pidFile, ReadyFile: p.readyFile, Signals: make(chan os.Signal),
		Components: []Component{{Name: "a", Start: func(context.Context) error {
			if _, err := os.Stat(p.readyFile); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the ready-file of the last run is there at start: %v", err)
			}
			if pid, err := readPID(kindPID, p.pidFile); pid != os.Getpid() {
				t.Errorf("pid-file holds %d, %v", pid, err)
			}
			return errors.New("enough")
		}}},
	})
	if err == nil || err.Error() != "starting a: enough" {
		t.Errorf("got %v", err)
	}
	p.noFiles()
}

// childProcess is a running child.
type childProcess struct {
	t                  *testing.T
	cmd                *exec.Cmd
	lines              <-chan string // of its output; closed at its end
	pidFile, readyFile string
}

func startChild(t *testing.T, components, shell string) *childProcess {
	t.Helper()
	dir := t.TempDir()
	p := &childProcess{t: t, pidFile: filepath.Join(dir, "pid"), readyFile: filepath.Join(dir, "ready")}
	p.cmd = exec.CommandContext(t.Context(), "sh", "-c", shell+`exec "$0"`, os.Args[0])
	p.cmd.Env = append(os.Environ(), childEnv+"="+components, "PID_FILE="+p.pidFile, "READY_FILE="+p.readyFile)
	p.cmd.WaitDelay = time.Minute
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	p.lines = lines
	return p
}

func (p *childProcess) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Errorf("sending %v: %v", sig, err)
	}
}

func (p *childProcess) wait() int {
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		p.t.Error(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// files checks that both files hold the pid of the process.
func (p *childProcess) files() {
	p.t.Helper()
	for _, path := range []string{p.pidFile, p.readyFile} {
		if pid, err := readPID("file", path); pid != p.cmd.Process.Pid {
			p.t.Errorf("%s holds %d, %v; want %d", path, pid, err, p.cmd.Process.Pid)
		}
	}
}

func (p *childProcess) noFiles() {
	p.t.Helper()
	left, err := os.ReadDir(filepath.Dir(p.pidFile))
	if err != nil || len(left) != 0 {
		p.t.Errorf("left behind: %v, %v", left, err)
	}
}
