package logging

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"math"
	"strconv"
	"time"
)

// jsonTime is RFC 3339 with a fixed number of digits, so that lines sort.
const jsonTime = "2006-01-02T15:04:05.000000Z07:00"

// The fixed keys of the JSON format. An attribute of the same name gets a "_"
// behind it: an object with a key twice is read differently by each parser.
const (
	jsonKeyTime   = "time"
	jsonKeyLevel  = "level"
	jsonKeyMsg    = "msg"
	jsonKeyCaller = "caller"
	jsonKeyV      = "v"
)

// appendJSON writes a record as one line:
//
//	{"time":"…","level":"warn","component":"etcd","msg":"…","caller":"f.go:1","key":"value"}
//
// klog's V(n) lines of n ≥ 1 have "v":n. Groups are joined to the key by dots.
func appendJSON(buf []byte, r *record) []byte {
	buf = append(buf, '{')
	if !r.time.IsZero() {
		buf = appendKey(buf, jsonKeyTime)
		buf = append(buf, '"')
		buf = r.time.UTC().AppendFormat(buf, jsonTime)
		buf = append(buf, '"')
	}
	buf = appendKey(buf, jsonKeyLevel)
	buf = appendString(buf, r.source.levelName(r.level))
	buf = appendKey(buf, KeyComponent)
	buf = appendString(buf, r.component)
	buf = appendKey(buf, jsonKeyMsg)
	buf = appendString(buf, mask(r.msg))
	if r.source == sourceKlog && r.level < slog.LevelInfo {
		buf = appendKey(buf, jsonKeyV)
		buf = strconv.AppendInt(buf, int64(-r.level), 10)
	}
	if r.caller != "" {
		buf = appendKey(buf, jsonKeyCaller)
		buf = appendString(buf, r.caller)
	}
	for _, f := range r.fields {
		buf = appendKey(buf, freeKey(f.key))
		buf = appendValue(buf, f.val)
	}
	return append(buf, "}\n"...)
}

func freeKey(key string) string {
	switch key {
	case jsonKeyTime, jsonKeyLevel, KeyComponent, jsonKeyMsg, jsonKeyCaller, jsonKeyV:
		return key + "_"
	}
	return key
}

func appendKey(buf []byte, key string) []byte {
	if buf[len(buf)-1] != '{' {
		buf = append(buf, ',')
	}
	buf = appendString(buf, key)
	return append(buf, ':')
}

func appendString(buf []byte, s string) []byte {
	b, err := marshal(s)
	if err != nil { // a string always marshals
		return append(buf, `""`...)
	}
	return append(buf, b...)
}

func appendValue(buf []byte, v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindInt64:
		return strconv.AppendInt(buf, v.Int64(), 10)
	case slog.KindUint64:
		return strconv.AppendUint(buf, v.Uint64(), 10)
	case slog.KindBool:
		return strconv.AppendBool(buf, v.Bool())
	case slog.KindFloat64:
		if f := v.Float64(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return strconv.AppendFloat(buf, f, 'g', -1, 64)
		}
	case slog.KindTime:
		return appendString(buf, v.Time().Format(time.RFC3339Nano))
	case slog.KindAny, slog.KindLogValuer:
		if b, ok := jsonOf(v.Any()); ok {
			return append(buf, mask(b)...)
		}
	default:
	}
	return appendString(buf, mask(textOf(v)))
}

// marshal is json.Marshal without the escaping for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
