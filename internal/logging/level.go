package logging

import (
	"log/slog"
	"strings"
)

// LevelFatal is the level of a message after which the process ends
// (klog.Fatal, zap.Fatal).
const LevelFatal = slog.LevelError + 4

// source is where a line comes from: each has its own thresholds.
type source uint8

const (
	sourceOwn source = iota
	sourceKlog
	sourceZap
)

// Verbosities from which etcd's informational and debug lines are shown. etcd
// writes some forty info lines at a start, and a debug line for each request.
const (
	zapInfoVerbosity  = 2
	zapDebugVerbosity = 5
)

// enabled reports whether a line of level from s is shown at -v n. For klog the
// level is the negated V (logr's convention): klog.V(4) arrives as -4.
func (s source) enabled(level slog.Level, n int) bool {
	if level >= slog.LevelWarn {
		return true
	}
	switch s {
	case sourceKlog:
		return n >= 1 && int(-level) <= n
	case sourceZap:
		if level >= slog.LevelInfo {
			return n >= zapInfoVerbosity
		}
		return n >= zapDebugVerbosity
	default:
		return level >= slog.LevelInfo || n >= 1 && level >= slog.LevelDebug
	}
}

// levelName returns the name of level in the output. klog's V(n) lines are of
// severity info, whatever n is.
func (s source) levelName(level slog.Level) string {
	switch {
	case level >= LevelFatal:
		return "fatal"
	case level >= slog.LevelError:
		return "error"
	case level >= slog.LevelWarn:
		return "warn"
	case level >= slog.LevelInfo, s == sourceKlog:
		return "info"
	default:
		return "debug"
	}
}

// Demotion names a warning or error that appears at a normal start and tells
// the user nothing. It is shown as an informational line instead, by the rules
// of its component.
type Demotion struct {
	// Component is the component of the line, for example ComponentEtcd.
	Component string
	// Substring is a part of the message.
	Substring string
	// Reason says why the line is harmless. It is for the reader of the table.
	Reason string
}

// demoted returns the level at which the line is to be treated. A fatal line
// keeps its level: it is the last thing that the process says.
func demoted(rows []Demotion, component, msg string, level slog.Level) slog.Level {
	if level < slog.LevelWarn || level >= LevelFatal {
		return level
	}
	for _, d := range rows {
		if d.Component == component && strings.Contains(msg, d.Substring) {
			return slog.LevelInfo
		}
	}
	return level
}
