package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/go-systemd/v22/daemon"
)

// listen returns what arrives at a service manager's socket, a message a value.
func listen(t *testing.T, name string) <-chan string {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	messages := make(chan string, 1000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			messages <- string(buf[:n])
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return messages
}

func shortPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kapi")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "notify")
}

// TestSystemd listens on real sockets. The environment is the process's: no
// parallel tests here.
func TestSystemd(t *testing.T) {
	sockets := map[string]string{"path": shortPath(t)}
	if runtime.GOOS == "linux" {
		sockets["abstract"] = "@" + shortPath(t)
	}
	for kind, socket := range sockets {
		t.Run(kind, func(t *testing.T) {
			messages := listen(t, socket)
			t.Setenv("NOTIFY_SOCKET", socket)
			t.Setenv("WATCHDOG_USEC", "")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := Run(ctx, Options{
				Systemd: true, Signals: make(chan os.Signal),
				Components: []Component{{Name: "etcd"}, {Name: "server", Start: func(context.Context) error {
					// What the API server library does once it listens.
					_, err := daemon.SdNotify(true, daemon.SdNotifyReady)
					return err
				}}},
				Status: func() string { cancel(); return "serving on\nhttps://127.0.0.1:6443" },
			})
			if err != nil {
				t.Error(err)
			}
			want := []string{
				"STATUS=starting etcd",
				"STATUS=starting server",
				fmt.Sprintf("READY=1\nMAINPID=%d\nSTATUS=serving on https://127.0.0.1:6443", os.Getpid()),
				"STOPPING=1\nSTATUS=stopping",
			}
			for _, w := range want {
				if got := <-messages; got != w {
					t.Errorf("got %q, want %q", got, w)
				}
			}
			if len(messages) != 0 {
				t.Errorf("more came: %q", <-messages)
			}
			if socket, ok := os.LookupEnv("NOTIFY_SOCKET"); ok {
				t.Errorf("the manager's address %q is left in the environment, for others to speak to", socket)
			}
		})
	}
}

// TestWatchdog runs until the watchdog has been served: while ready, and while
// a stop takes its time.
func TestWatchdog(t *testing.T) {
	socket := shortPath(t)
	messages := listen(t, socket)
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "2000")
	t.Setenv("WATCHDOG_PID", fmt.Sprint(os.Getpid()))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{Systemd: true, Signals: make(chan os.Signal), Components: []Component{{
			Name: "a",
			Stop: func(context.Context) error { <-stop; return nil },
		}}})
	}()
	var got []string
	until := func(what string) {
		for {
			m := <-messages
			got = append(got, m)
			if m == what {
				return
			}
		}
	}
	until("WATCHDOG=1")
	until("WATCHDOG=1")
	cancel()
	until("STOPPING=1\nSTATUS=stopping")
	until("WATCHDOG=1")
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
	first := slices.Index(got, "WATCHDOG=1")
	if ready := slices.IndexFunc(got, func(m string) bool { return strings.HasPrefix(m, "READY=1") }); ready < 0 || ready > first {
		t.Errorf("got %q", got)
	}
}

// TestNoServiceManager checks that one that is not there, or not asked for, or
// asks for nonsense, does no harm.
func TestNoServiceManager(t *testing.T) {
	socket := shortPath(t)
	messages := listen(t, socket)
	for _, tc := range []struct {
		name, socket, usec, pid string
		on                      bool
		want                    string // part of the log
	}{
		{"not set", "", "", "", true, ""},
		{"not asked for", socket, "2000", "", false, ""},
		{"not there", socket + "x", "", "", true, "telling the service manager failed"},
		{"watchdog of another", socket, "2000", "1", true, ""},
		{"bad interval", socket, "soon", "", true, "reading the watchdog's interval failed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("NOTIFY_SOCKET", tc.socket)
			t.Setenv("WATCHDOG_USEC", tc.usec)
			t.Setenv("WATCHDOG_PID", tc.pid)
			var out bytes.Buffer
			n := newNotifier(tc.on, slog.New(slog.NewTextHandler(&out, nil)))
			n.ready("ok")
			if n.watchdog() != nil {
				t.Error("there is a watchdog")
			}
			err := Run(t.Context(), Options{
				Systemd: tc.on, Signals: make(chan os.Signal), Logger: slog.New(slog.NewTextHandler(&out, nil)),
				Ready: func(context.Context) error { return errors.New("enough") },
			})
			if err == nil || err.Error() != "enough" {
				t.Errorf("got %v", err)
			}
			if tc.want == "" && strings.Contains(out.String(), "level=WARN") || !strings.Contains(out.String(), tc.want) {
				t.Errorf("logged %s", out.String())
			}
			if !tc.on && len(messages) != 0 {
				t.Errorf("sent %q", <-messages)
			}
		})
	}
}
