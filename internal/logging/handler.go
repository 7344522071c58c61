package logging

import (
	"context"
	"io"
	"log/slog"
	"path"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// record is one line before it is formatted. Secret attributes are already
// replaced; texts are masked by the formats, which alone know the final text.
type record struct {
	time      time.Time // zero: not shown
	source    source
	level     slog.Level
	component string
	msg       string
	caller    string // "file.go:12", or ""
	fields    []field
}

// field is an attribute with its groups joined to the key by dots.
type field struct {
	key string
	val slog.Value
}

// core is what all handlers of one Logs share.
type core struct {
	now       func() time.Time
	demote    []Demotion
	verbosity *atomic.Int64
	format    func(buf []byte, r *record) []byte

	mu    sync.Mutex // guards out and flood; nothing foreign is called under it but out.Write
	out   io.Writer
	flood *flood // nil: off
}

func (c *core) enabled(s source, level slog.Level) bool {
	return s.enabled(level, int(c.verbosity.Load()))
}

// emit formats r and writes it. Formatting calls foreign code (String, Error,
// LogValue), which may log itself: so it happens before the lock is taken.
func (c *core) emit(r *record) error {
	level := demoted(c.demote, r.component, r.msg, r.level)
	if level != r.level {
		if !c.enabled(r.source, level) {
			return nil
		}
		r.level = level
	}
	line := c.format(make([]byte, 0, 256), r)

	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flood != nil {
		now := c.now()
		c.writeSummaries(now, false)
		if r.level >= slog.LevelWarn && r.level < LevelFatal && !c.flood.admit(string(line[textTimeLen:]), now) {
			return nil
		}
	}
	_, err := c.out.Write(line)
	return err
}

// flush writes the pending summaries: all of them, or those whose window is over.
func (c *core) flush(all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flood != nil {
		c.writeSummaries(c.now(), all)
	}
}

func (c *core) writeSummaries(now time.Time, all bool) {
	for _, s := range c.flood.due(now, all) {
		// The log is the place to complain, and it is what fails here.
		_, _ = c.out.Write(append(appendTextTime(nil, now), s...))
	}
}

// handler is the slog.Handler in front of a core. It knows where its records
// come from; handlers are values that never change after they were made.
type handler struct {
	core      *core
	source    source
	component string
	prefix    string // the open groups: "a.b."
	fields    []field
}

var _ slog.Handler = (*handler)(nil)

// Enabled is the cheap question that is asked before a record is built.
func (h *handler) Enabled(_ context.Context, level slog.Level) bool {
	return h.core.enabled(h.source, level)
}

// Handle writes the record.
func (h *handler) Handle(_ context.Context, sr slog.Record) error {
	r := &record{
		time: sr.Time, source: h.source, level: sr.Level,
		component: h.component, msg: sr.Message, caller: callerOf(sr.PC),
		fields: slices.Clip(h.fields),
	}
	sr.Attrs(func(a slog.Attr) bool {
		if name, ok := h.componentOf(a); ok {
			r.component = name
			return true
		}
		r.fields = appendAttr(r.fields, h.prefix, a)
		return true
	})
	return h.core.emit(r)
}

// WithAttrs returns a handler whose records all have attrs.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clone := *h
	clone.fields = slices.Clip(h.fields)
	for _, a := range attrs {
		if name, ok := h.componentOf(a); ok {
			clone.component = name
			continue
		}
		clone.fields = appendAttr(clone.fields, h.prefix, a)
	}
	return &clone
}

// WithGroup returns a handler whose further attributes belong to the group.
func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	clone := *h
	clone.prefix += name + "."
	return &clone
}

// componentOf reports whether a names the component of our own lines. The lines
// of klog and zap have a fixed one; there it is an attribute like any other.
func (h *handler) componentOf(a slog.Attr) (string, bool) {
	if h.source != sourceOwn || h.prefix != "" || a.Key != KeyComponent {
		return "", false
	}
	v := a.Value.Resolve()
	return v.String(), v.Kind() == slog.KindString
}

// appendAttr adds a to fields: groups flattened, LogValuers resolved, secrets
// replaced, empty ones left out.
func appendAttr(fields []field, prefix string, a slog.Attr) []field {
	if isObjectRef(a.Value) {
		// Its LogValue is a group, and its String is what a person expects.
		// It can hold a name only, so a "secret" is not hidden here.
		return append(fields, field{prefix + a.Key, a.Value})
	}
	if secretKey(a.Key) {
		return append(fields, field{prefix + a.Key, slog.StringValue(redacted)})
	}
	a.Value = a.Value.Resolve()
	if a.Value.Kind() != slog.KindGroup {
		if a.Equal(slog.Attr{}) {
			return fields
		}
		return append(fields, field{prefix + a.Key, a.Value})
	}
	if a.Key != "" {
		prefix += a.Key + "."
	}
	for _, member := range a.Value.Group() {
		fields = appendAttr(fields, prefix, member)
	}
	return fields
}

// callerOf returns the source of a call as "file.go:12".
func callerOf(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if frame.File == "" {
		return ""
	}
	return path.Base(frame.File) + ":" + strconv.Itoa(frame.Line)
}
