package logging

import (
	"encoding"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// isObjectRef reports whether v is klog's name of an object.
func isObjectRef(v slog.Value) bool {
	if v.Kind() != slog.KindAny && v.Kind() != slog.KindLogValuer {
		return false
	}
	_, ok := v.Any().(klog.ObjectRef)
	return ok
}

// textOf returns v for a person. It never panics: a nil pointer with a String
// method is common in logs.
func textOf(v slog.Value) string {
	switch v.Kind() {
	case slog.KindTime:
		return v.Time().Format(time.RFC3339Nano)
	case slog.KindAny, slog.KindLogValuer:
		return textOfAny(v.Any())
	default:
		return v.String()
	}
}

func textOfAny(v any) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprintf("!PANIC(%T): %v", v, p)
		}
	}()
	switch v := v.(type) {
	case nil:
		return "<nil>"
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	case encoding.TextMarshaler:
		if b, err := v.MarshalText(); err == nil {
			return string(b)
		}
	case []byte:
		return string(v)
	case logr.Marshaler:
		return textOfAny(v.MarshalLog())
	}
	// JSON rather than %+v: shorter to read, and its keys show what to mask.
	if b, err := marshal(v); err == nil {
		return string(b)
	}
	return fmt.Sprintf("%+v", v)
}

// jsonOf returns v as JSON, or false where only its text will do.
func jsonOf(v any) (b string, ok bool) {
	defer func() {
		if recover() != nil {
			b, ok = "", false
		}
	}()
	switch t := v.(type) {
	case error, []byte:
		return "", false
	case logr.Marshaler:
		v = t.MarshalLog()
	}
	out, err := marshal(v)
	return string(out), err == nil
}
