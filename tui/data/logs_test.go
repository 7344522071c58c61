package data

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLogBuffer(t *testing.T) {
	now := time.Date(2026, 3, 2, 0, 5, 0, 0, time.UTC)
	at := func(day, hour, minute, second, ms int) time.Time {
		return time.Date(2026, 3, day, hour, minute, second, ms*int(time.Millisecond), time.UTC)
	}
	for _, test := range []struct {
		line, level, text string
		at                time.Time
	}{
		{"00:04:05.007 INFO  chain     serving address=127.0.0.1:6443", "info", "chain     serving address=127.0.0.1:6443", at(2, 0, 4, 5, 7)},
		{"23:59:59.999 WARN  etcd      slow fdatasync took=1.2s", "warning", "etcd      slow fdatasync took=1.2s", at(1, 23, 59, 59, 999)},
		{"00:04:05.007 ERROR kapi      漢字", "error", "kapi      漢字", at(2, 0, 4, 5, 7)},
		{"00:04:05.007 FATAL kapi      no", "error", "kapi      no", at(2, 0, 4, 5, 7)},
		{"             DEBUG kapi      without a time", "debug", "kapi      without a time", now},
		{"\x1b[2m00:04:05.007\x1b[0m \x1b[31mERROR\x1b[0m \x1b[36mkapi     \x1b[0m no", "error", "kapi      no", at(2, 0, 4, 5, 7)},
		{"    a further line", "", "    a further line", now},
		{"panic: runtime error", "", "panic: runtime error", now},
		{`{"time":"2026-03-02T00:04:05.000006Z","level":"warn","component":"etcd","msg":"slow \"x\"","caller":"a.go:1","took":"1 s","n":3,"more":{"a":[1]}}`,
			"warning", `etcd      slow "x" took="1 s" n=3 more={"a":[1]}`, time.Date(2026, 3, 2, 0, 4, 5, 6000, time.UTC)},
		{`{"level":"odd"}`, "", "         ", now},
		{`{broken`, "", "{broken", now},
		{`{"a":`, "", `{"a":`, now},
	} {
		buffer := NewLogBuffer(10)
		buffer.now = func() time.Time { return now }
		if n, err := buffer.Write([]byte(test.line + "\r\n")); n != len(test.line)+2 || err != nil {
			t.Errorf("wrote %d, %v", n, err)
		}
		lines, _, _ := buffer.Read(0)
		if len(lines) != 1 {
			t.Fatalf("%d lines", len(lines))
		}
		got := lines[0]
		if got.Level != test.level || strings.TrimRight(got.Text, " ") != strings.TrimRight(test.text, " ") || !got.At.Equal(test.at) {
			t.Errorf("of %q\ngot  %q %q %s\nwant %q %q %s", test.line, got.Level, got.Text, got.At, test.level, test.text, test.at)
		}
	}
}

// Lines come whole, whatever pieces they are written in, and the last ones are kept.
func TestLogBufferKeepsTheLast(t *testing.T) {
	buffer := NewLogBuffer(100)
	_, last, changed := buffer.Read(0)
	for i := range 1000 {
		for _, piece := range []string{"line ", fmt.Sprint(i), "\nl"[:1]} {
			_, _ = buffer.Write([]byte(piece))
		}
	}
	select {
	case <-changed:
	default:
		t.Error("nobody is told")
	}
	lines, next, _ := buffer.Read(last)
	if len(lines) != 100 || lines[0].Text != "line 900" || lines[99].Text != "line 999" || next != 1000 {
		t.Errorf("got %d lines, %+v", len(lines), lines)
	}
	if lines[99].Name != "0000001000" {
		t.Errorf("named %q", lines[99].Name)
	}
	_, _ = buffer.Write([]byte("one\ntwo\npart"))
	lines, next, changed = buffer.Read(next)
	if len(lines) != 2 || lines[1].Text != "two" {
		t.Errorf("got %+v", lines)
	}
	if again, _, _ := buffer.Read(next); len(again) != 0 {
		t.Errorf("again %+v", again)
	}
	select {
	case <-changed:
		t.Error("told of nothing")
	default:
	}
	_, _ = buffer.Write([]byte(strings.Repeat("x", longestLine)))
	if lines, _, _ := buffer.Read(next); len(lines) != 1 {
		t.Errorf("a line without an end is kept for ever: %d", len(lines))
	}
	if lines, next, _ := buffer.Read(1 << 60); len(lines) != 0 || next > 2000 {
		t.Errorf("got %d lines from the future", len(lines))
	}
}

func TestLogFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		buffer := NewLogBuffer(0)
		_, _ = buffer.Write([]byte("one\n"))
		hub := NewHub(HubOptions{Source: newFake(), Logs: buffer})
		defer hub.Close()
		hub.Need(Logs)
		synctest.Wait()
		if view := hub.Frame().View(Logs); view.State != Live || len(view.Objects) != 1 {
			t.Errorf("got %v with %d lines", view.State, len(view.Objects))
		}
		for i := range 2 * LinesKept {
			_, _ = fmt.Fprintln(buffer, i)
		}
		synctest.Wait()
		lines := Objects[*LogLine](hub.Frame(), Logs)
		if len(lines) != LinesKept || lines[LinesKept-1].Text != fmt.Sprint(2*LinesKept-1) {
			t.Errorf("%d lines", len(lines))
		}
	})
}
