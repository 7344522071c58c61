package etcd

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/kapi-dev/kapi/internal/fault"
)

// guard stands between etcd and the end of the process. etcd reports what it
// can't survive with zap's Fatal or Panic, on whichever goroutine it happened.
// The guard keeps the first such error and never lets that goroutine go on.
type guard struct {
	dir    string
	failed chan struct{} // closed when err is set

	mu      sync.Mutex
	err     error
	running bool
}

func newGuard(dir string) *guard {
	return &guard{dir: dir, failed: make(chan struct{})}
}

// OnWrite is zap's hook after an entry of level Fatal or Panic.
//
// While the member starts, the goroutine ends here: its deferred calls free
// what they can. In a running member it stops for ever instead, with every
// lock it holds: nothing may be written, and so nothing acknowledged, after a
// write has failed, and what is on disk is what a killed process leaves.
func (g *guard) OnWrite(ce *zapcore.CheckedEntry, fields []zapcore.Field) {
	g.fail(errorOf(ce.Message, fields))
	g.mu.Lock()
	running := g.running
	g.mu.Unlock()
	if running {
		select {}
	}
	runtime.Goexit()
}

// fail keeps err if it is the first.
func (g *guard) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = explain(err, g.dir)
		close(g.failed)
	}
}

// failure returns the error kept, or nil.
func (g *guard) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// run marks the end of the start phase. It returns the error of the start
// phase if there was one.
func (g *guard) run() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = g.err == nil
	return g.err
}

// logger is lg, guarded: quieter, without stack traces and without an end.
func (g *guard) logger(lg *zap.Logger) *zap.Logger {
	return lg.WithOptions(
		zap.WithFatalHook(g),
		zap.WithPanicHook(g),
		zap.AddStacktrace(zapcore.InvalidLevel),
		zap.WrapCore(func(c zapcore.Core) zapcore.Core { return quietCore{c} }),
	)
}

// errorOf makes an error of a log entry: its message and the error that it
// carries, if any.
func errorOf(msg string, fields []zapcore.Field) error {
	for _, f := range fields {
		if err, ok := f.Interface.(error); ok && f.Type == zapcore.ErrorType {
			return fmt.Errorf("%s: %w", msg, err)
		}
	}
	return errors.New(msg)
}

// quietCore lowers entries to debug: those that the guard turns into an error,
// which is reported once and by whoever receives it, and a few warnings that
// are about other setups than this one.
type quietCore struct{ zapcore.Core }

func (c quietCore) With(fields []zapcore.Field) zapcore.Core { return quietCore{c.Core.With(fields)} }

func (c quietCore) Check(ent zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if ent.Level >= zapcore.DPanicLevel || isNoise(ent.Message) {
		ent.Level = zapcore.DebugLevel
	}
	return c.Core.Check(ent, ce)
}

func isNoise(msg string) bool {
	for _, n := range []string{
		// A private unix socket: one listener is right.
		"Running http and grpc server on single port",
		// Nobody logs in to this etcd.
		"simple token is not cryptographically signed",
		// campaign may ask a moment too early; it asks again.
		"cannot campaign at term",
		// etcd tries again, and Start says if it was in vain.
		"failed to publish local member",
		// Of every first start; etcd tries again.
		"Failed to detect schema version",
		"failed to update storage version",
		// Of every stop; what is not of a stop comes as an error from Err.
		"setting up serving from embedded etcd failed",
		"insecure grpc server due to error",
	} {
		if strings.Contains(msg, n) {
			return true
		}
	}
	return false
}

// explain adds the way out to an error of the operating system. dir is the
// data directory. An error that has a hint already keeps it.
func explain(err error, dir string) error {
	if err == nil || fault.Hint(err) != "" {
		return err
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fault.WithHint(fmt.Errorf("disk full: writing etcd data in %s: %w", dir, err),
			"Make room on the file system of %s and start again: everything that was acknowledged is kept.", dir)
	case errors.Is(err, syscall.EROFS):
		return fault.WithHint(fmt.Errorf("writing etcd data in %s: %w", dir, err),
			"The file system is mounted read-only: mount it read-write, or choose another data directory.")
	case errors.Is(err, fs.ErrPermission):
		return fault.WithHint(fmt.Errorf("using etcd data in %s: %w", dir, err),
			"Give this user read and write access to everything below %s, or choose another data directory.", dir)
	case errors.Is(err, syscall.EIO):
		return fault.WithHint(fmt.Errorf("using etcd data in %s: %w", dir, err),
			"The disk reports errors: check it, and restore the data directory from a snapshot on a healthy one.")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE),
		strings.Contains(err.Error(), "file descriptor limit"): // etcd's own check, before it opens anything
		return fault.WithHint(fmt.Errorf("using etcd data in %s: %w", dir, err),
			"Raise the limit of open files (ulimit -n) to 65536 or more.")
	}
	return fault.WithHint(fmt.Errorf("running etcd on %s: %w", dir, err),
		"Its log may say more. If it happens again, keep a copy of %s and restore it from a snapshot.", dir)
}
