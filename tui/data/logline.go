package data

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// escapes are the sequences that colour a line.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// textLine is a line as kapi writes it for a person: time or blanks, level,
// component, message.
var textLine = regexp.MustCompile(`^(\d{2}:\d{2}:\d{2}\.\d{3}| {12}) (DEBUG|INFO |WARN |ERROR|FATAL) `)

// parsed finds time and level in a line. The text keeps everything else: the level,
// where it is in the text, is cut.
func parsed(text string, now time.Time) LogLine {
	text = escapes.ReplaceAllString(text, "")
	if strings.HasPrefix(text, "{") {
		if line, ok := parsedJSON(text, now); ok {
			return line
		}
	}
	found := textLine.FindStringSubmatch(text)
	if found == nil {
		return LogLine{At: now, Text: text}
	}
	line := LogLine{At: now, Level: levelOf(strings.TrimSpace(found[2])), Text: strings.TrimSpace(text[len(found[0]):])}
	if at, err := time.ParseInLocation("15:04:05.000", found[1], now.Location()); err == nil {
		line.At = time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), now.Location())
		if line.At.Sub(now) > 12*time.Hour { // written before midnight
			line.At = line.At.AddDate(0, 0, -1)
		}
	}
	return line
}

// parsedJSON writes a line of JSON as the text format does.
func parsedJSON(text string, now time.Time) (LogLine, bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return LogLine{}, false
	}
	line := LogLine{At: now}
	var component, message string
	var fields strings.Builder
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return LogLine{}, false
		}
		var raw json.RawMessage
		if decoder.Decode(&raw) != nil {
			return LogLine{}, false
		}
		value, shown := string(raw), string(raw)
		if strings.HasPrefix(value, `"`) {
			if json.Unmarshal(raw, &value) != nil {
				return LogLine{}, false
			}
			shown = quoted(value)
		}
		switch key {
		case "time", "ts":
			if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
				line.At = at.In(now.Location())
			}
		case "level":
			line.Level = levelOf(value)
		case "component":
			component = value
		case "msg":
			message = value
		case "caller":
		default:
			fmt.Fprintf(&fields, " %v=%s", key, shown)
		}
	}
	line.Text = fmt.Sprintf("%-9s %s%s", component, message, fields.String())
	return line, true
}

func quoted(value string) string {
	if value == "" || strings.ContainsAny(value, " \"=\t\n") {
		return strconv.Quote(value)
	}
	return value
}

// levelOf is one of the levels that a line can have.
func levelOf(level string) string {
	switch strings.ToLower(level) {
	case "debug":
		return "debug"
	case "info":
		return "info"
	case "warn", "warning":
		return "warning"
	case "error", "fatal":
		return "error"
	}
	return ""
}
