package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func shell(t *testing.T, script string) *process {
	t.Helper()
	p, err := startProcess("shell", "/bin/sh", []string{"-c", script}, []string{"BENCH_WORD=hello"}, filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

func TestProcessThatEndsShowsItsLog(t *testing.T) {
	t.Parallel()
	p := shell(t, `for i in $(seq 30); do echo "line $i."; done; echo "$BENCH_WORD" >&2; exit 3`)
	<-p.done
	err := p.exited()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"exit status 3", "line 12.", "line 30.", "hello"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "line 11.") {
		t.Errorf("error has more than the last %d lines:\n%v", logTail, err)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	p := shell(t, "exec sleep 1000")
	if err := p.exited(); err != nil {
		t.Fatalf("a running process: %v", err)
	}
	if err := p.stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.exited() == nil {
		t.Error("the process is still there")
	}
}

func TestStopKillsAtTheDeadline(t *testing.T) {
	t.Parallel()
	// A shell that ignores SIGTERM, and says so once it does.
	p := shell(t, `trap "" TERM; echo ready; while :; do sleep 0.1; done`)
	for {
		if data, _ := os.ReadFile(p.log); strings.Contains(string(data), "ready") {
			break
		}
		if err := p.exited(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	late := errors.New("too late")
	cancel(late)
	if err := p.stop(ctx); !errors.Is(err, late) {
		t.Errorf("stop = %v, want %v", err, late)
	}
	if p.exited() == nil {
		t.Error("the process is still there")
	}
}

func TestCloseEndsEverythingAndRemovesTheDirectory(t *testing.T) {
	t.Parallel()
	l, err := newLab(&options{A: sideSpec{Kind: "peer"}, B: sideSpec{Kind: "peer"}, WorkDir: t.TempDir()}, binaries{})
	if err != nil {
		t.Fatal(err)
	}
	if l.sides[0].Label == l.sides[1].Label {
		t.Errorf("both sides are called %s", l.sides[0].Label)
	}
	var procs []*process
	for range 3 {
		p, err := l.startProcess(l.sides[0], "sleep", "/bin/sleep", []string{"1000"})
		if err != nil {
			t.Fatal(err)
		}
		procs = append(procs, p)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range procs {
		if p.exited() == nil {
			t.Errorf("process %d is still there", p.pid())
		}
	}
	if _, err := os.Stat(l.dir); !os.IsNotExist(err) {
		t.Errorf("the work directory is still there: %v", err)
	}
}

func TestProcFiles(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc on this system")
	}
	t.Parallel()
	rss, err := processMemory(os.Getpid(), "VmRSS")
	if err != nil || rss < 1e6 {
		t.Errorf("VmRSS of the test = %v, %v", rss, err)
	}
	peak, err := processMemory(os.Getpid(), "VmHWM")
	if err != nil || peak < 1e6 {
		t.Errorf("VmHWM of the test = %v, %v", peak, err)
	}
	if _, err := processCPU(os.Getpid()); err != nil {
		t.Error(err)
	}
	if m := describeMachine(t.TempDir()); m.CPUs < 1 || m.MemoryMB <= 0 || m.Kernel == "" || m.Filesystem == "" {
		t.Errorf("machine = %+v", m)
	}
}

func TestCPUTime(t *testing.T) {
	// utime 150 and stime 50 ticks; the command holds spaces and parentheses.
	got, err := cpuTime("42 (a) b (c)) S 1 42 42 0 -1 4194560 100 0 0 0 150 50 7 7 20 0 9 0 100 1000 10")
	if err != nil || got != 2*time.Second {
		t.Errorf("cpuTime = %v, %v; want 2s", got, err)
	}
	if _, err := cpuTime("42 (a) S 1"); err == nil {
		t.Error("a short line was accepted")
	}
}

func TestFilesystemOf(t *testing.T) {
	mounts := "1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:5 / /tmp rw shared:1 - tmpfs tmpfs rw\n3 1 0:6 / /tmpfoo rw - xfs /dev/b rw\n"
	for dir, want := range map[string]string{"/tmp/x": "tmpfs", "/tmp": "tmpfs", "/var": "ext4", "/tmpfoo/y": "xfs"} {
		if got := filesystemOf(mounts, dir); got != want {
			t.Errorf("filesystemOf(%s) = %q, want %q", dir, got, want)
		}
	}
}
