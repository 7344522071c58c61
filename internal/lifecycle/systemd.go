package lifecycle

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// notifier speaks sd_notify(3) to the service manager. Its methods do nothing
// where there is none.
type notifier struct {
	on   bool
	log  *slog.Logger
	tick *time.Ticker // nil: no watchdog, or not ready yet
}

func newNotifier(on bool, log *slog.Logger) *notifier {
	return &notifier{on: on && os.Getenv("NOTIFY_SOCKET") != "", log: log}
}

// send sends assignments. A service manager that can't be reached is no reason
// to end: it will act on its own.
func (n *notifier) send(lines ...string) {
	if !n.on {
		return
	}
	if _, err := daemon.SdNotify(false, strings.Join(lines, "\n")); err != nil {
		n.log.Warn("telling the service manager failed", "err", err)
	}
}

func statusLine(s string) string {
	return "STATUS=" + strings.ReplaceAll(s, "\n", " ")
}

func (n *notifier) status(s string) { n.send(statusLine(s)) }

// ready says that the service is up, and begins to serve the watchdog: the
// manager counts from here.
func (n *notifier) ready(status string) {
	if !n.on {
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
