package logging

import (
	"bytes"
	"errors"
	"flag"
	"log/slog"
	"strconv"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// KlogSink is what klog needs to write to our log. klog has one sink for the
// whole process, so installing it is apart from making it.
type KlogSink struct {
	// Logger gets the structured calls (klog.InfoS, ErrorS) and is what
	// klog.FromContext and klog.Background return.
	Logger logr.Logger
	// Write is for klog.WriteKlogBuffer: it gets the lines of klog.Infof,
	// Warningf, Errorf, Fatalf and Exitf, whole and with klog's header. klog's
	// lock is held while it runs.
	Write func(line []byte)
	// Flush is for klog.FlushLogger.
	Flush func()
	// Verbosity is for klog's flag "v".
	Verbosity int
}

// KlogSink returns the sink that brings klog's lines to l.
func (l *Logs) KlogSink() KlogSink {
	h := l.handler(sourceKlog, ComponentKube)
	return KlogSink{
		Logger:    logr.FromSlogHandler(h),
		Write:     func(line []byte) { l.writeKlog(h, line) },
		Flush:     func() { l.core.flush(false) },
		Verbosity: l.Verbosity(),
	}
}

// Install makes s the sink of the process's klog and sets the klog flags that
// it depends on. Only internal/globals may call it (tests aside): klog is
// process-wide, and no other goroutine may log through klog meanwhile.
func (s KlogSink) Install() error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	err := errors.Join(
		flags.Set("v", strconv.Itoa(s.Verbosity)),
		// Write reads the severity from the header.
		flags.Set("skip_headers", "false"),
		flags.Set("add_dir_header", "false"),
		// Without it klog.Fatal dumps the stack to stderr, should OnFatal return.
		flags.Set("logtostderr", "true"),
	)
	if err != nil {
		return err
	}
	// k8s.io/component-base/logs turns it off when it is imported.
	klog.EnableContextualLogging(true)
	klog.SetLoggerWithOptions(s.Logger,
		klog.ContextualLogger(true),
		klog.WriteKlogBuffer(s.Write),
		klog.FlushLogger(s.Flush))
	return nil
}

// writeKlog logs one line of klog's unstructured calls. After a fatal one
// klog's output() would dump the stacks of all goroutines and exit with 255; it
// doesn't come to that, since die ends the process here, under klog's lock.
// Source: k8s.io/klog/v2/klog.go, loggingT.output.
func (l *Logs) writeKlog(h *handler, line []byte) {
	head := parseKlogHeader(line)
	if !l.core.enabled(sourceKlog, head.level) {
		return
	}
	msg := string(bytes.TrimRight(head.rest, "\n"))
	// A log that can't be written can't be complained about either.
	_ = l.core.emit(&record{
		time: l.core.now(), source: sourceKlog, level: head.level,
		component: h.component, msg: msg, caller: head.file,
	})
	if head.level >= LevelFatal {
		l.die(mask(msg), head.file)
	}
}

type klogHeader struct {
	level slog.Level
	file  string // "file.go:12"
	rest  []byte // the message
}

// parseKlogHeader divides a line of klog:
//
//	E0102 15:04:05.000000    1234 file.go:12] message
//
// What has no such header is taken for a warning with an unknown source: its
// severity is lost, and it may have been an error.
func parseKlogHeader(line []byte) klogHeader {
	const pid = 22 // where the process id begins
	none := klogHeader{level: slog.LevelWarn, rest: line}
	if len(line) < pid || line[5] != ' ' || line[8] != ':' || line[11] != ':' || line[14] != '.' {
		return none
	}
	h := klogHeader{}
	switch line[0] {
	case 'I':
		h.level = slog.LevelInfo
	case 'W':
		h.level = slog.LevelWarn
	case 'E':
		h.level = slog.LevelError
	case 'F':
		h.level = LevelFatal
	default:
		return none
	}
	where, rest, ok := bytes.Cut(bytes.TrimLeft(line[pid:], " "), []byte("] "))
	if !ok {
		return none
	}
	_, file, ok := bytes.Cut(where, []byte(" "))
	if !ok {
		return none
	}
	h.file, h.rest = string(file), rest
	return h
}
