package logging

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	textTime    = "15:04:05.000"
	textTimeLen = len(textTime)
	// textIndent stands before every line of a record but the first.
	textIndent = "    "
	// callerVerbosity shows the source of each line, and whole stacks.
	callerVerbosity = 2
)

// ANSI sequences of the coloured text format.
const (
	ansiReset  = "\x1b[0m"
	ansiDim    = "\x1b[2m"
	ansiRed    = "\x1b[31m"
	ansiYellow = "\x1b[33m"
	ansiBlue   = "\x1b[34m"
	ansiCyan   = "\x1b[36m"
)

// textFormat writes records for a person:
//
//	15:04:05.000 WARN  etcd      slow fdatasync took=1.2s
//
// Every record begins with the time (blanks where it has none), so that the
// rest of the line is what tells two records apart.
type textFormat struct {
	color     bool
	verbosity *atomic.Int64
}

func (t *textFormat) append(buf []byte, r *record) []byte {
	detail := t.verbosity.Load() >= callerVerbosity
	name := r.source.levelName(r.level)
	msg, rest, stack := splitMessage(r.msg)

	buf = appendTextTime(buf, r.time)
	buf = append(buf, ' ')
	buf = t.paint(buf, levelColor(r.level), fmt.Sprintf("%-5s", strings.ToUpper(name)))
	buf = append(buf, ' ')
	buf = t.paint(buf, ansiCyan, fmt.Sprintf("%-9s", r.component))
	buf = append(buf, ' ')
	buf = appendPrintable(buf, mask(msg))
	for _, f := range r.fields {
		text := textOf(f.val)
		if body, trace, ok := cutStack(text); ok {
			if stack == "" {
				stack = trace
			}
			if text = body; text == "" {
				continue
			}
		}
		if f.key == panicGoValueKey && !detail {
			continue
		}
		buf = t.appendField(buf, f.key, mask(text))
	}
	if stack != "" && !detail {
		if frame := firstFrame(stack); frame != "" {
			buf = t.appendField(buf, "at", frame)
		}
	}
	if r.caller != "" && (detail || r.level >= LevelFatal) {
		buf = t.appendField(buf, "caller", r.caller)
	}
	buf = append(buf, '\n')
	buf = appendBlock(buf, mask(rest))
	if detail {
		buf = appendBlock(buf, mask(stack))
	}
	return buf
}

// appendTextTime appends textTimeLen bytes.
func appendTextTime(buf []byte, at time.Time) []byte {
	if at.IsZero() {
		return fmt.Appendf(buf, "%*s", textTimeLen, "")
	}
	return at.AppendFormat(buf, textTime)
}

func (t *textFormat) appendField(buf []byte, key, val string) []byte {
	buf = append(buf, ' ')
	buf = t.paint(buf, ansiDim, string(appendPrintable(nil, key))+"=")
	if needsQuote(val) {
		return strconv.AppendQuote(buf, val)
	}
	return append(buf, val...)
}

func (t *textFormat) paint(buf []byte, color, s string) []byte {
	if !t.color || color == "" {
		return append(buf, s...)
	}
	buf = append(buf, color...)
	buf = append(buf, s...)
	return append(buf, ansiReset...)
}

func levelColor(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return ansiRed
	case level >= slog.LevelWarn:
		return ansiYellow
	case level >= slog.LevelInfo:
		return ansiBlue
	default:
		return ansiDim
	}
}

// splitMessage divides a message into its first line, the further ones, and
// the goroutine stack that it may end in.
func splitMessage(msg string) (first, rest, stack string) {
	msg = strings.TrimRight(msg, "\n")
	if body, trace, ok := cutStack(msg); ok {
		msg, stack = body, trace
	}
	first, rest, _ = strings.Cut(msg, "\n")
	return first, rest, stack
}

// appendBlock appends each line of s, indented.
func appendBlock(buf []byte, s string) []byte {
	if s == "" {
		return buf
	}
	for line := range strings.Lines(s) {
		buf = append(buf, textIndent...)
		buf = appendPrintable(buf, strings.TrimRight(line, "\r\n"))
		buf = append(buf, '\n')
	}
	return buf
}

// appendPrintable appends s with everything escaped that a terminal would act
// on: texts of strangers (paths, user agents) reach the log.
func appendPrintable(buf []byte, s string) []byte {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r != '\t' && !unicode.IsPrint(r) {
			quoted := strconv.Quote(s[i : i+size])
			buf = append(buf, quoted[1:len(quoted)-1]...)
		} else {
			buf = append(buf, s[i:i+size]...)
		}
		i += size
	}
	return buf
}

func needsQuote(s string) bool {
	return s == "" || strings.ContainsFunc(s, func(r rune) bool {
		return r == utf8.RuneError || r <= ' ' || r == '"' || r == '=' || !unicode.IsPrint(r)
	})
}
