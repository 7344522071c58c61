package logging

import (
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/kapi-dev/kapi/internal/fault"
)

// Formats of the log.
const (
	// FormatText is for a person at a terminal.
	FormatText = "text"
	// FormatJSON is for machines: one object a line.
	FormatJSON = "json"
)

// Components that name where a line comes from. Our own packages use their
// package name; see KeyComponent.
const (
	// ComponentKapi is the component of our own lines that name none.
	ComponentKapi = "kapi"
	// ComponentKube is the component of everything that goes through klog.
	ComponentKube = "kube"
	// ComponentEtcd is the component of everything that goes through zap.
	ComponentEtcd = "etcd"
)

// KeyComponent is the attribute that names the component of a line:
// logger.With(logging.KeyComponent, "pki"). It has a column of its own.
const KeyComponent = "component"

// Options say how to log. The zero value with an Out is a quiet text log.
type Options struct {
	// Format is FormatText (the default) or FormatJSON.
	Format string
	// Verbosity is the N of -v N; 0 is quiet. The package comment has the table.
	Verbosity int
	// Out gets each record in one Write; never two at a time. Nil: os.Stderr.
	Out io.Writer
	// Color turns on ANSI colours in the text format.
	Color bool
	// Demote lists warnings that say nothing at a normal start. Nil: KnownNoise().
	Demote []Demotion
	// OnFatal is called after a fatal message of klog or zap has been written,
	// with the message and its source ("hooks.go:203", or ""). It must end the
	// process; nil is os.Exit(1). It must not log through klog: klog's lock is
	// held while it runs, so that would wait for ever. If it returns, klog goes
	// on to exit with 255, and zap's caller runs on after its Fatal.
	OnFatal func(msg, file string)
	// Now is the clock of the flood window and of lines without a time of
	// their own. Nil: time.Now.
	Now func() time.Time
}

// Logs is the one log of the process: loggers of three kinds that write to one
// place. All methods are safe for concurrent use.
type Logs struct {
	core   *core
	logger *slog.Logger
	fatal  func(msg, file string)
}

// New returns the log that opts describe. It writes nothing and touches no
// process-wide state. A Format that doesn't exist is a usage error.
func New(opts Options) (*Logs, error) {
	if opts.Format == "" {
		opts.Format = FormatText
	}
	if opts.Format != FormatText && opts.Format != FormatJSON {
		return nil, fault.Usagef("log format %q does not exist: use %s or %s", opts.Format, FormatText, FormatJSON)
	}
	if opts.Out == nil {
		opts.Out = os.Stderr
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Demote == nil {
		opts.Demote = KnownNoise()
	}
	if opts.OnFatal == nil {
		opts.OnFatal = func(string, string) { os.Exit(fault.CodeFailure) }
	}
	c := &core{
		now:       opts.Now,
		out:       opts.Out,
		demote:    opts.Demote,
		verbosity: new(atomic.Int64),
	}
	c.verbosity.Store(int64(opts.Verbosity))
	if opts.Format == FormatText {
		c.format = (&textFormat{color: opts.Color, verbosity: c.verbosity}).append
		c.flood = newFlood()
	} else {
		c.format = appendJSON
	}
	l := &Logs{core: c, fatal: opts.OnFatal}
	l.logger = slog.New(l.handler(sourceOwn, ComponentKapi))
	return l, nil
}

// Logger returns the logger for our own code. Name the component with
// Logger().With(KeyComponent, NAME).
func (l *Logs) Logger() *slog.Logger { return l.logger }

// Verbosity returns the N of -v N that is in force.
func (l *Logs) Verbosity() int { return int(l.core.verbosity.Load()) }

// SetVerbosity changes -v while running, for all three sources. klog's own
// flag "v", which gates its V(n) calls before they get here, is process-wide
// and stays as it is: install the sink anew to change that too.
func (l *Logs) SetVerbosity(n int) { l.core.verbosity.Store(int64(n)) }

// Flush writes what is held back: the counts of repeated lines. Call it before
// the process ends.
func (l *Logs) Flush() { l.core.flush(true) }

func (l *Logs) handler(s source, component string) *handler {
	return &handler{core: l.core, source: s, component: component}
}

// die is the end of a fatal message that has been logged.
func (l *Logs) die(msg, file string) {
	l.Flush()
	l.fatal(msg, file)
}
