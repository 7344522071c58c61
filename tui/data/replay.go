package data

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

// Replay plays a recording as if it came from the server now. A snapshot or a
// bundle it shows as it is. It implements Source, Clock and Ended; a hub takes its
// time from it. Playing begins when it is first asked for something.
type Replay struct {
	name string
	// still is a snapshot; nil for a recording. The others are of a recording.
	still Source
	taken time.Time

	started time.Time
	length  time.Duration
	abouts  []played
	feeds   map[Key][]played
	// err is why the rest of the file can't be played.
	err error

	begin sync.Once
	begun time.Time
	timer *time.Timer
	ended chan struct{}
}

// played is a line of a recording.
type played struct {
	// number is that of the line in the file.
	number int
	at     time.Duration
	line   recordLine
}

// playedOut is what a recording is called that was played to its end.
const playedOut = "%s (at its end)"

// Err is why a recording that is cut off or damaged can't be played to its end; it
// names the line. What comes before is played.
func (r *Replay) Err() error { return r.err }

// Length is how long it plays; 0 for a snapshot.
func (r *Replay) Length() time.Duration { return r.length }

// Clock is the time that it shows: of a recording one that goes on until its end.
func (r *Replay) Clock() time.Time {
	if r.still != nil {
		return r.taken
	}
	return r.started.Add(min(r.elapsed(), r.length))
}

// Ended implements Ended.
func (r *Replay) Ended() <-chan struct{} { return r.ended }

// Close stops its clock.
func (r *Replay) Close() {
	r.begin.Do(func() {})
	if r.timer != nil {
		r.timer.Stop()
	}
}

func (r *Replay) start() {
	r.begin.Do(func() {
		r.begun = time.Now()
		r.timer = time.AfterFunc(r.length, func() { close(r.ended) })
	})
}

func (r *Replay) elapsed() time.Duration {
	r.start()
	if r.begun.IsZero() {
		return r.length
	}
	return time.Since(r.begun)
}

// About implements Source. RecordedFrom also says when the end has come.
func (r *Replay) About(ctx context.Context) (inspection.About, error) {
	if r.still != nil {
		return r.still.About(ctx)
	}
	elapsed := r.elapsed()
	var about inspection.About
	for i, line := range r.abouts {
		if i == 0 || line.at <= elapsed {
			about = *line.line.About
		}
	}
	about.At, about.RecordedFrom = r.Clock(), r.name
	switch {
	case elapsed < r.length:
	case r.err != nil:
		about.RecordedFrom = r.err.Error()
	default:
		about.RecordedFrom = fmt.Sprintf(playedOut, r.name)
	}
	return about, nil
}

// List implements Source: what the feed had at that time of the recording.
func (r *Replay) List(ctx context.Context, key Key) (Listed, error) {
	if r.still != nil {
		return r.still.List(ctx, key)
	}
	lines, elapsed := r.feeds[key], r.elapsed()
	if len(lines) == 0 {
		return Listed{}, fault.WithHint(fault.Usagef("%s has no %s", r.name, nameOf(key)), "nobody looked at it when it was recorded; the other pages are there")
	}
	come := r.come(lines, elapsed)
	if come == 0 {
		return Listed{}, r.later(key, lines[0].at, elapsed)
	}
	listed, err := r.folded(key, lines[:come])
	if err != nil {
		return Listed{}, err
	}
	last := lines[come-1].line
	if last.State == "" {
		return listed, nil
	}
	after := never
	if come < len(lines) {
		after = max(atOnce, lines[come].at-elapsed)
	}
	why := &playedError{text: last.Error, state: stateOf(last.State), connection: last.Connection, after: after}
	if why.text == "" {
		why.text = "nobody looked at it at this time of the recording"
	}
	if last.Hint == "" {
		return listed, why
	}
	return listed, fault.WithHint(why, "%s", last.Hint)
}

// come is how many lines have come by then.
func (r *Replay) come(lines []played, elapsed time.Duration) int {
	n, _ := slices.BinarySearchFunc(lines, elapsed, func(line played, elapsed time.Duration) int {
		if line.at <= elapsed {
			return -1
		}
		return 1
	})
	return n
}

// later is the error for a feed that the recording has only later.
func (r *Replay) later(key Key, at, elapsed time.Duration) error {
	state := Absent
	if at < missingAgain { // it was being asked for
		state = Loading
	}
	return &playedError{
		text:  fmt.Sprintf("%s has %s from %s on", r.name, nameOf(key), r.started.Add(at).Local().Format("15:04:05")),
		state: state, after: at - elapsed,
	}
}

// folded is what a feed has after some lines of it.
func (r *Replay) folded(key Key, lines []played) (Listed, error) {
	kept := newFeed(nil, key).store
	from := 0
	for i, line := range lines {
		if line.line.List != nil && kept.keep == 0 {
			from = i
		}
	}
	if kept.keep > 0 {
		from = max(0, len(lines)-2*kept.keep) // a log: what comes before is not kept
	}
	var listed Listed
	for _, line := range lines[from:] {
		if list := line.line.List; list != nil {
			objects := make([]kinds.Object, 0, len(list.Items))
			for _, raw := range list.Items {
				object, err := r.object(key, line, raw)
				if err != nil {
					return Listed{}, err
				}
				objects = append(objects, object)
			}
			kept.replace(objects)
			listed.Columns, listed.Gaps = nil, list.Gaps
			for _, column := range list.Columns {
				listed.Columns = append(listed.Columns, Column(column))
			}
		}
		if line.line.Event == "" {
			continue
		}
		object, err := r.object(key, line, line.line.Object)
		if err != nil {
			return Listed{}, err
		}
		if line.line.Event == watch.Deleted {
			kept.remove(object)
		} else {
			kept.set(object)
		}
	}
	listed.Objects = kept.all()
	listed.ResourceVersion = strconv.Itoa(lines[len(lines)-1].number)
	return listed, nil
}

func (r *Replay) object(key Key, line played, raw json.RawMessage) (kinds.Object, error) {
	object, err := decoded(key, raw)
	if err != nil {
		return nil, fault.WithHint(fault.Usagef("line %d of %s is no %s: %w", line.number, r.name, nameOf(key), err), "the other pages can be looked at")
	}
	return object, nil
}

// Watch implements Source.
func (r *Replay) Watch(ctx context.Context, key Key, resourceVersion string) (watch.Interface, error) {
	if r.still != nil {
		return r.still.Watch(ctx, key, resourceVersion)
	}
	number, err := strconv.Atoi(resourceVersion)
	if err != nil {
		return nil, fault.Usagef("%q is no line of %s", resourceVersion, r.name)
	}
	lines := r.feeds[key]
	next := slices.IndexFunc(lines, func(line played) bool { return line.number > number })
	if next < 0 {
		next = len(lines)
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &player{cancel: cancel, events: make(chan watch.Event)}
	p.work.Go(func() { p.run(ctx, r, key, lines[next:]) })
	return p, nil
}
