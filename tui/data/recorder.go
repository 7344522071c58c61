package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/fault"
)

const (
	// flushEvery is how long what comes may wait for being written.
	flushEvery = time.Second
	// mostWaiting is how much may wait where the file does not keep up.
	mostWaiting = 200_000
)

// Recorder writes down what feeds get, so that it can be played back (OpenReplay).
// Nothing ever waits for it: what comes is written by a goroutine of its own, once
// a second and when it is closed. What looks like a credential is not written. All
// methods may be called on a nil Recorder, which records nothing.
type Recorder struct {
	// file is what is written to, zipped and opened what has to be closed before it.
	file   io.Writer
	zipped *gzip.Writer
	opened io.Closer
	work   sync.WaitGroup
	closed chan struct{}
	news   chan struct{}

	lock    sync.Mutex
	started time.Time
	// waiting is what was not written yet.
	waiting []entry
	// states are the last ones of feeds, known what the server is: each is written once.
	states map[Key]recordLine
	known  inspection.About
	over   bool
	err    error
}

// entry is a line whose objects were not encoded yet.
type entry struct {
	line    recordLine
	columns []Column
	gaps    []inspection.Gap
	objects []kinds.Object
	list    bool
}

// NewRecorder begins a recording. Close ends it and leaves w open.
func NewRecorder(w io.Writer) *Recorder {
	r := &Recorder{file: w, closed: make(chan struct{}), news: make(chan struct{}, 1), states: map[Key]recordLine{}}
	r.work.Go(r.run)
	return r
}

// CreateRecording begins a recording in a file that does not exist yet, packed if
// its name ends in .gz. Only its owner may read it. Any other file is bad input.
func CreateRecording(path string) (*Recorder, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fault.WithHint(fault.Usagef("beginning a recording: %w", err), "name a file that does not exist yet, in a directory that does")
	}
	r := &Recorder{file: file, opened: file, closed: make(chan struct{}), news: make(chan struct{}, 1), states: map[Key]recordLine{}}
	if strings.HasSuffix(path, ".gz") {
		r.zipped = gzip.NewWriter(file)
		r.file = r.zipped
	}
	r.work.Go(r.run)
	return r, nil
}

// Err is why the recording has ended before it was closed; nil while all is well.
func (r *Recorder) Err() error {
	if r == nil {
		return nil
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.err
}

// Close writes what waits, and returns the first error of all.
func (r *Recorder) Close() error {
	if r == nil {
		return nil
	}
	r.lock.Lock()
	if !r.over {
		r.over = true
		close(r.closed)
	}
	r.lock.Unlock()
	r.work.Wait()
	return r.Err()
}

func (r *Recorder) about(at time.Time, about inspection.About) {
	if r == nil {
		return
	}
	when := about.At
	about.At = time.Time{}
	r.lock.Lock()
	again := r.known == about
	r.known = about
	r.lock.Unlock()
	if about.At = when; !again {
		r.add(at, entry{line: recordLine{About: &about}})
	}
}

func (r *Recorder) list(at time.Time, key Key, listed Listed) {
	r.add(at, entry{line: recordLine{Feed: toRecorded(key)}, columns: listed.Columns, gaps: listed.Gaps, objects: listed.Objects, list: true})
}

func (r *Recorder) event(at time.Time, key Key, kind watch.EventType, object kinds.Object) {
	r.add(at, entry{line: recordLine{Feed: toRecorded(key), Event: kind}, objects: []kinds.Object{object}})
}

func (r *Recorder) state(at time.Time, key Key, state State, err error, connection bool) {
	line := recordLine{Feed: toRecorded(key), State: state.String(), Connection: connection, Hint: fault.Hint(err)}
	if err != nil {
		line.Error = err.Error()
	}
	r.add(at, entry{line: line})
}

func (r *Recorder) add(at time.Time, e entry) {
	if r == nil {
		return
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.over || r.err != nil || r.repeats(e.line) {
		return
	}
	if r.started.IsZero() {
		r.started = at
	}
	if len(r.waiting) >= mostWaiting {
		r.err = errors.New("recording: the file does not keep up with what comes")
		return
	}
	e.line.At = at.Sub(r.started).Milliseconds()
	r.waiting = append(r.waiting, e)
	poke(r.news)
}

// repeats tells whether a line is the state that the feed is in anyway.
func (r *Recorder) repeats(line recordLine) bool {
	if line.Feed == nil {
		return false
	}
	key := line.Feed.key()
	line.Feed = nil
	if line.State == "" {
		delete(r.states, key)
		return false
	}
	if last, ok := r.states[key]; ok && last.State == line.State && last.Error == line.Error && last.Connection == line.Connection {
		return true
	}
	r.states[key] = line
	return false
}

// run writes what comes until the recorder is closed.
func (r *Recorder) run() {
	out := bufio.NewWriterSize(r.file, 64<<10)
	begun := false
	for open := true; open; {
		select {
		case <-r.news:
			select {
			case <-time.After(flushEvery):
			case <-r.closed:
				open = false
			}
		case <-r.closed:
			open = false
		}
		r.lock.Lock()
		waiting, started, failed := r.waiting, r.started, r.err != nil
		r.waiting = nil
		r.lock.Unlock()
		if failed || len(waiting) == 0 {
			continue
		}
		r.failed(r.write(out, waiting, started, &begun))
	}
	r.failed(r.finish())
}

func (r *Recorder) failed(err error) {
	if err == nil {
		return
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.err == nil {
		r.err = fmt.Errorf("recording: %w", err)
	}
}

func (r *Recorder) write(out *bufio.Writer, waiting []entry, started time.Time, begun *bool) error {
	clean := recorded.Redacted(out)
	lines := json.NewEncoder(clean)
	lines.SetEscapeHTML(false)
	if !*begun {
		*begun = true
		if err := lines.Encode(headerLine{Kapi: recordingMark, Version: recordingVersion, StartedAt: started.UTC()}); err != nil {
			return err
		}
	}
	for _, e := range waiting {
		if err := e.encode(); err != nil {
			return err
		}
		if err := lines.Encode(e.line); err != nil {
			return err
		}
	}
	if err := clean.Close(); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if r.zipped != nil {
		return r.zipped.Flush()
	}
	return nil
}

// encode fills in the objects.
func (e *entry) encode() error {
	items := make([]json.RawMessage, 0, len(e.objects))
	for _, object := range e.objects {
		raw, err := encoded(object)
		if err != nil {
			return err
		}
		items = append(items, bytes.TrimSpace(raw))
	}
	switch {
	case e.list:
		e.line.List = &recordedList{Gaps: e.gaps, Items: items}
		for _, column := range e.columns {
			e.line.List.Columns = append(e.line.List.Columns, recordedColumn(column))
		}
	case len(items) > 0:
		e.line.Object = items[0]
	}
	return nil
}

func (r *Recorder) finish() error {
	var err error
	if r.zipped != nil {
		err = r.zipped.Close()
	}
	if r.opened != nil {
		err = errors.Join(err, r.opened.Close())
	}
	return err
}
