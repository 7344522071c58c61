package data

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LogSource has the lines of a server's log, oldest first.
type LogSource interface {
	// Read returns the lines after the one of a number (0 is before the first), the
	// number of the last, and a channel that is closed when there are others. Lines
	// that are no longer kept are passed over.
	Read(after uint64) (lines []LogLine, next uint64, changed <-chan struct{})
}

// longestLine is where a line without an end is ended.
const longestLine = 64 << 10

// LogBuffer keeps the last lines of a log that is written to it, in kapi's text
// format, in JSON, or in any other: those have no level, and the time at which they
// came. It is safe for concurrent use.
type LogBuffer struct {
	capacity int
	now      func() time.Time

	lock sync.Mutex
	// lines are the last ones, last is the number of the very last.
	lines []LogLine
	last  uint64
	// part is a line whose end has not come yet.
	part    []byte
	changed chan struct{}
}

// NewLogBuffer returns a buffer of so many lines; LinesKept where it is not positive.
func NewLogBuffer(capacity int) *LogBuffer {
	if capacity <= 0 {
		capacity = LinesKept
	}
	return &LogBuffer{capacity: capacity, now: time.Now, changed: make(chan struct{})}
}

// Write implements io.Writer. It never fails.
func (b *LogBuffer) Write(p []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	written, before := len(p), b.last
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			break
		}
		b.add(append(b.part, p[:end]...))
		b.part, p = b.part[:0], p[end+1:]
	}
	if b.part = append(b.part, p...); len(b.part) > longestLine {
		b.add(b.part)
		b.part = b.part[:0]
	}
	if b.last != before {
		close(b.changed)
		b.changed = make(chan struct{})
	}
	return written, nil
}

// Read implements LogSource.
func (b *LogBuffer) Read(after uint64) ([]LogLine, uint64, <-chan struct{}) {
	b.lock.Lock()
	defer b.lock.Unlock()
	news := int(min(uint64(len(b.lines)), uint64(b.capacity), b.last-min(after, b.last)))
	return append([]LogLine(nil), b.lines[len(b.lines)-news:]...), b.last, b.changed
}

func (b *LogBuffer) add(raw []byte) {
	text := strings.TrimRight(string(raw), "\r")
	if text == "" {
		return
	}
	b.last++
	line := parsed(text, b.now())
	line.ObjectMeta = metav1.ObjectMeta{Name: fmt.Sprintf("%010d", b.last)}
	if len(b.lines) >= 2*b.capacity { // moved now and then, not with each line
		b.lines = append(make([]LogLine, 0, 2*b.capacity), b.lines[len(b.lines)-b.capacity+1:]...)
	}
	b.lines = append(b.lines, line)
}
