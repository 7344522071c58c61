package logging

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestFlood tells a story with a clock of its own.
func TestFlood(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l, out := newLogs(t, Options{Now: func() time.Time { return now }})
	log := l.Logger()
	expect := func(want ...string) {
		t.Helper()
		if got := lines(t, out); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got %q, want %q", got, want)
		}
		out.Reset()
	}
	const slow, other = "WARN  kapi      slow a=1", "INFO  kapi      other"
	warn := func(times int) {
		for range times {
			log.Warn("slow", "a", 1)
		}
	}

	warn(125)
	expect(slow, slow, slow, slow, slow)

	log.Warn("slow", "a", 2) // another text, and another level, are counted apart
	log.Error("slow", "a", 1)
	for range 7 {
		log.Info("other") // not a warning
	}
	expect("WARN  kapi      slow a=2", "ERROR kapi      slow a=1", other, other, other, other, other, other, other)

	now = now.Add(floodWindow - 1)
	log.Info("other")
	expect(other)

	now = now.Add(1) // the end of the window is told before the next line
	log.Info("other")
	expect(slow+" … repeated 120 more times", other)

	now = now.Add(floodWindow) // a window with nothing hidden ends in silence
	warn(5)
	expect(slow, slow, slow, slow, slow)
	now = now.Add(floodWindow)
	warn(1)
	expect(slow)

	warn(5) // the fifth is hidden
	expect(slow, slow, slow, slow)
	l.KlogSink().Flush() // klog's periodic flush ends no window early
	expect()
	l.Flush()
	expect(slow + " … repeated 1 more times")
	l.Flush()
	expect()
}

// TestFloodOfJSON checks that machines get every line.
func TestFloodOfJSON(t *testing.T) {
	t.Parallel()
	l, out := newLogs(t, Options{Format: FormatJSON})
	for range 20 {
		l.Logger().Warn("slow")
	}
	if n := strings.Count(out.String(), "\n"); n != 20 {
		t.Errorf("%d lines, want 20", n)
	}
}

// TestFloodIsBounded checks the memory, and that what isn't counted is written.
func TestFloodIsBounded(t *testing.T) {
	t.Parallel()
	f := newFlood()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 10 * floodKeys {
		if !f.admit(fmt.Sprint(i), now) {
			t.Fatalf("line %d was hidden", i)
		}
	}
	if len(f.seen) != floodKeys {
		t.Errorf("%d lines are remembered, want %d", len(f.seen), floodKeys)
	}
	if got := f.due(now.Add(floodWindow), false); len(got) != 0 || len(f.seen) != 0 {
		t.Errorf("got %q and %d remembered", got, len(f.seen))
	}
}
