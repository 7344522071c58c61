package logging

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strconv"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Zap returns the logger for etcd. Its Fatal ends in Options.OnFatal; its Panic
// panics, as zap's does, unless a caller gives zap.WithPanicHook(l.FatalHook()).
func (l *Logs) Zap(opts ...zap.Option) *zap.Logger {
	core := &zapCore{h: l.handler(sourceZap, ComponentEtcd)}
	base := []zap.Option{
		zap.AddCaller(),
		zap.WithFatalHook(l.FatalHook()),
		zap.ErrorOutput(zapcore.AddSync(io.Discard)),
	}
	return zap.New(core, append(base, opts...)...)
}

// FatalHook returns the hook that calls Options.OnFatal with the message of the
// entry, which has been written by then.
func (l *Logs) FatalHook() zapcore.CheckWriteHook { return fatalHook{l} }

type fatalHook struct{ logs *Logs }

func (f fatalHook) OnWrite(e *zapcore.CheckedEntry, fields []zapcore.Field) {
	msg := e.Message
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType {
			msg += ": " + textOfAny(err)
		}
	}
	f.logs.die(mask(msg), zapCaller(e.Caller))
}

// zapCore brings zap's entries to a handler.
type zapCore struct{ h *handler }

var _ zapcore.Core = (*zapCore)(nil)

func (c *zapCore) Enabled(level zapcore.Level) bool {
	return c.h.core.enabled(sourceZap, zapLevel(level))
}

func (c *zapCore) With(fields []zapcore.Field) zapcore.Core {
	return &zapCore{h: withZapFields(c.h, fields)}
}

func (c *zapCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

func (c *zapCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	r := &record{
		time: e.Time, source: sourceZap, level: zapLevel(e.Level),
		component: c.h.component, msg: e.Message, caller: zapCaller(e.Caller),
	}
	if e.LoggerName != "" {
		r.fields = append(r.fields, field{"logger", slog.StringValue(e.LoggerName)})
	}
	r.fields = append(r.fields, withZapFields(c.h, fields).fields...)
	return c.h.core.emit(r)
}

func (c *zapCore) Sync() error { return nil }

// zapLevel maps zap's levels to ours. DPanic and Panic are errors: whether the
// process ends with them is decided by their hooks.
func zapLevel(l zapcore.Level) slog.Level {
	switch {
	case l >= zapcore.FatalLevel:
		return LevelFatal
	case l >= zapcore.ErrorLevel:
		return slog.LevelError
	case l >= zapcore.WarnLevel:
		return slog.LevelWarn
	case l >= zapcore.InfoLevel:
		return slog.LevelInfo
	default:
		return slog.LevelDebug
	}
}

func zapCaller(c zapcore.EntryCaller) string {
	if !c.Defined {
		return ""
	}
	return path.Base(c.File) + ":" + strconv.Itoa(c.Line)
}

// withZapFields returns h with fields; a namespace opens a group for those
// after it.
func withZapFields(h *handler, fields []zapcore.Field) *handler {
	clone := *h
	clone.fields = slices.Clip(h.fields)
	for _, f := range fields {
		if f.Type == zapcore.NamespaceType {
			clone.prefix += f.Key + "."
			continue
		}
		for _, a := range zapAttrs(f) {
			clone.fields = appendAttr(clone.fields, clone.prefix, a)
		}
	}
	return &clone
}

// zapAttrs converts one field: most give one attribute, an inlined object one
// for each of its members.
func zapAttrs(f zapcore.Field) []slog.Attr {
	switch f.Type { //nolint:exhaustive // the rest is left to zap's own encoder
	case zapcore.SkipType:
		return nil
	case zapcore.StringType:
		return []slog.Attr{slog.String(f.Key, f.String)}
	case zapcore.ErrorType, zapcore.StringerType:
		return []slog.Attr{slog.Any(f.Key, f.Interface)}
	}
	members, err := zapMembers(f)
	attrs := make([]slog.Attr, 0, len(members)+1)
	for _, key := range slices.Sorted(maps.Keys(members)) {
		attrs = append(attrs, slog.Any(key, members[key]))
	}
	if err != nil {
		attrs = append(attrs, slog.String(f.Key+"Error", err.Error()))
	}
	return attrs
}

// zapMembers lets zap encode the field. A panic in foreign marshalling code
// becomes an error: a log line must not end the process.
func zapMembers(f zapcore.Field) (members map[string]any, err error) {
	enc := zapcore.NewMapObjectEncoder()
	defer func() {
		if p := recover(); p != nil {
			members, err = nil, fmt.Errorf("encoding: %v", p)
		}
	}()
	f.AddTo(enc)
	return enc.Fields, nil
}
