package lifecycle

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// notifier speaks sd_notify(3) to the service manager. Its methods do nothing
// where there is none.
type notifier struct {
	socket string // a path, or @NAME in the abstract namespace; "": nobody is told
	log    *slog.Logger
	tick   *time.Ticker // nil: no watchdog, or not ready yet
}

// notifySocket is the variable with the address of the service manager.
const notifySocket = "NOTIFY_SOCKET"

// newNotifier takes the address out of the environment, so that nobody else in
// this process speaks to the manager: the API server library sends READY=1 as
// soon as it listens, before anything works, and then unsets the variable, so
// that whatever comes after it (STOPPING=1, the watchdog) would be lost.
// Source: k8s.io/apiserver/pkg/server/genericapiserver.go, NonBlockingRunWithContext.
func newNotifier(on bool, log *slog.Logger) *notifier {
	n := &notifier{log: log}
	if !on {
		return n
	}
	n.socket = os.Getenv(notifySocket)
	if err := os.Unsetenv(notifySocket); err != nil {
		log.Warn("taking the service manager's address out of the environment failed", "err", err)
	}
	return n
}

// send sends assignments. A service manager that can't be reached is no reason
// to end: it will act on its own.
func (n *notifier) send(lines ...string) {
	if n.socket == "" {
		return
	}
	if err := tell(n.socket, strings.Join(lines, "\n")); err != nil {
		n.log.Warn("telling the service manager failed", "err", err)
	}
}

// tell sends one datagram. The library's SdNotify would look for the address in
// the environment.
func tell(socket, message string) error {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	_, err = conn.Write([]byte(message))
	return errors.Join(err, conn.Close())
}

func statusLine(s string) string {
	return "STATUS=" + strings.ReplaceAll(s, "\n", " ")
}

func (n *notifier) status(s string) { n.send(statusLine(s)) }

// ready says that the service is up, and begins to serve the watchdog: the
// manager counts from here.
func (n *notifier) ready(status string) {
	if n.socket == "" {
		return
	}
	lines := []string{daemon.SdNotifyReady, fmt.Sprintf("MAINPID=%d", os.Getpid())}
	if status != "" {
		lines = append(lines, statusLine(status))
	}
	n.send(lines...)
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		n.log.Warn("reading the watchdog's interval failed", "err", err)
		return
	}
	if interval > 1 { // half of one nanosecond is no interval
		n.tick = time.NewTicker(interval / 2)
	}
}

func (n *notifier) stopping() { n.send(daemon.SdNotifyStopping, statusLine("stopping")) }

// watchdog ticks when the manager wants to hear that we are alive.
func (n *notifier) watchdog() <-chan time.Time {
	if n.tick == nil {
		return nil
	}
	return n.tick.C
}

func (n *notifier) alive() { n.send(daemon.SdNotifyWatchdog) }

func (n *notifier) close() {
	if n.tick != nil {
		n.tick.Stop()
	}
}
